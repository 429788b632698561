import { inputsOf, unevennessOf } from "./estimateInputs";
import { correctionOf } from "./estimateNetwork";
import { situationOf } from "./estimateSituation";
import { type ProgressRow } from "./estimateTrack";

export type { ProgressRow } from "./estimateTrack";

/** Time left in seconds with an 80 % range. */
export interface Estimate {
  readonly eta: number;
  readonly lo: number;
  readonly hi: number;
}

/** Runs more regular than this (of logarithms, from one stretch to the next) leave little to correct. */
const regular = 0.003;
/** Runs on whose past the methods were wrong by this much (of logarithms) are like none that the table knows. */
const doubtful = 0.5;

/**
 * Time left from what was printed up to `now` (same zero as the rows). Null until it can be said: two moments of one
 * run with progress between them. docs/eta.md explains the method and its scores.
 *
 * Several plain methods (means over windows, medians, means since a change) are asked at past moments of this very
 * run what would come; those that were right then count most now. A fitted table then corrects what runs of such a
 * shape usually do next: go on slowing down, end in a tail, come back.
 */
export function estimate(rows: readonly ProgressRow[], now: number): Estimate | null {
  const last = rows[rows.length - 1];
  if (!last || !(last.total > 0)) return null;
  if (last.total <= last.done) return { eta: 0, lo: 0, hi: 0 };
  const situation = situationOf(rows, now);
  if (!situation) return null;

  const correction = correctionOf(inputsOf(situation));
  const uneven = unevennessOf(situation.track.cells) ** 2;
  const trust = uneven / (uneven + regular ** 2) / (1 + (situation.error / doubtful) ** 8);
  const work = situation.left * Math.exp(situation.pace + trust * correction.pace);
  const eta = Math.max(0, work + situation.pauses - situation.underWay);
  const range = {
    eta,
    lo: eta * Math.exp(-correction.below),
    hi: eta * Math.exp(correction.above) + situation.silence,
  };
  return Number.isFinite(range.hi) ? range : null;
}
