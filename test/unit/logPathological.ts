import { exceptionRules, lineRules } from "../../src/core/log/failures/rules";
import { progressFormats } from "../../src/core/log/formats/all";
import { LogReader, type LogReaderOptions } from "../../src/core/log/reader";

/** Letters that open repeats in the rules and formats like to take. */
const fillers = [" ", "9", "a", "a.", "9,", "x: ", "[", "━", "=", "1/1 ", "a=1, ", "9:59", "/a", "  1"];

/** What every rule and every format looks for: lines that begin so and then go on for ever make it look back. */
function pathologicalStarts(): string[] {
  const rules = [...lineRules, ...exceptionRules].flatMap((rule) => rule.needles);
  const formats = progressFormats.flatMap((format) => [format.trigger, ...(format.needles ?? [])]);
  const digits = [...rules, ...formats].map((text) => text.replaceAll("\\d", "7"));
  return [...new Set([...digits, "cost 1", "item item"])].filter((text) => text !== "");
}

/** As dear as a user's own patterns may be: the most open repeats that are accepted. */
const ownPatterns: LogReaderOptions = {
  hint: { pattern: String.raw`^.*cost (?<done>\d+).*of (?<total>\d+)$` },
  rules: [{ pattern: String.raw`^.*item.*end$`, ignore: true }],
};

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

/** How often the dearest are looked at again: a busy machine makes some dear by chance. */
const looks = 5;
/** What grows no more than this at one look is not looked at again. */
const flat = 2;

/**
 * Times each start with each filler as four lines of `long` bytes and as so many bytes in lines of `short` bytes, those
 * that seem dear more often; the dearest first.
 * @param now a clock in milliseconds
 */
export function pathologicalGrowth(short: number, long: number, now: () => number): Growth[] {
  const time = (text: string): number => {
    const bytes = new TextEncoder().encode(text);
    const reader = new LogReader(ownPatterns);
    const from = now();
    reader.push(bytes);
    reader.flush();
    return Math.max(0.2, now() - from) / bytes.length;
  };
  const least = (text: string, times: number): number => Math.min(...Array.from({ length: times }, () => time(text)));
  const growthOf = (start: string, filler: string, times: number): Growth => {
    const lines = (size: number): string =>
      `${pathologicalLine(start, filler, size)}\n`.repeat(Math.ceil((4 * long) / size));
    return { start, filler, ratio: least(lines(long), times) / least(lines(short), times) };
  };
  return pathologicalStarts()
    .flatMap((start) => ["", ...fillers].map((filler) => growthOf(start, filler, 1)))
    .map((one) => (one.ratio <= flat ? one : growthOf(one.start, one.filler, looks)))
    .sort((a, b) => b.ratio - a.ratio);
}
