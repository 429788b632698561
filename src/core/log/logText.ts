import { cleanText, LineSplitter, type Piece } from "./lines";

interface ShownLine {
  /** First byte of the line in the file. */
  readonly offset: number;
  readonly text: string;
  /** Bytes of the line in the file, its end included. */
  readonly bytes: number;
}

/** Characters of one line that are shown. */
const shownCharacters = 10_000;

/**
 * The text of a followed remote log as an editor shows it: a bounded window of whole lines, each bar that draws over
 * itself by `\r` in its last state only, without control codes. Display lines count from 0; offsets are bytes from the
 * start of the file, so that a reading finds its line whatever window is shown.
 */
export class LogText {
  readonly #maxBytes: number;
  #lines: ShownLine[] = [];
  /** Lines before this index were dropped; the array is cut now and then, not on every push. */
  #first = 0;
  #bytes = 0;
  #splitter = new LineSplitter();
  #last: string | undefined;
  #text: string | undefined;

  /** @param maxBytes of the file that stay in the window; the newest line always stays */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Forgets everything; the next byte stands at `offset` of the file. */
  reset(offset: number): void {
    this.#lines = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#splitter = new LineSplitter(offset);
    this.#last = undefined;
    this.#text = undefined;
  }

  /** Appends bytes that follow those before. Costs what they cost, not what the window holds. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#text = undefined;
    this.#splitter.push(bytes, (piece) => {
      this.#take(piece);
    });
    while (this.#bytes > this.#maxBytes && this.#first < this.#lines.length - 1) {
      this.#bytes -= this.#lines[this.#first]?.bytes ?? 0;
      this.#first++;
    }
    if (this.#first > 1000 && this.#first * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The window's lines, each ended by `\n`, and the unfinished last line as it stands. */
  get text(): string {
    this.#text ??= this.#render();
    return this.#text;
  }

  /** Byte of the file at which the window begins. */
  get startOffset(): number {
    return this.#lines[this.#first]?.offset ?? this.#splitter.lineOffset;
  }

  /** Lines of `text`; an unfinished last line counts. */
  get lineCount(): number {
    return this.#lines.length - this.#first + (this.#unfinished() === "" ? 0 : 1);
  }

  /** The display line that shows this byte of the file; undefined outside of the window. */
  lineAt(offset: number): number | undefined {
    if (offset < this.startOffset || offset >= this.#splitter.position) return undefined;
    if (offset >= this.#splitter.lineOffset)
      return this.#unfinished() === "" ? undefined : this.#lines.length - this.#first;
    let low = this.#first;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lines[middle]?.offset ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low - this.#first;
  }

  /** First byte in the file of a display line. */
  offsetOfLine(line: number): number | undefined {
    const shown = this.#lines[this.#first + line];
    if (line < 0 || shown !== undefined) return line < 0 ? undefined : shown?.offset;
    return line === this.#lines.length - this.#first && this.#unfinished() !== ""
      ? this.#splitter.lineOffset
      : undefined;
  }

  #take(piece: Piece): void {
    const text = cleanText(piece.bytes);
    // What a bar wiped with blanks leaves the state before it visible only until the next one; blanks say nothing.
    if (text.trim() !== "" || this.#last === undefined) this.#last = text.trimEnd().slice(0, shownCharacters);
    if (!piece.endsLine) return;
    const bytes = piece.endOffset - piece.lineOffset;
    this.#lines.push({ offset: piece.lineOffset, text: this.#last, bytes });
    this.#bytes += bytes;
    this.#last = undefined;
  }

  #unfinished(): string {
    const piece = this.#splitter.peek();
    const text = piece === undefined ? "" : cleanText(piece.bytes).trimEnd().slice(0, shownCharacters);
    return text.trim() === "" ? (this.#last ?? "") : text;
  }

  #render(): string {
    const whole = this.#lines.slice(this.#first).map((line) => `${line.text}\n`);
    return whole.join("") + this.#unfinished();
  }
}
