import { cleanText, LineSplitter } from "./lines";

/** Bytes from the end in which the line is looked for. */
const lookedAt = 8 * 1024;
/** Characters of it that are told. */
const toldCharacters = 160;

/**
 * The last line of a log that says anything, as plain text of at most 160 characters; of a bar that draws over itself
 * its last state. `undefined` where the end of the log is blank.
 */
export function lastLineOf(bytes: Uint8Array): string | undefined {
  const lines: string[] = [];
  const take = (piece: { readonly bytes: Uint8Array }): void => {
    // Marks that turn the direction of writing would turn the words around it as well.
    const text = cleanText(piece.bytes)
      .replaceAll(/[\s\p{Cf}]+/gu, " ")
      .trim();
    if (/[\p{L}\p{N}]/u.test(text)) lines.push(text);
  };
  const splitter = new LineSplitter();
  splitter.push(bytes.subarray(Math.max(0, bytes.length - lookedAt)), take);
  const rest = splitter.flush();
  if (rest) take(rest);
  const line = lines.at(-1);
  if (line === undefined || line.length <= toldCharacters) return line;
  return `${line.slice(0, toldCharacters - 1).trimEnd()}…`;
}
