/** A point as chart.js draws it; y is NaN where the line breaks. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The samples of one line as far as the page has them. */
export class LineData {
  readonly #divisor: number;
  #points: Point[] = [];
  /** When the value was not a number; that is news, and not a gap. */
  #nans: number[] = [];

  /** @param divisor what values are divided by as they come. */
  constructor(divisor: number) {
    this.#divisor = divisor;
  }

  get points(): readonly Point[] {
    return this.#points;
  }

  get nans(): readonly number[] {
    return this.#nans;
  }

  clear(): void {
    this.#points = [];
    this.#nans = [];
  }

  /** Adds samples at the end; a time of NaN is a gap. */
  append(times: Float64Array, values: Float32Array): void {
    for (let index = 0; index < times.length; index++) {
      const time = times[index] ?? NaN;
      const y = (values[index] ?? NaN) / this.#divisor;
      if (Number.isNaN(time)) this.#points.push({ x: (this.#points.at(-1)?.x ?? 0) + 1, y: NaN });
      else {
        this.#points.push({ x: time, y });
        if (Number.isNaN(y)) this.#nans.push(time);
      }
    }
  }

  /** Lets go what lies before the window, but for one sample. */
  dropBefore(from: number): void {
    const first = this.#points.findIndex(({ x }) => x >= from);
    if (first > 1) this.#points.splice(0, first - 1);
    this.#nans = this.#nans.filter((time) => time >= from);
  }

  /** The last sample; NaN where that was not a number. */
  get latest(): number | undefined {
    return this.#points.at(-1)?.y;
  }

  /** What the line shows at a moment: the last sample by then, nothing in a gap or after its end. */
  at(time: number): number | undefined {
    const index = this.#indexAt(time);
    const [point, next] = [this.#points[index], this.#points[index + 1]];
    if (!point || (!next && time > point.x + lastsMs)) return undefined;
    // A break made for a gap follows its sample at once; a sample that is not a number has been told.
    const isGap = Number.isNaN(point.y) && !this.#nans.includes(point.x);
    return isGap ? undefined : point.y;
  }

  /** Index of the last point that is not after a moment; −1 before all. */
  #indexAt(time: number): number {
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#points[middle]?.x ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** The last sample of a line stands for so long. */
const lastsMs = 90_000;
