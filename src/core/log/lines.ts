/**
 * Bytes to lines. A line ends at `\n`; inside it `\r` starts a new segment, because a progress bar draws over itself
 * that way. Lines are put together as bytes and decoded once, when a segment is complete: where the stream was cut can
 * therefore never show in the result, not even inside a UTF-8 character or a control sequence.
 */

/** Bytes of one segment that are kept; the rest of an endless line is counted, not stored. */
const keptBytes = 1 << 20;

/** A segment of a line, as bytes, without its end. */
export interface Piece {
  /** 1-based, counted from where reading began. */
  readonly line: number;
  /** Index in the line split at `\r`. */
  readonly segment: number;
  /** First byte of the `\n` line. */
  readonly lineOffset: number;
  /** First byte of the segment. */
  readonly offset: number;
  /** First byte after the segment and its `\r` or `\n`. */
  readonly endOffset: number;
  /** At most 1 MiB. */
  readonly bytes: Uint8Array;
  readonly endsLine: boolean;
}

const newline = 10;
const carriageReturn = 13;

/** Splits a stream of chunks; keeps the unfinished segment between them. */
export class LineSplitter {
  #line = 1;
  #segment = 0;
  #lineOffset: number;
  #pieceOffset: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #position: number;

  /** @param offset where in the file the first byte stands */
  constructor(offset = 0) {
    this.#lineOffset = offset;
    this.#pieceOffset = offset;
    this.#position = offset;
  }

  /** First byte of the line that is not finished. */
  get lineOffset(): number {
    return this.#lineOffset;
  }

  /** First byte that was not read yet. */
  get position(): number {
    return this.#position;
  }

  /** Hands every segment that this chunk completes to `sink`, in order. The bytes are only lent until it returns. */
  push(chunk: Uint8Array, sink: (piece: Piece) => void): void {
    let from = 0;
    let feed = chunk.indexOf(newline);
    let back = chunk.indexOf(carriageReturn);
    while (feed >= 0 || back >= 0) {
      const endsLine = back < 0 || (feed >= 0 && feed < back);
      const at = endsLine ? feed : back;
      sink(this.#complete(chunk.subarray(from, at), endsLine));
      from = at + 1;
      if (endsLine) feed = chunk.indexOf(newline, from);
      else back = chunk.indexOf(carriageReturn, from);
    }
    this.#hold(chunk.subarray(from));
  }

  /** The unfinished segment as it stands, without ending it. */
  peek(): Piece | undefined {
    return this.#heldBytes === 0 ? undefined : this.#piece(this.#joined(undefined), this.#position, false);
  }

  /** Ends the unfinished line, as if the file were complete. */
  flush(): Piece | undefined {
    if (this.#heldBytes === 0) return undefined;
    const piece = this.#piece(this.#joined(undefined), this.#position, true);
    this.#next(true, this.#position);
    return piece;
  }

  #complete(rest: Uint8Array, endsLine: boolean): Piece {
    const end = this.#position + rest.length + 1;
    const piece = this.#piece(this.#joined(rest), end, endsLine);
    this.#position = end;
    this.#next(endsLine, end);
    return piece;
  }

  #piece(bytes: Uint8Array, endOffset: number, endsLine: boolean): Piece {
    return {
      line: this.#line,
      segment: this.#segment,
      lineOffset: this.#lineOffset,
      offset: this.#pieceOffset,
      endOffset,
      bytes,
      endsLine,
    };
  }

  #next(endsLine: boolean, at: number): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#pieceOffset = at;
    if (!endsLine) {
      this.#segment++;
      return;
    }
    this.#line++;
    this.#segment = 0;
    this.#lineOffset = at;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#position += bytes.length;
    const room = keptBytes - this.#held.reduce((sum, part) => sum + part.length, 0);
    // The chunk belongs to the caller, who may use its memory again.
    if (room > 0) this.#held.push(bytes.slice(0, room));
    this.#heldBytes += bytes.length;
    if (this.#held.length > 64) this.#held = [this.#joined(undefined)];
  }

  #joined(rest: Uint8Array | undefined): Uint8Array {
    const parts = rest === undefined ? this.#held : [...this.#held, rest];
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only.length > keptBytes ? only.subarray(0, keptBytes) : only;
    const whole = new Uint8Array(
      Math.min(
        keptBytes,
        parts.reduce((sum, part) => sum + part.length, 0),
      ),
    );
    let at = 0;
    for (const part of parts) {
      const kept = part.subarray(0, whole.length - at);
      whole.set(kept, at);
      at += kept.length;
    }
    return whole;
  }
}

const decoder = new TextDecoder();
const escapeCharacter = "\u001b";
const backspace = "\b";
// Built from text, because a control character in a literal is mostly a mistake.
const controlSequences = new RegExp(
  [
    `${escapeCharacter}\\[[0-?]*[ -/]*(?:[@-~]|$)`, // CSI: colours, cursor
    `${escapeCharacter}[\\]PX^_][^\\u0007${escapeCharacter}]{0,4096}(?:\\u0007|${escapeCharacter}\\\\)`, // OSC and its kin
    `${escapeCharacter}[ -/]{0,2}[0-~]?`, // two- and three-character sequences
  ].join("|"),
  "gu",
);
const otherControls = /[^\P{Cc}\t]+/gu;
const anyControl = /[^\P{Cc}\t]/u;

/** The text of a segment as a terminal would leave it: no control sequences, backspaces applied, broken UTF-8 replaced. */
export function cleanText(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (!anyControl.test(text)) return text;
  const stripped = text.includes(escapeCharacter) ? text.replace(controlSequences, "") : text;
  const moved = stripped.includes(backspace) ? applyBackspaces(stripped) : stripped;
  return moved.replace(otherControls, "");
}

/** A backspace moves the cursor and rubs nothing out: Keras ends each row with eighty of them. */
function applyBackspaces(text: string): string {
  const cells: string[] = [];
  let at = 0;
  for (const character of text) {
    if (character === backspace) {
      at = Math.max(0, at - 1);
    } else {
      cells[at] = character;
      at++;
    }
  }
  return cells.join("");
}
