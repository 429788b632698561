/**
 * What a played program does and when. The same score is played by a shell script on the demo host (ssh mode) and by
 * `playScore` in memory, so that both nights print the same lines.
 */

/** One act of a played program, `at` milliseconds after its start. Paths are relative to the program's target folder. */
export type ScoreLine =
  | { readonly at: number; readonly kind: "out"; readonly text: string }
  | { readonly at: number; readonly kind: "append"; readonly path: string; readonly text: string }
  /** Adds so many zero bytes. */
  | { readonly at: number; readonly kind: "grow"; readonly path: string; readonly bytes: number };

/** Everything a program does, in the order of time; it ends with exit code 0 after the last line. */
export type Score = readonly ScoreLine[];

/** Repeatable noise in 0..1 (mulberry32), so that two openings of the demo tell the same night. */
export function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar as tqdm draws it, ten cells wide, without the carriage return. */
export function tqdmBar(done: number, total: number): string {
  const filled = Math.floor((done / total) * 80);
  const part = eighths[filled % 8] ?? "";
  return ("█".repeat(Math.floor(filled / 8)) + part).padEnd(10, " ").slice(0, 10);
}

/** Seconds as tqdm writes them: `01:05`, `1:02:03`. */
export function tqdmTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/**
 * The score as the shell player reads it: one act a line, `centiseconds TAB act TAB path TAB payload`. The payload is
 * for `printf %b` (backslash escapes, control bytes as `\0ooo`), a grow's payload is its bytes.
 */
export function scoreText(score: Score): string {
  return score
    .map((line) => {
      const at = Math.round(line.at / 10);
      switch (line.kind) {
        case "out":
          return `${at}\tout\t-\t${escapeForPrintf(line.text)}\n`;
        case "append":
          return `${at}\tappend\t${line.path}\t${escapeForPrintf(line.text)}\n`;
        case "grow":
          return `${at}\tgrow\t${line.path}\t${line.bytes}\n`;
      }
    })
    .join("");
}

function escapeForPrintf(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replace(/\p{Cc}/gu, (char) => `\\0${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}
