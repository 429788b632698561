/** One metric over time, append-only. Times never go back; a sample older than the last is dropped. */
export class MetricSeries {
  readonly name: string;
  #times = new Float64Array(64);
  #values = new Float64Array(64);
  #length = 0;

  constructor(name: string) {
    this.name = name;
  }

  get length(): number {
    return this.#length;
  }

  /** Milliseconds since 1970, ascending. A view: valid until the next append. */
  get times(): Float64Array {
    return this.#times.subarray(0, this.#length);
  }

  /** Same length as `times`; NaN is kept, it is news. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  append(time: number, value: number): void {
    const last = this.#length === 0 ? -Infinity : (this.#times[this.#length - 1] ?? -Infinity);
    if (time < last) return;
    if (this.#length === this.#times.length) {
      this.#times = grown(this.#times);
      this.#values = grown(this.#values);
    }
    this.#times[this.#length] = time;
    this.#values[this.#length] = value;
    this.#length++;
  }
}

function grown(array: Float64Array): Float64Array<ArrayBuffer> {
  const next = new Float64Array(array.length * 2);
  next.set(array);
  return next;
}

/** All series of one member or GPU. A new object for each change, so that views may compare by `!==`; the data is shared. */
export interface SeriesSet {
  readonly byName: ReadonlyMap<string, MetricSeries>;
}

export const noSeries: SeriesSet = { byName: new Map() };

/** The set with some samples more; names that are new get a series of their own. */
export function withSamples(set: SeriesSet, time: number, samples: Readonly<Record<string, number>>): SeriesSet {
  const names = Object.keys(samples);
  if (names.length === 0) return set;
  const missing = names.filter((name) => !set.byName.has(name));
  const byName =
    missing.length === 0
      ? set.byName
      : new Map([...set.byName, ...missing.map((name) => [name, new MetricSeries(name)] as const)]);
  for (const name of names) byName.get(name)?.append(time, samples[name] ?? NaN);
  return { byName };
}
