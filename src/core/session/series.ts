/** So many samples of one metric are kept at most: 256 kB, nine hours at one sample each 2 s before any is dropped. */
export const mostSamples = 16_384;
/** Of so many neighbours the lowest and the highest stay when older samples are made fewer. */
const groupSize = 4;

/**
 * One metric over time. Times never go back; a sample older than the last is dropped. Bounded: when it is full, the
 * older half is halved, each four samples to their lowest and highest. What is old is thus the coarser the older it
 * is, but each extreme and each NaN's place stays.
 */
export class MetricSeries {
  readonly name: string;
  #times = new Float64Array(64);
  #values = new Float64Array(64);
  #length = 0;
  #appended = 0;
  #most = mostSamples;

  constructor(name: string) {
    this.name = name;
  }

  /** Samples that are kept. */
  get length(): number {
    return this.#length;
  }

  /** Samples that there is room for; each takes 16 bytes. Infinite for one that had to make its old samples fewer. */
  get wanted(): number {
    return this.#times.length >= this.#most ? Infinity : this.#times.length;
  }

  /** Samples that were ever appended; see `indexAfter`. */
  get appended(): number {
    return this.#appended;
  }

  /** When the last sample was taken; -Infinity before there is one. */
  get lastTime(): number {
    return this.#length === 0 ? -Infinity : (this.#times[this.#length - 1] ?? -Infinity);
  }

  /** Since when the last value has not changed; undefined while there is none. A NaN never stands still. */
  get standsSince(): number | undefined {
    let at = this.#length - 1;
    const last = this.#values[at];
    while (at > 0 && this.#values[at - 1] === last) at--;
    return at < 0 ? undefined : this.#times[at];
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
    if (time < this.lastTime) return;
    if (this.#length >= this.#most) this.#coarsen();
    if (this.#length === this.#times.length) this.#resize(Math.min(this.#most, 2 * this.#length));
    this.#times[this.#length] = time;
    this.#values[this.#length] = value;
    this.#length++;
    this.#appended++;
  }

  /** From now on so many samples are kept at most, a power of two from 64 on; views on the samples hold no longer. */
  limit(most: number): void {
    this.#most = most;
    while (this.#length > most) this.#coarsen();
    if (this.#times.length > most) this.#resize(most);
  }

  /**
   * Where the samples begin that came after the first `count` that were appended, and not before `time` (of the last of
   * those): the two hold together also where a reader comes so late that some of what it missed was made fewer.
   */
  indexAfter(count: number, time = -Infinity): number {
    let index = Math.max(0, this.#length - (this.#appended - count));
    while (index < this.#length && (this.#times[index] ?? 0) < time) index++;
    return index;
  }

  #coarsen(): void {
    const half = groupSize * Math.ceil(this.#length / (2 * groupSize));
    let kept = 0;
    for (let start = 0; start < half; start += groupSize) {
      for (const index of extremes(this.#values, start, start + groupSize)) {
        this.#times[kept] = this.#times[index] ?? NaN;
        this.#values[kept] = this.#values[index] ?? NaN;
        kept++;
      }
    }
    this.#times.copyWithin(kept, half, this.#length);
    this.#values.copyWithin(kept, half, this.#length);
    this.#length -= half - kept;
  }

  #resize(room: number): void {
    const [times, values] = [this.times, this.values];
    this.#times = new Float64Array(room);
    this.#values = new Float64Array(room);
    this.#times.set(times);
    this.#values.set(values);
  }
}

/** The lowest, the highest and a NaN among some samples, in their order. At least one goes. */
function extremes(values: Float64Array, start: number, end: number): readonly number[] {
  let [lowest, highest, none] = [-1, -1, -1];
  for (let index = start; index < end; index++) {
    const value = values[index] ?? NaN;
    if (Number.isNaN(value)) none = index;
    else {
      if (lowest < 0 || value < (values[lowest] ?? NaN)) lowest = index;
      if (highest < 0 || value >= (values[highest] ?? NaN)) highest = index;
    }
  }
  return [...new Set([lowest, highest, none])].filter((index) => index >= 0).sort((a, b) => a - b);
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
  let { byName } = set;
  for (const name of names) {
    let series = byName.get(name);
    if (!series) {
      series = new MetricSeries(name);
      byName = new Map([...byName, [name, series]]);
    }
    series.append(time, samples[name] ?? NaN);
  }
  return { byName };
}
