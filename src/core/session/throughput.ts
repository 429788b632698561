import { MetricSeries } from "./series";
import { SeriesCursor } from "./seriesCursor";

/** Intervals are as long as it takes for this many steps, so that single ones do not show as noise, */
const steps = 20;
/** but not longer than this where it is slow, nor shorter than that where it is fast; ms. */
const longestMs = 30_000;
const shortestMs = 2000;
/** What was written at once, or read at once after a silence, is one step: its lines are no faster for it. */
const burstMs = 1000;

interface Point {
  readonly time: number;
  readonly count: number;
}

/**
 * How fast a counter grows, a second: over each interval, and as the mean since it was first seen in this run. Grows
 * with its source; a counter that goes back (a restart) breaks both lines and begins anew.
 */
export class Throughput {
  readonly intervals: MetricSeries;
  readonly mean: MetricSeries;
  readonly #counts: SeriesCursor;
  #first: Point | undefined;
  #last: Point | undefined;

  constructor(counts: MetricSeries) {
    this.#counts = new SeriesCursor(counts);
    this.intervals = new MetricSeries(`${counts.name} a second, of each interval`);
    this.mean = new MetricSeries(`${counts.name} a second, mean so far`);
  }

  /** Takes in what its source got since the last time. */
  update(): void {
    const { times, values } = this.#counts.rest();
    for (let index = 0; index < times.length; index++) {
      index = lastOfBurst(times, values, index);
      this.#take(times[index] ?? NaN, values[index] ?? NaN);
    }
    this.#counts.pass(times.length);
  }

  #take(time: number, count: number): void {
    if (!Number.isFinite(count)) return;
    const [first, last] = [this.#first, this.#last];
    if (!first || !last || count < last.count) {
      if (last) for (const series of [this.intervals, this.mean]) series.append(time, NaN);
      this.#first = this.#last = { time, count };
      return;
    }
    const [ms, more] = [time - last.time, count - last.count];
    if (ms < shortestMs || (more < steps && ms < longestMs)) return;
    this.intervals.append(time, (more * 1000) / ms);
    this.mean.append(time, ((count - first.count) * 1000) / (time - first.time));
    this.#last = { time, count };
  }
}

/** The last sample that came with one, as long as the counter only grows. */
function lastOfBurst(times: Float64Array, values: Float64Array, first: number): number {
  const end = (times[first] ?? NaN) + burstMs;
  let last = first;
  while ((times[last + 1] ?? Infinity) < end && (values[last + 1] ?? NaN) >= (values[last] ?? NaN)) last++;
  return last;
}
