import type { MetricSeries } from "./series";

/** Goes through a series that grows, and on where it stopped: each sample is seen once. */
export class SeriesCursor {
  readonly #series: MetricSeries;
  /** How many samples that were ever appended lie behind, and the time of the last. */
  #count = 0;
  #time = -Infinity;

  constructor(series: MetricSeries) {
    this.#series = series;
  }

  /** What was not passed yet. Views: valid until the next append. */
  rest(): { readonly times: Float64Array; readonly values: Float64Array } {
    const { times, values } = this.#series;
    const from = this.#index();
    return { times: times.subarray(from), values: values.subarray(from) };
  }

  /** Passes the first `count` of the rest. */
  pass(count: number): void {
    if (count === 0) return;
    const index = this.#index() + count;
    const { appended, length, times } = this.#series;
    this.#time = times[index - 1] ?? this.#time;
    this.#count = appended - length + index;
  }

  #index(): number {
    return this.#series.indexAfter(this.#count, this.#time);
  }
}
