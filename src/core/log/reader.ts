import type { LogRule, ProgressHint } from "../session/definition";
import { FailureFinder } from "./failures/finder";
import type { LinePlace } from "./failures/tracebacks";
import { hintFormat } from "./formats/hint";
import type { FormatMemory, FormatReading, ProgressFormat } from "./formats/format";
import { cleanText } from "./lines";
import { peelPrefixes, type PeeledLine } from "./prefixes";
import { everybody, evaluatorNeedles, kinds, laneOf, questions, type Asked } from "./questions";
import { Quotes } from "./quotes";
import type { LogVerdict, ProgressReading, Reading } from "./reading";
import { SegmentScanner } from "./scanner";
import { seenIn } from "./textNeedles";

/** Text that rules and formats look at; the rest of a longer segment is not searched. */
const searchedText = 16_384;

/** How to read a log. */
export interface LogReaderOptions {
  /** Where in the file the first byte stands. */
  readonly offset?: number;
  /** What the session file says about progress. An unusable pattern throws an `ExpectedError`. */
  readonly hint?: ProgressHint;
  /** The session file's own rules for lines. An unusable one throws an `ExpectedError`. */
  readonly rules?: readonly LogRule[];
  /** Reads every line, asks every format and every rule, and knows no quick way: what the rest is compared with. */
  readonly thorough?: boolean;
}

/**
 * Reads a log as it comes, in chunks of any size: progress, metrics, failures. Where the chunks are cut never shows in
 * the readings. Never throws on what a log holds.
 *
 * A line in which no needle of any format or rule stands is counted, not read; the others are shown only to the formats
 * and rules whose needles they hold. Of a line that draws over itself by `\r`, progress is taken from the first 256
 * states, from each 64th after them, and from the last; failures are looked for in all of them.
 */
