/** One measured figure. `bar` is what must hold: at most, or at least, that much of `value` or of `ratio`. */
export interface Figure {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  /** What it is measured against in the same run; null where there is none or it is not installed. */
  readonly rival?: string;
  readonly rival_value?: number | null;
  /** How many times as good as the rival: above 1 is better than it. */
  readonly ratio?: number | null;
  readonly bar?: string;
  readonly ok?: boolean | null;
  /** Repetitions behind a median. */
  readonly n?: number;
  readonly note?: string;
}

/** Prints a figure as one line of JSON. */
export function print(figure: Figure): void {
  const { name, value, unit, rival = null, rival_value = null, ratio = null, bar = null, ok = null, ...more } = figure;
  const line = { name, value, unit, rival, rival_value, ratio, bar, ok, ...more };
  const rounded = (_key: string, part: unknown): unknown =>
    typeof part === "number" ? Number(part.toPrecision(4)) : part;
  process.stdout.write(`${JSON.stringify(line, rounded)}\n`);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** A positive number from the environment. */
export function setting(name: string, otherwise: number): number {
  const value = Number(process.env[name]);
  return value > 0 ? value : otherwise;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
