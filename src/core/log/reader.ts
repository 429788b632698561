import type { LogRule, ProgressHint } from "../session/definition";
import { dullLines, type DullLines } from "./dullLines";
import { FailureFinder } from "./failures/finder";
import type { LinePlace } from "./failures/tracebacks";
import { progressFormats } from "./formats/all";
import { hintFormat } from "./formats/hint";
import type { FormatMemory, FormatReading, ProgressFormat } from "./formats/format";
import { cleanText, LineSplitter, type Piece } from "./lines";
import { peelPrefixes, type PeeledLine } from "./prefixes";
import { Quotes } from "./quotes";
import type { LogVerdict, ProgressReading, Reading } from "./reading";

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
}

/**
 * Reads a log as it comes, in chunks of any size: progress, metrics, failures. Where the chunks are cut never shows in
 * the readings. Never throws on what a log holds.
 */
export class LogReader {
  readonly #lines: LineSplitter;
  readonly #failures: FailureFinder;
  readonly #formats: readonly ProgressFormat[];
  readonly #quotes = new Quotes();
  readonly #total: number | undefined;
  #memory: FormatMemory = { fetching: false, evaluating: false, wrapping: false, gpuColumns: [], dmonColumns: [] };

  /** Absent where the session file brings a format of its own. */
  readonly #dull: DullLines | undefined;
  #calm = true;
  /** The line that was passed over last. */
  #passed: Piece | undefined;

  constructor(options: LogReaderOptions = {}) {
    this.#lines = new LineSplitter(options.offset ?? 0);
    this.#failures = new FailureFinder(options.rules);
    const own = options.hint?.pattern;
    this.#formats = own === undefined ? progressFormats : [hintFormat(own), ...progressFormats];
    this.#total = options.hint?.total;
    this.#dull = own === undefined ? dullLines() : undefined;
    this.#calm = this.#isCalm();
  }

  /** Readings of everything that these bytes complete: lines ended by `\n`, segments ended by `\r`. */
  push(bytes: Uint8Array): readonly Reading[] {
    const readings: Reading[] = [];
    this.#lines.push(bytes, (piece) => {
      if (this.#calm && (piece.bytes.length === 0 || this.#dull?.proves(piece.bytes) === true)) {
        if (piece.bytes.length > 0) this.#passed = piece;
        return;
      }
      this.#read(piece, readings);
      this.#calm = this.#isCalm();
    });
    // Its bytes are only lent.
    if (this.#passed !== undefined) this.#passed = { ...this.#passed, bytes: this.#passed.bytes.slice() };
    return readings;
  }

  /** Whether nothing that was read before gives a meaning to lines that have none by themselves. */
  #isCalm(): boolean {
    const { gpuColumns, dmonColumns } = this.#memory;
    return this.#failures.calm && !this.#quotes.open && gpuColumns.length === 0 && dmonColumns.length === 0;
  }

  /** Ends the unfinished line and all that waits for more, as when the job has ended. */
  flush(): readonly Reading[] {
    const readings: Reading[] = [];
    const piece = this.#lines.flush();
    if (piece !== undefined) this.#read(piece, readings);
    readings.push(...this.#failures.settle());
    return readings;
  }

  /**
   * Failures that are complete but were held back because a next line might belong to them (the end of a traceback).
   * Call it when the log has been quiet for a moment; reading goes on afterwards as before.
   */
  settle(): readonly Reading[] {
    return this.#failures.settle();
  }

  /** The progress of the unfinished last line: a bar that never ends a line. Changes nothing. */
  peek(): ProgressReading | undefined {
    const piece = this.#lines.peek();
    if (piece === undefined) return undefined;
    const text = cleanText(piece.bytes).slice(0, searchedText);
    return this.#progress(piece, peelPrefixes(text), { ...this.#memory })?.reading;
  }

  /** What everything read so far says about the job. */
  verdict(): LogVerdict {
    return this.#failures.verdict();
  }

  #read(piece: Piece, into: Reading[]): void {
    if (piece.bytes.length === 0) {
      if (piece.segment === 0) this.#look(piece, "", { source: "", body: "", level: "", record: false }, into);
      return;
    }
    const text = cleanText(piece.bytes).slice(0, searchedText);
    const peeled = peelPrefixes(text);
    if (!this.#quotes.holds(peeled)) this.#understand(piece, text, peeled, into);
  }

  #understand(piece: Piece, text: string, peeled: PeeledLine, into: Reading[]): void {
    const progress = this.#progress(piece, peeled, this.#memory);
    if (progress !== undefined) {
      into.push(progress.reading, ...this.#failures.progress(progress.reading, placeOf(piece, text), peeled.body));
      if (progress.rest === undefined) return;
      // Another writer's text is glued to the bar: a warning, a traceback, the metrics, the next bar.
      const rest = peelPrefixes(progress.rest);
      this.#understand(piece, progress.rest, { ...rest, source: joined(peeled.source, rest.source) }, into);
      return;
    }
    // lm-evaluation-harness prepares its requests under bars without a label
    if (text.includes("[evaluator:") || text.includes("[lm_eval.")) this.#memory.evaluating = true;
    this.#look(piece, text, peeled, into);
  }

  #look(piece: Piece, text: string, peeled: PeeledLine, into: Reading[]): void {
    const before = this.#passed;
    if (text !== "") this.#passed = undefined;
    // What stood right before a traceback can say whether anybody tries again.
    if (before !== undefined && text.includes("Traceback (most")) {
      const said = cleanText(before.bytes).slice(0, searchedText);
      this.#failures.look(peelPrefixes(said), placeOf(before, said));
    }
    into.push(...this.#failures.look(peeled, placeOf(piece, text)));
  }

  #progress(
    piece: Piece,
    peeled: PeeledLine,
    memory: FormatMemory,
  ): { reading: ProgressReading; rest: string | undefined } | undefined {
    for (const format of this.#formats) {
      if (!peeled.body.includes(format.trigger)) continue;
      const found = format.read(peeled, memory);
      if (found !== undefined) return { reading: this.#reading(piece, peeled, format.key, found), rest: found.rest };
    }
    return undefined;
  }

  #reading(piece: Piece, peeled: PeeledLine, format: string, found: FormatReading): ProgressReading {
    const { rest: _rest, role, ...fields } = found;
    const total = fields.total ?? (role === undefined && fields.done !== undefined ? this.#total : undefined);
    return {
      kind: "progress",
      line: piece.line,
      segment: piece.segment,
      offset: piece.lineOffset,
      format,
      ...fields,
      ...(total === undefined ? {} : { total }),
      role: role ?? "main",
      source: peeled.source,
    };
  }
}

function placeOf({ line, segment, lineOffset, endOffset }: Piece, text: string): LinePlace {
  return { line, segment, offset: lineOffset, endOffset, text };
}

function joined(first: string, second: string): string {
  return first === "" || second === "" ? first + second : `${first} ${second}`;
}
