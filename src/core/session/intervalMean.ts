import { MetricSeries } from "./series";
import { SeriesCursor } from "./seriesCursor";

/** A mean may be this far off, as a share of itself, by the rounding of what was printed. */
const tolerance = 0.05;

/**
 * The mean of each interval, recovered from the mean since the start: (n₂m₂ − n₁m₁) / (n₂ − n₁). A printed mean is
 * rounded, and late in a run the rounding outweighs a short interval; intervals are therefore made as long as it takes
 * for the error to stay within 5 %. Grows with its sources; a counter that goes back (a restart) begins anew.
 */
export class IntervalMean {
  readonly series: MetricSeries;
  readonly #counts: SeriesCursor;
  readonly #means: SeriesCursor;
  #last: { readonly count: number; readonly mean: number } | undefined;

  constructor(counts: MetricSeries, means: MetricSeries) {
    this.#counts = new SeriesCursor(counts);
    this.#means = new SeriesCursor(means);
    this.series = new MetricSeries(`${means.name} of each interval`);
  }

  /** Takes in what its sources got since the last time. */
  update(): void {
    const [counts, means] = [this.#counts.rest(), this.#means.rest()];
    let [atCount, atMean] = [0, 0];
    while (atCount < counts.times.length && atMean < means.times.length) {
      const [countTime, meanTime] = [counts.times[atCount] ?? 0, means.times[atMean] ?? 0];
      if (countTime === meanTime) this.#take(meanTime, counts.values[atCount] ?? NaN, means.values[atMean] ?? NaN);
      // Only samples of the same moment belong together.
      if (countTime <= meanTime) atCount++;
      if (meanTime <= countTime) atMean++;
    }
    this.#counts.pass(atCount);
    this.#means.pass(atMean);
  }

  #take(time: number, count: number, mean: number): void {
    if (!Number.isFinite(count) || !Number.isFinite(mean)) return;
    const last = this.#last;
    if (last && count < last.count) {
      this.series.append(time, NaN);
      this.#last = undefined;
    } else if (!last) {
      if (count > 0) this.series.append(time, mean);
      this.#last = { count, mean };
    } else if (count - last.count >= shortest(count, mean)) {
      this.series.append(time, Math.max(0, (count * mean - last.count * last.mean) / (count - last.count)));
      this.#last = { count, mean };
    }
  }
}

function shortest(count: number, mean: number): number {
  const rounding = Number.isInteger(mean) ? 1 : 0.05;
  return mean > 0 ? Math.max(1, (count * rounding) / (tolerance * mean)) : 1;
}
