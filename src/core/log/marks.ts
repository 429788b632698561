/** What is looked for at the beginning of a segment: short signs that no needle can be made of. */

const blank = 32;
const percent = 37;

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

/** Fences, headings of quotations and two kinds of bars (`###`, ` 69% `) begin so; a byte order mark is taken away. */
export function beginsOddly(bytes: Uint8Array, start: number, end: number): boolean {
  const first = start < end ? bytes[start] : undefined;
  switch (first) {
    case undefined:
      return false;
    case 35: // #
    case 45: // -
    case 61: // =
    case 96: // `
    case 0xef:
      return true;
    default:
      return (first === blank || isDigit(first)) && beginsWithShare(bytes, start, end);
  }
}

/** ` 69% ` with something behind it. */
function beginsWithShare(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < start + 6 && bytes[at] === blank) at++;
  const digits = at;
  while (at < digits + 3 && isDigit(bytes[at])) at++;
  return at > digits && at + 2 < end && bytes[at] === percent && bytes[at + 1] === blank;
}
