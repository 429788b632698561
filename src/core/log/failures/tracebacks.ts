import type { PeeledLine } from "../prefixes";

/** Where a line stands; what a failure reading needs of it. */
export interface LinePlace {
  readonly line: number;
  readonly segment: number;
  readonly offset: number;
  readonly endOffset: number;
  /** The line without control codes. */
  readonly text: string;
}

/** An exception line and the lines that belong to its message. */
export interface RaisedException {
  readonly place: LinePlace;
  /** The exception line without prefixes, then its continuation lines. */
  message: string;
  continued: number;
}

/** All that one traceback, or a chain of them, raised. */
export interface ExceptionChain {
  readonly startLine: number;
  readonly source: string;
  readonly raised: RaisedException[];
  /** `Exception in thread …` stood in front: only that thread died. */
  readonly thread: string | undefined;
  /** Python's logging failed to write a line; the program goes on. */
  readonly logging: boolean;
  /** A server says why it could not answer one request; it goes on. */
  readonly request: boolean;
  /** It was ignored by the interpreter, or the program goes on after it said that it tries again. */
  harmless: boolean;
}

interface OpenChain extends ExceptionChain {
  /** Heads whose exception line has not come yet; several processes may write at once. */
  depth: number;
  chained: boolean;
  /** What was raised last only passes on what another process raised, whose frames follow. */
  passedOn: boolean;
  /** The traceback under way stands in a list, two columns to the right. */
  listed: boolean;
  /** The line before said that this is not the last try: harmless if the program goes on. */
  readonly retried: boolean;
  /** rich drew it in a box. */
  readonly boxed: boolean;
  foreign: number;
  /** Lines of other processes since it said something. */
  silent: number;
}

