import { median } from "./session/median";

/** Samples of one line: ascending times in ms since 1970, and as many values. */
export interface Samples {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/**
 * Samples as they travel: arrays of their own, not views on larger ones. Seven digits are more than a chart shows. A time
 * of NaN is a gap: nothing was seen for long between the samples beside it.
 */
export interface ThinSamples {
  readonly times: Float64Array;
  readonly values: Float32Array;
}

/** What of a line is drawn. */
export interface ThinWindow {
  /** ms since 1970. */
  readonly from: number;
  readonly to: number;
  /** How many pixels there are for it. */
  readonly columns: number;
}

/** A silence is a gap, and not a straight line, when it is longer than this and out of proportion */
const shortestGapMs = 90_000;
const gapFactor = 4;
/** to so many distances before it. */
const remembered = 8;

/**
 * The samples of a window, and one beyond each of its ends so that lines run out of the picture, chosen so that a line
 * drawn through them looks the same: the lowest and the highest of each column of pixels, so that a single spike stays
 * in sight, and a NaN, since it is news. Columns begin at multiples of a round length of time, so that a window
 * that moves on does not make the line tremble. Where nothing was seen for long, there is a gap. Always copies.
 * After Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014, without its first and
 * last of each span.
 * @param next given to get only what came since: the index of the first sample that is new
 */
export function thin(samples: Samples, window: ThinWindow, next?: number): ThinSamples {
  const { times } = samples;
  const first = next ?? Math.max(0, firstWith(times, (time) => time >= window.from) - 1);
  // Several samples may be of the last moment.
  const after = next === undefined ? firstWith(times, (time) => time > window.to) + 1 : times.length;
  const end = Math.min(times.length, after);
  const picked = new Picked(samples);
  for (let index = Math.max(1, first - remembered); index < first; index++) picked.pass(index);
  if (end - first <= 2 * window.columns) {
    for (let index = first; index < end; index++) picked.add(index);
  } else if (end > first) {
    picked.add(first);
    const width = roundLength((window.to - window.from) / window.columns);
    let index = first + 1;
    while (index < end - 1) index = picked.addColumn(index, end - 1, width);
    picked.add(end - 1);
  }
  return picked.samples;
}

/** The first index whose time fits; all later ones do as well, since times ascend. */
function firstWith(times: ArrayLike<number>, fits: (time: number) => boolean): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(times[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Picked {
  readonly #from: Samples;
  readonly #times: number[] = [];
  readonly #values: number[] = [];
  /** The last distances between samples, in a ring. */
  readonly #distances = new Float64Array(remembered);
  #passed = 0;

  constructor(from: Samples) {
    this.#from = from;
  }

  get samples(): ThinSamples {
    return { times: Float64Array.from(this.#times), values: Float32Array.from(this.#values) };
  }

  /** Takes notice of how long a sample comes after the one before it; true if that is a gap. */
  pass(index: number): boolean {
    const { times } = this.#from;
    if (index === 0) return false;
    const distance = (times[index] ?? 0) - (times[index - 1] ?? 0);
    const isGap = distance > shortestGapMs && this.#passed > 0 && distance > gapFactor * this.#usual();
    this.#distances[this.#passed % remembered] = distance;
    this.#passed++;
    return isGap;
  }

  #usual(): number {
    return median([...this.#distances.subarray(0, Math.min(remembered, this.#passed))]);
  }

  add(index: number): void {
    if (this.pass(index) && this.#times.length > 0) this.#push(NaN, NaN);
    this.#push(this.#from.times[index] ?? NaN, this.#from.values[index] ?? NaN);
  }

  /** Adds what stands for the column that begins at `first`; returns where the next one begins. */
  addColumn(first: number, end: number, width: number): number {
    const { times, values } = this.#from;
    if (this.pass(first)) this.#push(NaN, NaN);
    const columnEnd = (Math.floor((times[first] ?? 0) / width) + 1) * width;
    let [lowest, highest, none] = [-1, -1, -1];
    let [low, high] = [Infinity, -Infinity];
    let index = first;
    for (; index < end && (times[index] ?? Infinity) < columnEnd; index++) {
      const value = values[index] ?? NaN;
      if (Number.isNaN(value)) none = index;
      if (value < low) [low, lowest] = [value, index];
      if (value > high) [high, highest] = [value, index];
    }
    for (let passed = Math.max(first + 1, index - remembered); passed < index; passed++) this.pass(passed);
    this.#keep(lowest, highest, none);
    return index;
  }

  #keep(lowest: number, highest: number, none: number): void {
    const { times, values } = this.#from;
    const [one, other] = lowest < highest ? [lowest, highest] : [highest, lowest];
    const order = none < 0 ? [one, other] : [one, other, none].sort((a, b) => a - b);
    let last = -1;
    for (const index of order) {
      if (index >= 0 && index !== last) this.#push(times[index] ?? NaN, values[index] ?? NaN);
      last = index;
    }
  }

  #push(time: number, value: number): void {
    this.#times.push(time);
    this.#values.push(value);
  }
}

/** 1, 2 or 5 times a power of ten, not below `ms` nor below 1. */
function roundLength(ms: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return ([1, 2, 5].find((factor) => factor * power >= ms) ?? 10) * power;
}
