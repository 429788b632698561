import type { FollowEvent, FollowFrom, LogPosition } from "../core/ports";
import followScript from "../host/follow.sh";
import { cksum } from "./cksum";
import type { HostSession } from "./hostSession";
import { openLongScript, type LongChannelPart } from "./longChannel";

/** How many bytes before the reached offset are compared with a copy's, as in follow.sh. */
const checkedBytes = 64;

/** What a follow knows from one channel to the next. */
interface Progress {
  from: FollowFrom;
  /** The last bytes given, at most `checkedBytes`. */
  last: Uint8Array;
  /** Whether an event named a position already. */
  begun: boolean;
  /** The size when following began; until it is reached, what comes is not new. */
  catchUpAt: number | undefined;
  /** tail is not to be used: it ended twice without a cause. */
  poll: boolean;
}

/** Follows one file, one channel for each inode of it; see `HostOps.follow` and follow.sh. */
export async function* followFile(
  session: HostSession,
  path: string,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent> {
  const progress: Progress = { from, last: new Uint8Array(), begun: false, catchUpAt: undefined, poll: false };
  let idleEnds = 0;
  for (;;) {
    let got = false;
    for await (const event of oneFile(session, path, progress, signal)) {
      got ||= event.kind !== "caught-up";
      yield event;
    }
    signal.throwIfAborted();
    // A tail that complains about something else than a cut file (no inotify left) would end at once for ever.
    idleEnds = got ? 0 : idleEnds + 1;
    if (idleEnds >= 2) progress.poll = true;
    if (idleEnds >= 4) throw new Error(`Following ${path} ends again and again on the host.`);
  }
}

/** The events of one channel: one inode, up to its end. */
async function* oneFile(
  session: HostSession,
  path: string,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent> {
  const channel = await openLongScript(
    session.transport,
    session.clock,
    { parts: [followScript], variables: variablesOf(session, path, progress) },
    signal,
  );
  const reader = new FileReader(progress);
  try {
    for await (const part of channel.parts) {
      yield* reader.take(part);
      if (reader.done) return;
    }
  } finally {
    channel.close();
  }
}

function variablesOf(session: HostSession, path: string, progress: Progress): Record<string, string | number> {
  const { from, last } = progress;
  const start =
    from.kind === "end"
      ? `end ${Math.max(0, Math.floor(from.bytes))}`
      : `position ${digits(from.position.device)} ${digits(from.position.inode)} ${Math.max(0, Math.floor(from.position.offset))}`;
  const whole = from.kind === "position" && last.length === Math.min(checkedBytes, from.position.offset);
  return {
    ...session.variables,
    path,
    start,
    check: whole && last.length > 0 ? cksum(last) : "",
    gnu_tail: session.identity.has.has("gnu-tail") && !progress.poll ? 1 : "",
  };
}

/** Positions may come from a store of old; only numbers are put into the host's arithmetic. */
function digits(text: string): string {
  return /^\d+$/.test(text) ? text : "0";
}

/** Turns what one channel says into events. Bytes that come before the host said whose they are wait. */
class FileReader {
  readonly #progress: Progress;
  readonly #decoder = new TextDecoder();
  #text = "";
  #early: Uint8Array[] = [];
  #position: LogPosition | undefined;
  #finalSize: number | undefined;
  #modifiedAt = 0;
  done = false;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  *take(part: LongChannelPart): Generator<FollowEvent> {
    if (part.from === "stdout") {
      if (this.#position === undefined) this.#early.push(part.data);
      else yield* this.#data(part.data);
    } else {
      const lines = (this.#text + this.#decoder.decode(part.data, { stream: true })).split("\n");
      this.#text = lines.pop() ?? "";
      for (const line of lines) yield* this.#said(line);
    }
    if (this.#finalSize !== undefined && (this.#position?.offset ?? 0) >= this.#finalSize) this.done = true;
  }

  *#data(data: Uint8Array): Generator<FollowEvent> {
    const position = this.#position;
    if (position === undefined || data.length === 0) return;
    yield { kind: "data", offset: position.offset, data };
    this.#reach({ ...position, offset: position.offset + data.length });
    const { last } = this.#progress;
    this.#progress.last = Buffer.concat([last, data]).subarray(-checkedBytes);
    yield* this.#caughtUp();
  }

  #reach(position: LogPosition): void {
    this.#position = position;
    this.#progress.from = { kind: "position", position };
  }

  *#caughtUp(): Generator<FollowEvent> {
    const { catchUpAt } = this.#progress;
    const offset = this.#position?.offset ?? 0;
    if (catchUpAt === undefined || offset < catchUpAt) return;
    this.#progress.catchUpAt = undefined;
    yield { kind: "caught-up", offset };
  }

  *#said(line: string): Generator<FollowEvent> {
    const [, word, rest] = /^@ (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "missing" || word === "gone") yield { kind: "missing" };
    else if (word === "unreadable") yield { kind: "unreadable", reason: rest ?? "" };
    else if (word === "moved") this.#finalSize = Number(rest);
    else if (word === "again") this.done = true;
    else if (word === "opened" && rest !== undefined) yield* this.#opened(rest.split(" "));
    else if (word === "back" && this.#position !== undefined) {
      const position = this.#position;
      yield { kind: "opened", position, size: position.offset, modifiedAt: this.#modifiedAt };
    }
  }

  *#opened(words: readonly string[]): Generator<FollowEvent> {
    const { how, device, inode, offset, size, modified } = openingOf(words);
    const progress = this.#progress;
    const position = { device, inode, offset };
    this.#modifiedAt = modified * 1000;
    // "first" and "same" are what was asked for, "rest" goes on in a file that was rotated away or copied.
    const restarted = how === "cut" || how === "replaced" || how === "between";
    if (restarted) {
      progress.last = new Uint8Array();
      yield { kind: "restarted", position, lost: 0 };
    } else if (!progress.begun) {
      yield { kind: "opened", position, size, modifiedAt: this.#modifiedAt };
    }
    // What was there when following began may be the rest of a rotated file first, then the new one.
    if (restarted || !progress.begun || progress.catchUpAt !== undefined) {
      progress.catchUpAt = how === "rest" || how === "between" ? Number.POSITIVE_INFINITY : size;
    }
    progress.begun = true;
    this.#reach(position);
    const early = this.#early;
    this.#early = [];
    for (const data of early) yield* this.#data(data);
    yield* this.#caughtUp();
  }
}

/** `opened HOW DEVICE INODE OFFSET SIZE MODIFIED`, as follow.sh tells it. */
function openingOf([how = "", device = "", inode = "", ...numbers]: readonly string[]): {
  readonly how: string;
  readonly device: string;
  readonly inode: string;
  readonly offset: number;
  readonly size: number;
  readonly modified: number;
} {
  const [offset = 0, size = 0, modified = 0] = numbers.map(Number);
  return { how, device, inode, offset, size, modified };
}