const head =
  /^(?:[\w .:'()/-]{0,120}[ :])?(?:Traceback \(most recent call last\)|Exception Group Traceback \(most recent call last\)):\s*$/;
/** rich: `╭──── Traceback (most recent call last) ────╮`, indented under a handler of logging. */
const boxedHead = /^\s{0,80}[╭┌]─+ Traceback \(most recent call last\) ─+[╮┐]\s*$/;
const boxLine = /^[│┃╭╰┌└]/;
const connector =
  /^(?:The above exception was the direct cause of the following exception|During handling of the above exception, another exception occurred|-- Process \d+ terminated with the following error):/;
/** A traceback that another process raised, below the exception that passes it on: a DataLoader's, torchrun's list. */
const passedOnHead = /^(?:Original | {2}traceback\s*: )Traceback \(most recent call last\):\s*$/;
/** ray: this line names the remote function, and its frames follow without a head. */
const remoteHead =
  /^(?:ray\.exceptions\.)?(?:RayTaskError|ActorDiedError|RayActorError)(?:\([\w.]{1,80}\))?: .{0,200}\bray::\S/;
/** torchrun's list of what failed goes on for so many lines. */
const launcherException = /^(?:[\w.]*\.)?ChildFailedError\b/;
const exceptionLine = /^(?:[A-Za-z_]\w*\.){0,12}[A-Za-z_]\w*(?:\([\w.]{1,80}\))?(?:: .*|:?\s*)$/;
const tryingAgain =
  /\b(?:[Ss]kipping(?! step)|[Ff]alling back|[Cc]ontinuing (?:without|anyway)|[Rr]etrying|will retry|[Rr]etry in|trying again|attempt \d+ ?(?:\/|of) ?\d+|(?:ok|succeeded) after \d+ (?:attempts|retries))\b/;
const usedUp = /[Mm]ax(?:imum)? retries|[Gg]iving up|exhausted|after \d+ retries|attempt (\d+) ?(?:\/|of) ?\1\b/;
const threadHead = /^Exception in thread (?<thread>.{1,80}?):?\s*$/;
const loggingHead = "--- Logging error ---";
/** uvicorn, vLLM's and SGLang's handlers, Flask, aiohttp. */
const requestHead =
  /^(?:ERROR: {1,8})?(?:Exception in ASGI application|Error in (?:preprocessing prompt inputs|applying chat template from request|(?:chat )?completion stream generator|extracting tool call)|Error trying to handle streaming tool call|Exception on \/\S{0,200} \[[A-Z]{3,7}\]|Error handling request\b)/;
const ignoredHead = /^Exception ignored (?:in|while|on)\b/;

/** One of these is in each line that begins a traceback or says something about the next one. */
export const tracebackNeedles: readonly string[] = [
  "Traceback (most recent call last)",
  "Exception in thread ",
  "Exception ignored ",
  "RayTaskError",
  " creation task, ray::",
  ...["Exception in ASGI application", "Error in preprocessing prompt", "Error in applying chat template from request"],
  ...["ompletion stream generator", "Error in extracting tool call", "Error trying to handle streaming tool"],
  ...["Exception on /", "Error handling request"],
  loggingHead,
];
/** One of these is in each line that says that something is tried again. */
export const attemptNeedles: readonly string[] = [
  "etrying",
  "will retry",
  "etry in",
  "trying again",
  "attempt ",
  " attempts",
  " retries",
  "kipping ",
  "alling back",
  "ontinuing ",
];

/** Lines after an exception that may still belong to its message; and to torchrun's list of what failed. */
const continuationLines = 8;
const listLines = 40;
/** Foreign lines inside a traceback after which it is given up. */
const foreignLines = 40;
/** Lines of others after which a process that fell silent in its traceback is taken for done with it. */
const silentLines = 1000;
/** Lines for which `Exception in thread …` waits for the traceback of its process. */
const announcedLines = 50;

/** Follows tracebacks, each process of the log (each source) by itself. */
export class TracebackTracker {
  readonly #open = new Map<string, OpenChain>();
  /** Lines about the traceback that comes next, by their source. */
  readonly #announced = new Map<string, string>();
  #announcedFor = 0;
  /** Source of the newest traceback's head. */
  #lastHead = "";
  /** The last line said that something is tried again. */
  #retrying = false;

  /** Whether lines mean something that would mean nothing by themselves: all must be fed. */
  get wantsLines(): boolean {
    return this.#open.size > 0 || this.#announced.size > 0 || this.#retrying;
  }

  /**
   * Takes a line. `consumed`: it is inside of a traceback and says nothing by itself; `finished`: chains that this line
   * showed to be complete.
   */
  feed(
    peeled: PeeledLine,
    place: LinePlace,
  ): { readonly consumed: boolean; readonly finished: readonly ExceptionChain[] } {
    const { source } = peeled;
    const whole = withoutTree(peeled.body);
    const open = this.#open.get(source) ?? this.#unlabelled(source, whole);
    if (whole.includes("Traceback (most recent call last)") && (head.test(whole) || boxedHead.test(whole)))
      return this.#head(open, peeled, place);
    if ((open === undefined || open.depth === 0) && remoteHead.test(whole)) return this.#remote(open, peeled, place);
    const body = open?.boxed === true ? whole.trim() : whole;
    const silent = this.#open.size === 0 ? [] : this.#silent(source);
    if (open === undefined) {
      this.#remember(source, body);
      return { consumed: false, finished: silent };
    }
    const { consumed, finished } =
      open.depth > 0 ? this.#frame(open, body, place) : this.#after(open, { ...peeled, body });
    return { consumed, finished: [...silent, ...finished] };
  }

  /** A logger puts its own prefix before the first line of a traceback only: the frames belong to the head above. */
  #unlabelled(source: string, body: string): OpenChain | undefined {
    const outer = source === "" ? this.#lastHead !== "" : this.#lastHead.startsWith(`${source} `);
    if (!outer || !body.startsWith("  File ")) return undefined;
    const chain = this.#open.get(this.#lastHead);
    if (chain?.depth !== 1 || chain.raised.length > 0) return undefined;
    this.#open.delete(this.#lastHead);
    this.#lastHead = "";
    const moved = { ...chain, source };
    this.#open.set(source, moved);
    return moved;
  }

  /** The message that may still grow by lines of this source. */
  waiting(source: string): string | undefined {
    const open = this.#open.get(source);
    return open === undefined || open.depth > 0 ? undefined : open.raised.at(-1)?.message;
  }

  /**
   * The process of this source made progress: its last traceback is complete, and it goes on. @param again it only said
   * once more how far it is
   */
  progressed(source: string, again: boolean): readonly ExceptionChain[] {
    if (this.#open.size === 0) return [];
    const silent = this.#silent(source);
    const open = this.#open.get(source);
    if (open === undefined || open.depth > 0) return silent;
    if (open.retried && again) return silent;
    this.#open.delete(source);
    if (open.retried) open.harmless = true;
    return [...silent, open];
  }

  /** Ends what waits for lines that may never come. */
  settle(): readonly ExceptionChain[] {
    const waiting = [...this.#open.values()].filter(
      (chain) => chain.raised.length > 0 && (chain.depth === 0 || chain.passedOn),
    );
    for (const chain of waiting) this.#open.delete(chain.source);
    return waiting;
  }

  #head(
    open: OpenChain | undefined,
    peeled: PeeledLine,
    place: LinePlace,
  ): { consumed: true; finished: ExceptionChain[] } {
    const passedOn = passedOnHead.test(peeled.body);
    if (open !== undefined && (open.depth > 0 || open.chained || passedOn)) {
      open.depth++;
      open.chained = false;
      open.listed = peeled.body.startsWith("  ");
      return { consumed: true, finished: [] };
    }
    this.#lastHead = peeled.source;
    const before = this.#announced.get(peeled.source) ?? "";
    this.#open.set(peeled.source, {
      startLine: place.line,
      source: peeled.source,
      raised: [],
      thread: threadHead.exec(before)?.groups?.["thread"],
      logging: before === loggingHead,
      request: requestHead.test(before),
      boxed: boxedHead.test(peeled.body),
      harmless: ignoredHead.test(before),
      retried: this.#retrying,
      depth: 1,
      chained: false,
      passedOn: false,
      listed: false,
      foreign: 0,
      silent: 0,
    });
    this.#announced.delete(peeled.source);
    return { consumed: true, finished: open === undefined ? [] : [open] };
  }

  /** An exception of ray's without a traceback of its own: that of the remote function follows. */
  #remote(
    open: OpenChain | undefined,
    peeled: PeeledLine,
    place: LinePlace,
  ): { consumed: true; finished: readonly ExceptionChain[] } {
    const { finished } = this.#head(open, peeled, place);
    const chain = this.#open.get(peeled.source);
    if (chain !== undefined) raise(chain, peeled.body, place);
    return { consumed: true, finished };
  }

  /** Chains whose process has said nothing for long, while `source` spoke. */
  #silent(source: string): ExceptionChain[] {
    const done: ExceptionChain[] = [];
    for (const chain of this.#open.values()) {
      chain.silent = chain.source === source ? 0 : chain.silent + 1;
      if (chain.silent <= silentLines) continue;
      this.#open.delete(chain.source);
      if (chain.raised.length > 0) done.push(chain);
    }
    return done;
  }

  #frame(open: OpenChain, whole: string, place: LinePlace): { consumed: boolean; finished: ExceptionChain[] } {
    const body = open.listed && whole.startsWith("  ") ? whole.slice(2) : whole;
    if (body === "" || /^\s/.test(body) || (open.boxed && boxLine.test(body))) return { consumed: true, finished: [] };
    if (exceptionLine.test(body)) {
      raise(open, body, place);
      return { consumed: true, finished: [] };
    }
    open.foreign++;
    if (open.foreign <= foreignLines) return { consumed: false, finished: [] };
    this.#open.delete(open.source);
    return { consumed: false, finished: open.passedOn ? [open] : [] };
  }

  #after(open: OpenChain, peeled: PeeledLine): { consumed: boolean; finished: ExceptionChain[] } {
    const { body } = peeled;
    if (body.trim() === "") return { consumed: true, finished: [] };
    if (connector.test(body)) {
      open.chained = true;
      return { consumed: true, finished: [] };
    }
    const last = open.raised.at(-1);
    if ((tryingAgain.test(body) && !usedUp.test(body)) || (open.retried && peeled.record && peeled.level !== "ERROR"))
      open.harmless = true;
    this.#remember(open.source, body);
    const most = open.raised.some((one) => launcherException.test(one.message)) ? listLines : continuationLines;
    if (last === undefined || last.continued >= most || peeled.level === "INFO" || open.harmless) {
      this.#open.delete(open.source);
      return { consumed: false, finished: [open] };
    }
    last.continued++;
    if (last.message.length < 8000) last.message += `\n${body}`;
    return { consumed: false, finished: [] };
  }

  #remember(source: string, body: string): void {
    if (body === "") return;
    this.#retrying = tryingAgain.test(body) && !usedUp.test(body);
    if (threadHead.test(body) || ignoredHead.test(body) || requestHead.test(body) || body === loggingHead) {
      this.#announced.set(source, body);
      this.#announcedFor = 0;
    } else if (this.#announced.size > 0) {
      this.#announced.delete(source);
      this.#announcedFor++;
      if (this.#announcedFor > announcedLines) this.#announced.clear();
    }
  }
}

/** An exception line ends a traceback; one of ray's begins that of the remote function. */
function raise(chain: OpenChain, body: string, place: LinePlace): void {
  chain.raised.push({ place, message: body.trimEnd(), continued: 0 });
  chain.listed = false;
  chain.passedOn = remoteHead.test(body);
  if (!chain.passedOn) chain.depth--;
}

/** Exception groups draw a tree beside their tracebacks: `  | ValueError: x`, `    +----`. */
function withoutTree(body: string): string {
  return body.startsWith("  ") && /^ {2,40}[|+]/.test(body) ? body.replace(/^[ |]{0,60}[|+] ?/, "") : body;
}
