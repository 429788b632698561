import { median, middleOf } from "./median";

/** A state of a run: seconds and items since its track began. */
export interface Moment {
  readonly t: number;
  readonly work: number;
}

/** Pauses that come back after the same work each time: evaluations, saved checkpoints. */
export interface Habit {
  /** Items from one to the next. */
  readonly period: number;
  /** Seconds that one takes, beside the work done meanwhile. */
  readonly each: number;
  /** Items since the last one. */
  readonly since: number;
  /** Items from one row to the next, on average. */
  readonly step: number;
  /** Seconds lost before each moment, by its index. */
  readonly lost: ReadonlyMap<number, number>;
}

/** A gap so many times as long as its neighbours', and as dear by the item, is a pause. */
const pauseFactor = 3;
/** Neighbours on each side that a gap is compared with. */
const neighbours = 8;
/** How far from the usual distance a pause may come and be one of them, as a share of it. */
const tolerance = 0.12;
/** This share of all pauses must keep the distance. */
const regularShare = 0.8;
/** A habit that has not shown itself for this many periods was given up. */
const givenUpAfter = 1.4;

interface Pause {
  /** Index of the moment that it came before. */
  readonly before: number;
  readonly work: number;
  readonly lost: number;
}

/** The habit that a run's pauses show; undefined without one. At least two pauses, most of them as far apart. */
export function habitOf(moments: readonly Moment[]): Habit | undefined {
  const last = moments[moments.length - 1];
  const first = moments[0];
  if (!first || !last) return undefined;
  const step = (last.work - first.work) / (moments.length - 1);
  const pauses = pausesOf(moments);
  const newest = pauses[pauses.length - 1];
  const apart = pauses.slice(1).map(({ work }, i) => work - (pauses[i]?.work ?? 0));
  const usual = median(apart);
  if (!newest || apart.length === 0 || usual < 3 * step) return undefined;
  // The first one is as far from the start of the track as from the one before, unless the run was resumed.
  const all = [(pauses[0]?.work ?? 0) - first.work + step, ...apart];
  const regular = all.filter((one) => Math.abs(one - usual) <= tolerance * usual + step);
  if (regular.length < 2 || regular.length < regularShare * all.length) return undefined;
  const period = regular.reduce((sum, one) => sum + one, 0) / regular.length;
  const since = last.work - newest.work;
  if (since > givenUpAfter * period) return undefined;
  return {
    period,
    each: median(pauses.map(({ lost }) => lost)),
    since,
    step,
    lost: new Map(pauses.map(({ before, lost }) => [before, lost])),
  };
}

/** Seconds that pauses of the habit will take in the work that is left. */
export function pausesAhead(habit: Habit | undefined, left: number): number {
  if (!habit) return 0;
  // One that would fall on the very end is seldom made; rows are a step away from where a pause begins.
  const ahead = left + habit.since - 1.5 * habit.step;
  return Math.max(0, Math.floor(ahead / habit.period - 0.02)) * habit.each;
}

function pausesOf(moments: readonly Moment[]): readonly Pause[] {
  const { seconds, perItem } = gapsOf(moments);
  const pauses: Pause[] = [];
  // Neighbourhoods are looked at in blocks: sorting around each of twenty thousand gaps costs more than it tells.
  const block = Math.max(1, Math.floor(seconds.length / 200));
  for (let from = 0; from < seconds.length; from += block) {
    const around = { from: Math.max(0, from - neighbours), to: from + block + neighbours };
    // Most neighbourhoods are so even that nothing in them can be a pause; those need not be sorted.
    if (longestOf(seconds, from, from + block) <= pauseFactor * shortestOf(seconds, around.from, around.to)) continue;
    const usual = medianOf(seconds, around.from, around.to);
    if (usual === 0 || longestOf(seconds, from, from + block) <= pauseFactor * usual) continue;
    const pace = medianOf(perItem, around.from, around.to);
    for (let i = from; i < Math.min(seconds.length, from + block); i++) {
      const length = seconds[i] ?? 0;
      if (length <= pauseFactor * usual || (perItem[i] ?? 0) <= pauseFactor * pace) continue;
      const before = moments[i]?.work ?? 0;
      const work = (moments[i + 1]?.work ?? before) - before;
      pauses.push({ before: i + 1, work: before, lost: length - Math.min(length, pace * work) });
    }
  }
  return pauses;
}

/** What each gap between neighbours took, and took by the item; bare numbers, since there are thousands. */
function gapsOf(moments: readonly Moment[]): { readonly seconds: Float64Array; readonly perItem: Float64Array } {
  const seconds = new Float64Array(moments.length - 1);
  const perItem = new Float64Array(moments.length - 1);
  let before = moments[0];
  for (let i = 0; i < seconds.length; i++) {
    const after = moments[i + 1];
    if (!before || !after) break;
    const work = after.work - before.work;
    const length = after.t - before.t;
    seconds[i] = length;
    perItem[i] = work > 0 ? length / work : Infinity;
    before = after;
  }
  return { seconds, perItem };
}

function medianOf(values: Float64Array, from: number, to: number): number {
  return middleOf(values.slice(from, to).sort());
}

function longestOf(values: Float64Array, from: number, to: number): number {
  let longest = 0;
  for (let i = from; i < Math.min(to, values.length); i++) longest = Math.max(longest, values[i] ?? 0);
  return longest;
}

function shortestOf(values: Float64Array, from: number, to: number): number {
  let shortest = Infinity;
  for (let i = from; i < Math.min(to, values.length); i++) shortest = Math.min(shortest, values[i] ?? Infinity);
  return shortest;
}
