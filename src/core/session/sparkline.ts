import type { Span } from "./reportFigures";
import type { MetricSeries } from "./series";

/** Size of the picture, CSS pixels. */
const [width, height] = [640, 96];
/** Samples further apart than this are not joined, ms. */
const joinedMs = 10 * 60_000;
/** Seen on light and on dark ground: a picture inside Markdown does not know the theme. */
const [line, frame] = ["#3794ff", "#808080"];

/**
 * A series of a span as an SVG picture of its lowest and highest values a pixel, from 0 (or the lowest below) to the
 * highest. Numbers alone go into it, so nothing of a host can stand in it.
 */
export function sparkline({ times, values }: MetricSeries, { from, to }: Span): string {
  const columns = new Map<number, { low: number; high: number; at: number }>();
  let [least, most] = [0, -Infinity];
  for (let index = 0; index < times.length; index++) {
    const [at, value] = [times[index] ?? 0, values[index] ?? NaN];
    if (at < from || at > to || !Number.isFinite(value)) continue;
    const x = Math.round(((at - from) / Math.max(1, to - from)) * width);
    const column = columns.get(x);
    columns.set(x, { low: Math.min(value, column?.low ?? value), high: Math.max(value, column?.high ?? value), at });
    [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  const y = (value: number): string => (height - 4 - ((value - least) / Math.max(1e-9, most - least)) * (height - 8)).toFixed(1); // prettier-ignore
  let path = "";
  let last = -Infinity;
  for (const [x, { low, high, at }] of [...columns].sort(([a], [b]) => a - b)) {
    path += `${at - last > joinedMs ? "M" : "L"}${String(x)} ${y(high)}`;
    if (low !== high) path += `L${String(x)} ${y(low)}`;
    last = at;
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}">` +
    `<rect x="0.5" y="0.5" width="${String(width - 1)}" height="${String(height - 1)}" fill="none" stroke="${frame}" stroke-opacity="0.5"/>` +
    `<path d="${path}" fill="none" stroke="${line}" stroke-width="1.5" stroke-linecap="round"/></svg>`
  );
}

/** Counts by equal steps as an SVG picture of bars, with a line where the limit is. `limit`: in the unit of the bars. */
export function barPicture(
  bars: readonly { readonly from: number; readonly to: number; readonly answers: number }[],
  limit: number | undefined,
): string {
  const most = Math.max(1, ...bars.map(({ answers }) => answers));
  const end = bars.at(-1)?.to ?? 1;
  const x = (value: number): string => ((value / end) * width).toFixed(1);
  const rects = bars.map(({ from, to, answers }) => {
    const tall = (answers / most) * (height - 8);
    const wide = Math.max(1, ((to - from) / end) * width - 1);
    return `<rect x="${x(from)}" y="${(height - tall).toFixed(1)}" width="${wide.toFixed(1)}" height="${tall.toFixed(1)}" fill="${line}"/>`;
  });
  const mark = limit === undefined || limit > end ? "" : `<path d="M${x(limit)} 0V${String(height)}" stroke="#f14c4c" stroke-dasharray="4 3"/>`; // prettier-ignore
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}">` +
    `<path d="M0 ${String(height - 0.5)}H${String(width)}" stroke="${frame}"/>${rects.join("")}${mark}</svg>`
  );
}
