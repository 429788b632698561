import { median } from "./median";

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
  const gaps = moments.slice(1).map((moment, i) => gapBetween(moments[i] ?? moment, moment));
  const pauses: Pause[] = [];
  // Neighbourhoods are looked at in blocks: sorting around each of twenty thousand gaps costs more than it tells.
  const block = Math.max(1, Math.floor(gaps.length / 200));
  for (let from = 0; from < gaps.length; from += block) {
    const around = gaps.slice(Math.max(0, from - neighbours), from + block + neighbours);
    const usual = median(around.map(({ seconds }) => seconds));
    const pace = median(around.map(({ perItem }) => perItem));
    for (const [i, { seconds, work, perItem }] of gaps.slice(from, from + block).entries()) {
      if (usual === 0 || seconds <= pauseFactor * usual || perItem <= pauseFactor * pace) continue;
      const lost = seconds - Math.min(seconds, pace * work);
      pauses.push({ before: from + i + 1, work: moments[from + i]?.work ?? 0, lost });
    }
  }
  return pauses;
}

function gapBetween(before: Moment, after: Moment): { readonly seconds: number; work: number; perItem: number } {
  const seconds = after.t - before.t;
  const work = after.work - before.work;
  return { seconds, work, perItem: work > 0 ? seconds / work : Infinity };
}
