import type { ChartOwner } from "./chartOwners";

/** A span of time, ms since 1970. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** First and last moment of all that could be drawn; undefined while there is nothing. */
export function chartExtent(owners: readonly ChartOwner[]): TimeSpan | undefined {
  const known = owners
    .flatMap(({ tracks }) => [...tracks.values()].flatMap(({ kept, live }) => [kept, live]))
    .filter((series) => series !== undefined && series.length > 0);
  if (known.length === 0) return undefined;
  let [from, to] = [Infinity, -Infinity];
  for (const series of known) {
    const times = series?.times ?? [];
    from = Math.min(from, times[0] ?? Infinity);
    to = Math.max(to, times[times.length - 1] ?? -Infinity);
  }
  return { from, to };
}
