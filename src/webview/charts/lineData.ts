import { thin } from "../../core/thin";
import type { LineSamples } from "../../protocol/webview";

/** A point as chart.js draws it; y is NaN where the line breaks. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** More samples than this are thinned again; a chart is seldom a thousand pixels wide. */
const most = 4000;
const thinned = 1800;
/** A silence is a gap, and not a straight line, when it is longer than this and out of proportion. */
const shortestGapMs = 90_000;
const gapFactor = 8;

/** The samples of one line as far as the page has them. */
export class LineData {
  #times: number[] = [];
  #values: number[] = [];
  readonly #divisor: number;

  /** @param divisor what values are divided by as they come. */
  constructor(divisor: number) {
    this.#divisor = divisor;
  }

  get times(): readonly number[] {
    return this.#times;
  }

  get values(): readonly number[] {
    return this.#values;
  }

  append({ times, values }: Omit<LineSamples, "key">): void {
    for (let i = 0; i < times.length; i++) {
      this.#times.push(times[i] ?? NaN);
      this.#values.push((values[i] ?? NaN) / this.#divisor);
    }
    if (this.#times.length <= most) return;
    const fewer = thin({ times: this.#times, values: this.#values }, thinned);
    this.#times = [...fewer.times];
    this.#values = [...fewer.values];
  }

  /** The last value that is a number. */
  get latest(): number | undefined {
    return this.#values.findLast((value) => Number.isFinite(value));
  }

  /** What to draw, at most about `limit` points: the line breaks where nothing was seen for long. */
  points(limit: number): Point[] {
    const { times, values } = thin({ times: this.#times, values: this.#values }, limit);
    const gap = gapLength(times);
    const points: Point[] = [];
    let before = Infinity;
    for (const [index, x] of times.entries()) {
      if (x - before > gap) points.push({ x: before + 1, y: NaN });
      points.push({ x, y: values[index] ?? NaN });
      before = x;
    }
    return points;
  }
}

/** From how long on a silence between samples is a gap. */
function gapLength(times: Float64Array): number {
  const distances = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const middle = distances.sort()[Math.floor(distances.length / 2)] ?? 0;
  return Math.max(shortestGapMs, middle * gapFactor);
}