export class LogReader {
  readonly #scanner: SegmentScanner;
  readonly #failures: FailureFinder;
  readonly #own: ProgressFormat | undefined;
  readonly #thorough: boolean;
  readonly #quotes = new Quotes();
  readonly #total: number | undefined;
  readonly #memory: FormatMemory = {
    fetching: false,
    evaluating: false,
    wrapping: false,
    counting: false,
    files: 0,
    bar: 0,
    steps: 0,
    stepping: false,
    stepped: false,
    gpuColumns: [],
    dmonColumns: [],
  };
  /** Where `where` finds the text of the line that is being read. */
  #text: string | undefined;
  #readings: Reading[] = [];

  constructor(options: LogReaderOptions = {}) {
    this.#scanner = new SegmentScanner(questions().sought, { take: () => this.#take() }, options.offset ?? 0);
    this.#failures = new FailureFinder(options.rules);
    this.#own = options.hint?.pattern === undefined ? undefined : hintFormat(options.hint.pattern);
    this.#total = options.hint?.total;
    this.#thorough = options.thorough ?? false;
    this.#listen();
  }

  /** Readings of everything that these bytes complete: lines ended by `\n`, segments ended by `\r`. */
  push(bytes: Uint8Array): readonly Reading[] {
    this.#scanner.push(bytes);
    return this.#taken();
  }

  /** Ends the unfinished line and all that waits for more, as when the job has ended. */
  flush(): readonly Reading[] {
    this.#scanner.flush();
    this.#add(this.#failures.end());
    this.#listen();
    return this.#taken();
  }

  /**
   * Failures that are complete but were held back because a next line might belong to them (the end of a traceback).
   * Call it when the log has been quiet for a moment; reading goes on afterwards as before.
   */
  settle(): readonly Reading[] {
    const readings = this.#failures.settle();
    this.#listen();
    return readings;
  }

  /** The progress of the unfinished last line: a bar that never ends a line. Changes nothing. */
  peek(): ProgressReading | undefined {
    let found: ProgressReading | undefined;
    const look = (): void => {
      found = this.#progress(peelPrefixes(this.#decode()), { ...this.#memory }, everybody.formats)?.reading;
    };
    if (this.#scanner.peek()) look();
    else this.#scanner.withLeft(look);
    return found;
  }

  /** What everything read so far says about the job. */
  verdict(): LogVerdict {
    return this.#failures.verdict();
  }

  #taken(): readonly Reading[] {
    const readings = this.#readings;
    this.#readings = [];
    return readings;
  }

  /** A segment that may say something. False: it is a state that is left out. */
  #take(): boolean {
    if (this.#quick()) return true;
    const text = this.#decode();
    const asked = this.#asked(text);
    if (asked === undefined) return false;
    this.#read(text, asked);
    this.#text = undefined;
    this.#listen();
    return true;
  }

  /** Reads the segment by the quick way of the only format that its needles belong to. */
  #quick(): boolean {
    const scanner = this.#scanner;
    if (scanner.lane === 0 || scanner.unclean || scanner.late || this.#slow()) return false;
    const reading = laneOf(scanner.lane)?.(scanner, this.#memory);
    if (reading === undefined) return false;
    this.#readings.push(reading);
    const more = this.#failures.progress(reading, this.#where, "");
    if (more.length > 0) this.#add(more);
    if (scanner.all) this.#listen();
    return true;
  }

  #slow(): boolean {
    return this.#thorough || this.#own !== undefined || this.#failures.hasOwn || this.#quotes.open;
  }

  /** Whom to ask about the segment; undefined when it is left out after all. */
  #asked(text: string): Asked | undefined {
    const scanner = this.#scanner;
    const hidden = scanner.unclean || scanner.late;
    const seen = hidden ? seenIn(text) : scanner;
    if (scanner.leftOut && !scanner.late && (seen.seenKinds & kinds.failure) === 0) return undefined;
    return this.#thorough ? everybody : questions().asked(seen.seen, seen.seenCount);
  }

  #decode(): string {
    const { bytes, start, end } = this.#scanner;
    return cleanText(bytes.subarray(start, end)).slice(0, searchedText);
  }

  #read(text: string, asked: Asked): void {
    this.#text = text;
    if (text === "" && this.#scanner.end === this.#scanner.start) {
      if (this.#scanner.segment === 0) this.#look({ source: "", body: "", level: "", record: false }, asked);
      return;
    }
    const peeled = peelPrefixes(text);
    if (!this.#quotes.holds(peeled)) this.#understand(text, peeled, asked);
  }

  #understand(text: string, peeled: PeeledLine, asked: Asked): void {
    const progress = this.#progress(peeled, this.#memory, asked.formats);
    if (progress !== undefined) {
      this.#readings.push(progress.reading);
      this.#add(this.#failures.progress(progress.reading, this.#where, peeled.body));
      if (progress.rest === undefined) return;
      // Another writer's text is glued to the bar: a warning, a traceback, the metrics, the next bar.
      const rest = peelPrefixes(progress.rest);
      this.#text = progress.rest;
      this.#understand(progress.rest, { ...rest, source: joined(peeled.source, rest.source) }, asked);
      return;
    }
    if (evaluatorNeedles.some((needle) => text.includes(needle))) this.#memory.evaluating = true;
    this.#look(peeled, asked);
  }

  #look(peeled: PeeledLine, asked: Asked): void {
    this.#add(this.#failures.look(peeled, this.#where(), asked));
  }

  #add(readings: readonly Reading[]): void {
    for (const reading of readings) this.#readings.push(reading);
  }

  /** Where the segment stands; decodes it if nobody did. */
  readonly #where = (): LinePlace => {
    const { line, segment, lineOffset, endOffset } = this.#scanner;
    return { line, segment, offset: lineOffset, endOffset, text: this.#text ?? this.#decode() };
  };

  /** Tells the scanner which lines mean something after what was read. */
  #listen(): void {
    const { gpuColumns, dmonColumns, wrapping, counting } = this.#memory;
    const wanted = this.#failures.wantsLines || this.#own !== undefined || this.#quotes.open;
    this.#scanner.always = wanted ? 255 : kinds.failure;
    const columns = gpuColumns.length > 0 || dmonColumns.length > 0;
    this.#scanner.all = wanted || this.#thorough || wrapping || counting || columns;
    this.#scanner.interest = this.#failures.wantsRequests ? 255 : 255 & ~kinds.request;
  }

  #progress(
    peeled: PeeledLine,
    memory: FormatMemory,
    formats: readonly ProgressFormat[],
  ): { reading: ProgressReading; rest: string | undefined } | undefined {
    const own = this.#own?.read(peeled, memory);
    if (own !== undefined) return { reading: this.#reading(peeled, "pattern", own), rest: own.rest };
    for (const format of formats) {
      if (!peeled.body.includes(format.trigger)) continue;
      const found = format.read(peeled, memory);
      if (found !== undefined) return { reading: this.#reading(peeled, format.key, found), rest: found.rest };
    }
    return undefined;
  }

  #reading(peeled: PeeledLine, format: string, found: FormatReading): ProgressReading {
    const { rest: _rest, role, ...fields } = found;
    const total = fields.total ?? (role === undefined && fields.done !== undefined ? this.#total : undefined);
    return {
      kind: "progress",
      line: this.#scanner.line,
      segment: this.#scanner.segment,
      offset: this.#scanner.lineOffset,
      format,
      ...fields,
      ...(total === undefined ? {} : { total }),
      role: role ?? "main",
      source: peeled.source,
    };
  }
}

function joined(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first} ${second}`;
}
