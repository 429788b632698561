import { center, layers, scale } from "./estimateWeights";

/** What a forecast has to be changed by; logarithms. */
export interface Correction {
  /** Added to the pace. */
  readonly pace: number;
  /** The truth is in 8 of 10 cases at most so far below and above what is then said. */
  readonly below: number;
  readonly above: number;
}

/** Inputs count up to so many standard deviations of the runs that the table was fitted on. */
const farthest = 4;
/** Nobody should wait seven times as long, or not at all, because of a table. */
const mostChange = 2;

/**
 * The correction for a run that is judged by `inputs` (of estimateInputs.ts, in their order): two layers of weighted
 * sums, each bent by tanh, as fitted by scripts/eta/fit.py.
 */
export function correctionOf(inputs: readonly number[]): Correction {
  const seen = inputs.map((value, i) =>
    Math.max(-farthest, Math.min(farthest, (value - (center[i] ?? 0)) / (scale[i] ?? 1))),
  );
  const [change = 0, below = 0, above = 0] = layers.reduce<readonly number[]>((values, { weights, offsets }, i) => {
    const sums = offsets.map((offset, unit) => weighted(values, weights, unit) + offset / 1000);
    return i < layers.length - 1 ? sums.map((sum) => Math.tanh(sum)) : sums;
  }, seen);
  return {
    pace: Math.max(-mostChange, Math.min(mostChange, change)),
    below: positive(below),
    above: positive(above),
  };
}

/** Weights are kept in thousandths, those of one unit after another. */
function weighted(values: readonly number[], weights: readonly number[], unit: number): number {
  let sum = 0;
  for (const [i, value] of values.entries()) sum += (value * (weights[unit * values.length + i] ?? 0)) / 1000;
  return sum;
}

function positive(value: number): number {
  return Math.log1p(Math.exp(value));
}
