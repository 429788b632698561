import { exceptionRules, lineRules } from "../../src/core/log/failures/rules";
import { progressFormats } from "../../src/core/log/formats/all";
import { LogReader } from "../../src/core/log/reader";

/** Letters that open repeats in the rules and formats like to take. */
const fillers = [" ", "9", "a", "a.", "9,", "x: ", "[", "━", "=", "1/1 ", "a=1, ", "9:59", "/a", "  1"];

/** Lines that begin as a rule or format wants it and then go on for ever, to make it look back. */
function pathologicalStarts(): string[] {
  const needles = [...lineRules, ...exceptionRules].flatMap((rule) => rule.needles);
  const triggers = progressFormats.map((format) => format.trigger);
  return [...new Set([...needles, ...triggers])].filter((text) => text !== "");
}

/** A line of `size` characters: the start, then its filler or itself again and again, without the end it waits for. */
function pathologicalLine(start: string, filler: string, size: number): string {
  return (
    start + (filler === "" ? start : filler).repeat(Math.ceil(size / Math.max(1, (filler || start).length)))
  ).slice(0, size);
}

/** The start whose time a byte grew most between lines of two sizes. */
interface Growth {
  readonly start: string;
  readonly filler: string;
  /** Time a byte of the long line over time a byte of the short ones; 1 is flat. */
  readonly ratio: number;
}

/**
 * Times each start with each filler as one line of `long` bytes and as many lines of `short` bytes.
 * @param now a clock in milliseconds
 */
export function pathologicalGrowth(short: number, long: number, now: () => number): Growth[] {
  const time = (text: string): number => {
    const bytes = new TextEncoder().encode(text);
    const reader = new LogReader();
    const from = now();
    reader.push(bytes);
    reader.flush();
    return Math.max(0.05, now() - from) / bytes.length;
  };
  return pathologicalStarts().flatMap((start) =>
    ["", ...fillers].map((filler): Growth => {
      const line = `${pathologicalLine(start, filler, short)}\n`;
      const few = time(line.repeat(Math.max(1, Math.ceil(long / short))));
      return { start, filler, ratio: time(`${pathologicalLine(start, filler, long)}\n`) / few };
    }),
  );
}
