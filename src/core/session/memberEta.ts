import { estimate, type ProgressRow } from "./estimate";
import type { Eta } from "./eta";
import type { MetricSeries } from "./series";

/** The first of ascending times that is not before a moment; rows are dated a little off where a log is read late. */
function firstFrom(times: Float64Array, since: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < since - 1000) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** When a count will have reached its total, by what it did since its run began; undefined where that says nothing yet. */
export function etaOf(
  done: MetricSeries | undefined,
  total: number | undefined,
  { at, since }: { readonly at: number; readonly since: number },
): Eta | undefined {
  if (!done || total === undefined) return undefined;
  const { times, values } = done;
  // Another run may be of another speed: what older ones did is history.
  const from = Math.max(firstFrom(times, since), times.length - 20_000);
  const rows: ProgressRow[] = [];
  for (let i = from; i < times.length; i++) rows.push({ t: (times[i] ?? 0) / 1000, done: values[i] ?? 0, total });
  const left = estimate(rows, at / 1000);
  return left ? { ...left, at } : undefined;
}
