/** Powers of ten that a double holds exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Digits of which every number is exact. */
const exactDigits = 15;

const zero = 48;
const point = 46;
const minus = 45;
const plus = 43;

/** Reads numbers and fixed words from ASCII bytes, where a regular expression would need a string first. */
export class ByteCursor {
  bytes: Uint8Array = new Uint8Array();
  at = 0;
  end = 0;

  /** Begins anew. */
  reset(bytes: Uint8Array, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Goes behind the word, if it stands here. */
  word(word: Uint8Array): boolean {
    const { bytes, at } = this;
    if (at + word.length > this.end) return false;
    for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
    this.at = at + word.length;
    return true;
  }

  /** Goes behind one byte, if it stands here. */
  byte(wanted: number): boolean {
    if (this.at >= this.end || this.bytes[this.at] !== wanted) return false;
    this.at++;
    return true;
  }

  /** A count without sign, goes behind it; NaN for none, or one that is too long to be exact. */
  count(): number {
    const from = this.at;
    let value = 0;
    let at = from;
    for (; at < this.end; at++) {
      const digit = (this.bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    this.at = at;
    return at === from || at - from > exactDigits ? Number.NaN : value;
  }

  /**
   * A number as `Number` would read it: `-1.25e-05`. NaN for none, and for one with more digits than are exact. A whole
   * number multiplied or divided by a power of ten, all exact, is rounded once, as `Number` does.
   */
  number(): number {
    const negative = this.byte(minus);
    const value = this.read(true);
    return negative ? -value : value;
  }

  /** A number without sign and exponent: `5120.8`; as `number`. */
  decimal(): number {
    return this.read(false);
  }

  private read(scientific: boolean): number {
    const from = this.at;
    let value = this.count();
    let exponent = 0;
    if (this.byte(point)) {
      const whole = this.at - 1 - from;
      const fraction = this.at;
      const part = this.count();
      exponent = fraction - this.at;
      if (whole - exponent > exactDigits) return Number.NaN;
      value = value * (powers[-exponent] ?? Number.NaN) + part;
    }
    if (scientific && (this.byte(101) || this.byte(69))) {
      const down = this.byte(minus);
      if (!down) this.byte(plus);
      const more = this.count();
      exponent += down ? -more : more;
    }
    if (exponent === 0) return value;
    const power = powers[Math.abs(exponent)] ?? Number.NaN;
    return exponent < 0 ? value / power : value * power;
  }

  /** `1:02:03` or `02:03` as seconds; NaN for anything else. */
  clock(): number {
    const first = this.count();
    if (!this.byte(58)) return Number.NaN;
    const second = this.twoDigits();
    if (!this.byte(58)) return first * 60 + second;
    return first * 3600 + second * 60 + this.twoDigits();
  }

  /** Whether nothing but blanks is left. */
  done(): boolean {
    let { at } = this;
    while (at < this.end && this.bytes[at] === 32) at++;
    return at === this.end;
  }

  private twoDigits(): number {
    const from = this.at;
    const value = this.count();
    return this.at - from === 2 ? value : Number.NaN;
  }
}

const encoder = new TextEncoder();

/** The bytes of a fixed word. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}
