import { forecasts, meanOf } from "./estimateForecasts";
import { pausesAhead } from "./estimatePauses";
import { trackOf, type Cell, type ProgressRow, type Track } from "./estimateTrack";

/** Where a run stands, and what plain methods make of it. Seconds and items. */
export interface Situation {
  readonly track: Track;
  readonly done: number;
  readonly left: number;
  readonly total: number;
  /** Logarithms of the seconds per item that each plain method expects. */
  readonly said: readonly number[];
  /** Mean size of each method's error on this run's past. */
  readonly errors: readonly number[];
  /** How wrong they were on this run's past, weighed like their mean. */
  readonly error: number;
  /** Logarithm of the seconds per item that follows from them. */
  readonly pace: number;
  /** Since the last row: the time in which work goes on, and the silence beyond it. */
  readonly underWay: number;
  readonly silence: number;
  /** Seconds that pauses of a habit will take. */
  readonly pauses: number;
}

/** Shares of the work done so far from where the methods are asked what came after. */
const checkpoints = [0.08, 0.15, 0.3, 0.46, 0.54, 0.62, 0.7, 0.78, 0.85, 0.9, 0.95] as const;
/** A method that was wrong by 5 % more on this run's past counts e times less. */
const strictness = 20;
/** The mean error taken for a run that has no past to test on. */
const untested = 0.3;

/** Null until two moments of one run show progress between them, or where there is no total. */
export function situationOf(rows: readonly ProgressRow[], now: number): Situation | null {
  const last = rows[rows.length - 1];
  if (!last || !(last.total > 0)) return null;
  const track = trackOf(rows);
  if (!track) return null;
  const left = Math.max(0, last.total - last.done);
  const said = forecasts(track.cells);
  const errors = pastErrors(track.cells, said.length);
  const blended = blend(said, errors);
  const age = Math.max(0, now - last.t);
  // Work goes on since the last row, as long as the log is not quieter than its own cadence; then the finish slides.
  const underWay = Math.min(age, track.usualGap);
  return {
    track,
    done: last.done,
    left,
    total: last.total,
    said,
    errors,
    error: blended.error,
    pace: Math.log(paceAhead(track, Math.exp(blended.value), last.done / last.total)),
    underWay,
    silence: age - underWay,
    pauses: pausesAhead(track.habit, left),
  };
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
