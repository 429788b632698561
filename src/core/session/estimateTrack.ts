import { habitOf, type Habit, type Moment } from "./estimatePauses";
import { middleOf } from "./median";

/** A state of a counter. `t` in seconds, of any zero; ascending. */
export interface ProgressRow {
  readonly t: number;
  readonly done: number;
  readonly total: number;
}

/** A stretch of the run between two rows; all in seconds and items since the track began. */
export interface Cell {
  readonly work: number;
  /** Seconds it took, and the same without what looks like a pause. */
  readonly seconds: number;
  readonly active: number;
  /** Work done when it ended. */
  readonly workAtEnd: number;
}

/** What a run did so far, in about sixty stretches of equal work. */
export interface Track {
  readonly cells: readonly Cell[];
  /** Nine tenths of the gaps between rows are at most this long, seconds. */
  readonly usualGap: number;
  /** Seconds per item of the newest rows, if the last three gaps all were far slower than the run before; else 0. */
  readonly slowEnd: number;
  /** Different states of the counter that were seen. */
  readonly states: number;
  /** Seconds per item over the newest gaps between rows: the last one, the last two … (`newestGaps`). */
  readonly newest: readonly number[];
  /** Pauses that come back; what they took is in no stretch. */
  readonly habit: Habit | undefined;
}

/** More stretches would be finer than the noise of real logs; fewer would hide a change. */
const mostCells = 60;
/** How many of the newest gaps are looked at together. */
const newestGaps = [1, 2, 3, 5, 7, 12, 20, 40] as const;
/** A gap this many times the usual one is a pause. */
const pauseFactor = 6;

/** Null until two different moments of one run show progress between them. */
export function trackOf(rows: readonly ProgressRow[]): Track | null {
  const moments = momentsOf(rows);
  const first = moments[0];
  const last = moments[moments.length - 1];
  if (!first || !last || !(last.work > first.work)) return null;
  const sorted = sampledGaps(moments).sort();
  const habit = habitOf(moments);
  return {
    cells: cellsOf(moments, middleOf(sorted), habit),
    usualGap: sorted[Math.floor(0.9 * sorted.length)] ?? 0,
    slowEnd: slowEndOf(moments),
    states: moments.length,
    newest: newestGaps.map((gaps) => paceOfLast(moments, gaps)),
    habit,
  };
}

/** Seconds between neighbours, every so many of them: sorting twenty thousand costs more than it tells. */
function sampledGaps(moments: readonly Moment[]): Float64Array {
  const stride = Math.ceil(moments.length / 1000);
  const gaps = new Float64Array(Math.ceil((moments.length - 1) / stride));
  for (let i = 0; i < gaps.length; i++) gaps[i] = (moments[i * stride + 1]?.t ?? 0) - (moments[i * stride]?.t ?? 0);
  return gaps;
}

/**
 * Work against time, joined over restarts: where the count goes back a little (a checkpoint), the time down is left
 * out; where it goes back by more than half, a new run begins. Rows of one moment are one state, since between them
 * there is no time to divide by.
 */
function momentsOf(rows: readonly ProgressRow[]): readonly Moment[] {
  let moments: Moment[] = [];
  let before: ProgressRow | undefined;
  let down = 0;
  let work = 0;
  for (const row of rows) {
    if (before && row.done < before.done / 2) moments = [];
    else if (before && row.done < before.done) down += row.t - before.t;
    else if (before) work += row.done - before.done;
    const t = row.t - down;
    const newest = moments[moments.length - 1];
    if (newest && t <= newest.t) moments[moments.length - 1] = { t: newest.t, work };
    else moments.push({ t, work });
    before = row;
  }
  return moments;
}

function paceOfLast(moments: readonly Moment[], gaps: number): number {
  const from = moments[Math.max(0, moments.length - 1 - gaps)];
  const last = moments[moments.length - 1];
  return from && last && last.work > from.work ? (last.t - from.t) / (last.work - from.work) : Number.NaN;
}

function cellsOf(moments: readonly Moment[], gap: number, habit: Habit | undefined): readonly Cell[] {
  const first = moments[0];
  const last = moments[moments.length - 1];
  if (!first || !last) return [];
  const all = last.work - first.work;
  const step = all / (moments.length - 1);
  const cells: Cell[] = [];
  let start = first;
  let before = first;
  let paused = 0;
  let expected = 0;
  for (const [index, moment] of moments.entries()) {
    const length = moment.t - before.t;
    const lost = habit?.lost.get(index);
    if (lost !== undefined) expected += lost;
    // A long gap that brought much work is a slow printer, not a pause.
    else if (length > pauseFactor * gap && moment.work - before.work <= 8 * step) paused += length - gap;
    before = moment;
    const due = moment.work - start.work >= all / mostCells || moment === last;
    if (!due || !(moment.work > start.work)) continue;
    const whole = moment.t - start.t;
    const seconds = whole - expected;
    const active = Math.max(whole * 1e-6, seconds - paused);
    cells.push({ work: moment.work - start.work, seconds, active, workAtEnd: moment.work - first.work });
    start = moment;
    paused = 0;
    expected = 0;
  }
  return cells;
}

/** The last three gaps, each at least 1.8 times slower than the mean: a long tail that no mean can see. */
function slowEndOf(moments: readonly Moment[]): number {
  const [a, b, c, d] = moments.slice(-4);
  const first = moments[0];
  if (moments.length < 12 || !a || !b || !c || !d || !first) return 0;
  const usual = (a.t - first.t) / (a.work - first.work);
  const pairs: readonly (readonly [Moment, Moment])[] = [
    [a, b],
    [b, c],
    [c, d],
  ];
  const slow = pairs.every(([from, to]) => to.t - from.t >= 1.8 * usual * (to.work - from.work));
  return slow && d.work > a.work ? (d.t - a.t) / (d.work - a.work) : 0;
}
