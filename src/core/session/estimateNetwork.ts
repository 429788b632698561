import { center, layers, scale } from "./estimateWeights";

/** What a forecast has to be changed by; logarithms. */
export interface Correction {
  /** Added to the pace. */
  readonly pace: number;
  /** The truth is in 8 of 10 cases at most so far below and above what is then said. */
  readonly below: number;
  readonly above: number;
}

interface ReadLayer {
  readonly weights: Int8Array;
  readonly steps: readonly number[];
  readonly offsets: readonly number[];
}

/** Inputs count up to so many standard deviations of the runs that the table was fitted on. */
const farthest = 4;
/** Nobody should wait seven times as long, or not at all, because of a table. */
const mostChange = 2;
/** Steps and offsets are kept in these. */
const millionth = 1e-6;

let read: readonly ReadLayer[] | undefined;

/**
 * The correction for a run that is judged by `inputs` (of estimateInputs.ts, in their order): layers of weighted sums,
 * each bent and added to what it was made of, as fitted by scripts/etaFit.py. The table is unpacked on first use.
 */
export function correctionOf(inputs: readonly number[]): Correction {
  read ??= layers.map(({ weights, steps, offsets }) => ({ weights: signedBytes(weights), steps, offsets }));
  let values = Float64Array.from(inputs, (value, i) =>
    Math.max(-farthest, Math.min(farthest, (value - (center[i] ?? 0)) / (scale[i] ?? 1))),
  );
  for (const [i, layer] of read.entries()) {
    const sums = sumsOf(values, layer);
    if (i < read.length - 1) for (const [unit, sum] of sums.entries()) sums[unit] = bent(sum);
    if (i > 0 && i < read.length - 1) for (const [unit, sum] of sums.entries()) sums[unit] = sum + (values[unit] ?? 0);
    values = sums;
  }
  const [change = 0, below = 0, above = 0] = values;
  return {
    pace: Math.max(-mostChange, Math.min(mostChange, change)),
    below: positive(below),
    above: positive(above),
  };
}

function sumsOf(values: Float64Array, { weights, steps, offsets }: ReadLayer): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(offsets.length);
  for (let unit = 0; unit < sums.length; unit++) {
    const from = unit * values.length;
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) * (weights[from + i] ?? 0);
    sums[unit] = (sum * (steps[unit] ?? 0) + (offsets[unit] ?? 0)) * millionth;
  }
  return sums;
}

function signedBytes(base64: string): Int8Array {
  return Int8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

function bent(value: number): number {
  return value / (1 + Math.exp(-value));
}

function positive(value: number): number {
  return Math.log1p(Math.exp(value));
}
