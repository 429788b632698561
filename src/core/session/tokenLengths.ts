import type { TokenReport } from "../tokenCounts";
import { amount, count, decimal } from "./words";

/** How long the answers are that a stage has written: how many have each number of tokens. */
export interface TokenLengths {
  /** Numbers of 4096 and more to 1 in 2048. */
  readonly counts: ReadonlyMap<number, number>;
  /** Lines that were read, and those of them without a number of tokens. */
  readonly lines: number;
  readonly without: number;
  /** Lines of which the server says that the limit ended them. */
  readonly ended: number;
}

/** What is told of a distribution. All lengths are in tokens. */
export interface TokenSummary {
  readonly answers: number;
  readonly mean: number;
  readonly median: number;
  /** Nineteen of twenty are no longer. */
  readonly p95: number;
  readonly longest: number;
  /** The limit that the command gives. */
  readonly limit?: number;
  /** Share that the limit cut off, 0 to 1; undefined where neither the server nor the command says. */
  readonly cutShare?: number;
}

/** Nothing was read yet. */
export const noTokens: TokenLengths = { counts: new Map(), lines: 0, without: 0, ended: 0 };

/** With what a further look has found. */
export function withTokens(before: TokenLengths, report: TokenReport): TokenLengths {
  if (report.lines === 0) return before;
  const counts = new Map(before.counts);
  for (const [value, lines] of report.counts) counts.set(value, (counts.get(value) ?? 0) + lines);
  return {
    counts,
    lines: before.lines + report.lines,
    without: before.without + report.without,
    ended: before.ended + report.ended,
  };
}

/**
 * The most tokens that a command lets an answer have, as `--max-tokens 512`, `--max_new_tokens=512` or
 * `max_tokens=512` say it; undefined where it says nothing.
 */
export function tokenLimit(command: string | undefined): number | undefined {
  const [, digits] = /(?:^|[\s.'"])(?:--)?max[-_](?:(?:completion|new|output|gen)[-_])?(?:toks|tokens)[=\s:]+["']?(\d{1,9})\b/.exec(command ?? "") ?? []; // prettier-ignore
  const limit = Number(digits);
  return limit > 0 ? limit : undefined;
}

/** Undefined where no answer has a number. */
export function tokenSummary(
  { counts, ended, lines }: TokenLengths,
  limit: number | undefined,
): TokenSummary | undefined {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const answers = sorted.reduce((sum, [, number]) => sum + number, 0);
  const longest = sorted.at(-1)?.[0];
  if (longest === undefined) return undefined;
  const sum = sorted.reduce((total, [value, number]) => total + value * number, 0);
  // As long as the limit is to the grain of the counts.
  const atLimit = limit === undefined ? 0 : answersFrom(sorted, limit * (1 - 1 / 2048));
  const cut = ended > 0 ? ended / lines : limit === undefined ? undefined : atLimit / answers;
  return {
    answers,
    mean: sum / answers,
    median: lengthAt(sorted, answers / 2),
    p95: lengthAt(sorted, answers * 0.95),
    longest,
    ...(limit === undefined ? {} : { limit }),
    ...(cut === undefined ? {} : { cutShare: cut }),
  };
}

type Sorted = readonly (readonly [value: number, number: number])[];

function answersFrom(sorted: Sorted, least: number): number {
  return sorted.reduce((sum, [value, number]) => (value >= least ? sum + number : sum), 0);
}

/** The length of the answer that is the `rank`-th of all by length. */
function lengthAt(sorted: Sorted, rank: number): number {
  let passed = 0;
  for (const [value, number] of sorted) {
    passed += number;
    if (passed >= rank) return value;
  }
  return sorted.at(-1)?.[0] ?? 0;
}

/** `median 512, 95 % up to 1,930, longest 4,096; 3.1 % cut off at 4,096 (of 24,812 answers)`. */
export function tokenText(lengths: TokenLengths, limit: number | undefined): string | undefined {
  const summary = tokenSummary(lengths, limit);
  if (!summary) return lengths.lines === 0 ? undefined : `no number of tokens in ${amount(lengths.lines, "line")}`;
  const { answers, median, p95, longest, cutShare } = summary;
  const at = limit === undefined ? "" : ` at ${count(limit)}`;
  const cut = cutShare === undefined ? "" : `; ${sharePercent(cutShare)} cut off${at}`;
  const without = lengths.without === 0 ? "" : `; ${amount(lengths.without, "line")} without a number`;
  return `median ${count(median)}, 95 % up to ${count(p95)}, longest ${count(longest)}${cut} (of ${amount(answers, "answer")}${without})`;
}

/** A share of 0 to 1 to a tenth of a percent: `3.1 %`; what is less is not said to be nothing. */
export function sharePercent(share: number): string {
  if (share > 0 && share < 0.001) return "under 0.1 %";
  return `${decimal(Math.round(share * 1000) / 10)} %`;
}

/** A bar of a histogram: answers of `from` up to, but not with, `to` tokens. */
export interface TokenBin {
  readonly from: number;
  readonly to: number;
  readonly answers: number;
}

/** Steps between bins that a reader can count in. */
const steps: readonly number[] = [1, 2, 5];

/** Bars of equal width in round numbers from 0 to the longest answer (or the limit), at most `most` of them. */
export function tokenBins(lengths: TokenLengths, limit: number | undefined, most: number): readonly TokenBin[] {
  const longest = Math.max(...lengths.counts.keys(), 0);
  if (lengths.counts.size === 0) return [];
  const end = Math.max(longest + 1, limit === undefined || limit > longest * 4 ? 0 : limit + 1);
  const width = roundStep(end / most);
  const bins = Array.from({ length: Math.ceil(end / width) }, () => 0);
  for (const [value, number] of lengths.counts) {
    const at = Math.floor(value / width);
    bins[at] = (bins[at] ?? 0) + number;
  }
  return bins.map((answers, at) => ({ from: at * width, to: (at + 1) * width, answers }));
}

function roundStep(least: number): number {
  for (let power = 1; ; power *= 10) for (const step of steps) if (step * power >= least) return step * power;
}
