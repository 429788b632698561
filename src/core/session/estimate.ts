import { forecasts, meanOf } from "./estimateForecasts";
import { pausesAhead } from "./estimatePauses";
import { trackOf, type Cell, type ProgressRow, type Track } from "./estimateTrack";

export type { ProgressRow } from "./estimateTrack";

/** Time left in seconds with an 80 % range. */
export interface Estimate {
  readonly eta: number;
  readonly lo: number;
  readonly hi: number;
}

/** Shares of the work done so far from where the methods are asked what came after. */
const checkpoints = [0.08, 0.15, 0.3, 0.46, 0.54, 0.62, 0.7, 0.78, 0.85, 0.9, 0.95] as const;
/** A method that was wrong by 5 % more on this run's past counts e times less. */
const strictness = 20;
/** The mean error taken for a run that has no past to test on. */
const untested = 0.3;

/**
 * Time left from what was printed up to `now` (same zero as the rows). Null until it can be said: two moments of one
 * run with progress between them. docs/eta.md explains the method and its scores.
 *
 * Several plain methods (means over windows, medians, means since a change) are asked at past moments of this very
 * run what would come; those that were right then count most now.
 */
export function estimate(rows: readonly ProgressRow[], now: number): Estimate | null {
  const last = rows[rows.length - 1];
  if (!last || !(last.total > 0)) return null;
  const left = Math.max(0, last.total - last.done);
  if (left === 0) return { eta: 0, lo: 0, hi: 0 };
  const track = trackOf(rows);
  if (!track) return null;

  const values = forecasts(track.cells);
  const errors = pastErrors(track.cells, values.length);
  const blended = blend(values, errors);
  const pace = paceAhead(track, Math.exp(blended.value), last.done / last.total);
  const age = Math.max(0, now - last.t);
  // Work goes on since the last row, as long as the log is not quieter than its own cadence; then the finish slides.
  const underWay = Math.min(age, track.usualGap);
  const eta = Math.max(0, left * pace - underWay + pausesAhead(track.habit, left));
  const silence = age - underWay;
  const spread = spreadOf(blended.error, track.cells.length);
  const range = { eta, lo: eta * Math.exp(-spread.below), hi: eta * Math.exp(spread.above) + silence };
  return Number.isFinite(range.hi) ? range : null;
}

/** Seconds per item from here on: at the two ends of a run, its past does not show what the newest rows do. */
function paceAhead(track: Track, usual: number, share: number): number {
  if (share > 0.9) return Math.max(usual, track.slowEnd);
  return share < 0.06 ? usual * stillWarming(track.cells) : usual;
}

/** Below 1 while a young run is still speeding up: part of the speed-up is expected to go on, a half at most. */
function stillWarming(cells: readonly Cell[]): number {
  if (cells.length < 3) return 1;
  const beginning = meanOf(cells.slice(0, Math.max(1, cells.length >> 2)), 0);
  const newest = meanOf(cells, Math.max(cells.length >> 1, Math.floor(0.75 * cells.length)));
  const speedUp = beginning / newest;
  return speedUp > 1.5 ? Math.max(0.5, speedUp ** -0.4) : 1;
}

/** Mean size of each method's past errors (of logarithms), at moments of this run whose sequel is known. */
function pastErrors(cells: readonly Cell[], methods: number): readonly number[] {
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  const sums = new Array<number>(methods).fill(0);
  let asked = 0;
  for (const share of checkpoints) {
    const count = cells.findIndex((cell) => cell.workAtEnd >= share * whole) + 1;
    if (count < 2 || count >= cells.length) continue;
    const truth = Math.log(meanOf(cells, count));
    const said = forecasts(cells.slice(0, count));
    for (let i = 0; i < methods; i++) sums[i] = (sums[i] ?? 0) + Math.min(1.5, Math.abs((said[i] ?? 0) - truth));
    asked++;
  }
  return sums.map((sum) => (asked > 0 ? sum / asked : untested));
}

/** The methods' mean and mean error, weighted by how right each was. */
function blend(
  values: readonly number[],
  errors: readonly number[],
): { readonly value: number; readonly error: number } {
  const least = Math.min(...errors);
  let weights = 0;
  let value = 0;
  let error = 0;
  values.forEach((each, i) => {
    const ownError = errors[i] ?? untested;
    const weight = Math.exp(-strictness * (ownError - least));
    weights += weight;
    value += weight * each;
    error += weight * ownError;
  });
  return { value: value / weights, error: error / weights };
}

/** How far, in logarithms, the truth lay from the estimate in 8 of 10 cases, for runs that were as hard to foresee. */
function spreadOf(error: number, stretches: number): { readonly below: number; readonly above: number } {
  const few = 1 / Math.sqrt(stretches);
  return { below: 0.05 + 0.9 * error + 0.4 * few, above: 0.12 + 1.3 * error + 0.5 * few };
}
