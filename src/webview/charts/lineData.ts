/** The samples of one line as far as the page has them: times in ms since 1970, and values as they are drawn. */
export class LineData {
  readonly #divisor: number;
  #times: number[] = [];
  #values: number[] = [];
  /** When the value was not a number; that is news, and not a gap. */
  #nans: number[] = [];

  /** @param divisor what values are divided by as they come. */
  constructor(divisor: number) {
    this.#divisor = divisor;
  }

  get times(): readonly number[] {
    return this.#times;
  }

  /** As many as times; NaN where the line breaks. */
  get values(): readonly number[] {
    return this.#values;
  }

  get nans(): readonly number[] {
    return this.#nans;
  }

  clear(): void {
    this.#times = [];
    this.#values = [];
    this.#nans = [];
  }

  /** Adds samples at the end; a time of NaN is a gap. */
  append(times: Float64Array, values: Float32Array): void {
    for (let index = 0; index < times.length; index++) {
      const time = times[index] ?? NaN;
      const isGap = Number.isNaN(time);
      const value = isGap ? NaN : (values[index] ?? NaN) / this.#divisor;
      this.#times.push(isGap ? (this.#times.at(-1) ?? 0) + 1 : time);
      this.#values.push(value);
      if (!isGap && Number.isNaN(value)) this.#nans.push(time);
    }
  }

  /** Lets go what lies before the window, but for one sample. */
  dropBefore(from: number): void {
    const first = this.#times.findIndex((time) => time >= from);
    if (first <= 1) return;
    this.#times.splice(0, first - 1);
    this.#values.splice(0, first - 1);
    this.#nans = this.#nans.filter((time) => time >= from);
  }

  /** The last sample; NaN where that was not a number. */
  get latest(): number | undefined {
    return this.#values.at(-1);
  }

  /** What the line shows at a moment: the last sample by then, nothing in a gap or after its end. */
  at(time: number): number | undefined {
    const index = this.indexAfter(time) - 1;
    const [moment, next] = [this.#times[index], this.#times[index + 1]];
    if (moment === undefined || (next === undefined && time > moment + lastsMs)) return undefined;
    const value = this.#values[index] ?? NaN;
    // A break made for a gap follows its sample at once; a sample that is not a number has been told.
    const isGap = Number.isNaN(value) && !this.#nans.includes(moment);
    return isGap ? undefined : value;
  }

  /** Index of the first sample after a moment. */
  indexAfter(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The last sample of a line stands for so long. */
const lastsMs = 90_000;
