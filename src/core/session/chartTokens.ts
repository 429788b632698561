import type { ChartOwner, OwnedLengths } from "./chartOwners";
import { noTokens, tokenBins, tokenSummary, tokenText, type TokenBin, type TokenLengths } from "./tokenLengths";
import { clockTime } from "./words";

/** How long the answers of a stage are, as a histogram. All lengths are in tokens. */
export interface LengthChart {
  readonly id: string;
  readonly title: string;
  readonly bins: readonly TokenBin[];
  /** The limit that the command gives. */
  readonly limit?: number;
  /** Share that the limit cut off, 0 to 1. */
  readonly cutShare?: number;
  /** What it shows in words, and of when: `median 512, … (of 24,812 answers) · read 04:10`. */
  readonly about: string;
  /** When the outputs were read last, ms since 1970. */
  readonly readAt: number;
}

/** In round steps that makes some thirty to seventy. */
const mostBins = 70;

interface Counted {
  /** What it was made of. */
  readonly of: readonly unknown[];
  readonly chart: LengthChart | undefined;
}

/** The histograms of stages, the members of each together. What has not changed stays the same object. */
export class LengthCharts {
  #known = new Map<string, Counted>();

  /** A histogram for each stage of whose answers anything is known. */
  of(owners: readonly ChartOwner[], now: number): readonly LengthChart[] {
    const before = this.#known;
    this.#known = new Map();
    for (const [stage, members] of byStage(owners)) {
      const readAt = Math.max(...members.map((member) => member.readAt));
      const read = clockTime(readAt, now);
      const of = [read, ...members.flatMap(({ lengths, limit }) => [lengths, limit])];
      const known = before.get(stage);
      const same = known?.of.length === of.length && of.every((part, index) => part === known.of[index]);
      this.#known.set(stage, same ? known : { of, chart: lengthChart(stage, members, { readAt, read }) });
    }
    return [...this.#known.values()].flatMap(({ chart }) => chart ?? []);
  }
}

function byStage(owners: readonly ChartOwner[]): ReadonlyMap<string, readonly OwnedLengths[]> {
  const stages = new Map<string, OwnedLengths[]>();
  for (const { family, answers } of owners) {
    if (answers) stages.set(family, [...(stages.get(family) ?? []), answers]);
  }
  return stages;
}

function lengthChart(
  stage: string,
  members: readonly OwnedLengths[],
  { readAt, read }: { readonly readAt: number; readonly read: string },
): LengthChart | undefined {
  const lengths = together(members);
  const [first, ...others] = members;
  // Members with limits of their own have none in common.
  const limit = others.every((other) => other.limit === first?.limit) ? first?.limit : undefined;
  const summary = tokenSummary(lengths, limit);
  if (!summary) return undefined;
  const { cutShare } = summary;
  return {
    id: `lengths ${stage}`,
    title: `Token lengths of ${stage}`,
    bins: tokenBins(lengths, limit, mostBins),
    ...(limit !== undefined && { limit }),
    ...(cutShare !== undefined && { cutShare }),
    about: `${tokenText(lengths, limit) ?? ""} · read ${read}`,
    readAt,
  };
}

function together(members: readonly OwnedLengths[]): TokenLengths {
  const counts = new Map<number, number>();
  let { lines, without, ended } = noTokens;
  for (const { lengths } of members) {
    for (const [length, answers] of lengths.counts) counts.set(length, (counts.get(length) ?? 0) + answers);
    lines += lengths.lines;
    without += lengths.without;
    ended += lengths.ended;
  }
  return { counts, lines, without, ended };
}
