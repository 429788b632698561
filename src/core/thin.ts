/** Samples of one line: ascending times in ms since 1970, and as many values. */
export interface Samples {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Samples as they travel: arrays of their own, not views on larger ones. */
export interface ThinSamples {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/**
 * At most `limit` (at least 8) of the samples, chosen so that a line drawn through them looks the same: the lowest and
 * the highest of each of equally long spans of time, so that a single spike stays in sight; NaN stays where it was,
 * since it breaks the line; the first and the last sample stay. Always copies.
 * After Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014, without its first and
 * last of each span.
 */
export function thin(samples: Samples, limit: number, from = 0): ThinSamples {
  const { times, values } = samples;
  const { length } = times;
  if (length - from <= limit) return pick(samples, range(from, length));
  const start = times[from] ?? 0;
  // Up to three of a span are kept (lowest, highest, a NaN), and both ends.
  const spans = Math.max(1, Math.floor((Math.max(8, limit) - 2) / 3));
  const width = ((times[length - 1] ?? start) - start) / spans;
  if (!(width > 0)) return pick(samples, [from, length - 1]);
  const kept: number[] = [from];
  let index = from + 1;
  for (let span = 1; span <= spans; span++) {
    const end = span === spans ? Infinity : start + span * width;
    index = keepOfSpan({ times, values }, kept, index, end);
  }
  kept.push(length - 1);
  return pick(samples, kept);
}

/** Adds what is kept of the samples before `end`, the very last one excepted; returns the first sample after them. */
function keepOfSpan({ times, values }: Samples, kept: number[], first: number, end: number): number {
  let lowest = -1;
  let highest = -1;
  let gap = -1;
  let index = first;
  for (; index < times.length - 1 && (times[index] ?? Infinity) < end; index++) {
    const value = values[index] ?? NaN;
    if (Number.isNaN(value)) gap = index;
    else {
      if (lowest < 0 || value < (values[lowest] ?? NaN)) lowest = index;
      if (highest < 0 || value > (values[highest] ?? NaN)) highest = index;
    }
  }
  const chosen = new Set([lowest, highest, gap].filter((at) => at >= 0));
  kept.push(...[...chosen].sort((a, b) => a - b));
  return index;
}

function pick({ times, values }: Samples, indices: readonly number[]): ThinSamples {
  const picked = { times: new Float64Array(indices.length), values: new Float64Array(indices.length) };
  indices.forEach((index, place) => {
    picked.times[place] = times[index] ?? NaN;
    picked.values[place] = values[index] ?? NaN;
  });
  return picked;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
