import type { Chart, Plugin } from "chart.js";
import type { ChartLineInfo, Span } from "../../protocol/webview";
import type { LineData } from "./lineData";
import { blend, faint, type Theme } from "./theme";

/** A line as it is to be drawn. */
export interface DrawnLine {
  readonly line: ChartLineInfo;
  readonly data: LineData;
}

/** What of a chart is drawn, read anew at each drawing. */
interface Drawn {
  readonly lines: readonly DrawnLine[];
  readonly theme: Theme;
  readonly span: Span;
}

/**
 * Draws the lines. Drawn here, a sample is two numbers; as chart.js's own data each would be several objects, and a page
 * of charts would stand still for three times as long.
 */
export function linesPlugin(drawn: () => Drawn): Plugin<"line"> {
  return {
    id: "lines",
    beforeDatasetsDraw: (chart) => {
      const { left, top, width, height } = chart.chartArea;
      chart.ctx.save();
      chart.ctx.beginPath();
      // A point at the edge is whole.
      chart.ctx.rect(left - 3, top - 3, width + 6, height + 6);
      chart.ctx.clip();
      drawLines(chart, drawn());
      chart.ctx.restore();
    },
  };
}

function drawLines(chart: Chart, { lines, theme, span }: Drawn): void {
  const { ctx, chartArea } = chart;
  const place = placing(chart, span);
  ctx.lineJoin = "bevel";
  for (const [index, { line, data }] of lines.entries()) {
    // `low` comes just before `high`.
    const low = lines[index - 1];
    if (line.look !== "high" || low?.line.look !== "low") continue;
    ctx.fillStyle = faint(lineColor(line, theme), 22);
    fillBetween(ctx, place, { high: data, low: low.data });
  }
  // The first lies on top, and a mean over the line that it is of.
  const order = [...lines].reverse().sort((a, b) => Number(a.line.look === "thin") - Number(b.line.look === "thin"));
  for (const { line, data } of order) {
    const edge = line.look === "low" || line.look === "high";
    const color = lineColor(line, theme);
    ctx.strokeStyle = edge ? faint(color, 45) : color;
    ctx.fillStyle = ctx.strokeStyle;
    // Where a line fills its pixels, a width of one is clearer, and much faster to paint.
    const width = data.times.length > chartArea.width ? theme.denseWidth : theme.lineWidth;
    ctx.lineWidth = line.look === "line" ? width : width * 0.6;
    ctx.setLineDash(line.color >= theme.lines.length ? [4, 3] : line.look === "thin" ? [2, 2] : []);
    drawLine(ctx, place, data);
  }
}

/** Where a sample stands. */
interface Placing {
  readonly x: (time: number) => number;
  readonly y: (value: number) => number;
}

function placing({ scales, chartArea }: Chart, { from, to }: Span): Placing {
  const { left, width, bottom, height } = chartArea;
  const axis = scales["y"];
  const isLog = axis?.type === "logarithmic";
  const on = (value: number): number => (isLog ? Math.log10(value) : value);
  const [min, max] = [on(axis?.min ?? 0), on(axis?.max ?? 1)];
  const [perMs, perUnit] = [width / (to - from), height / (max - min)];
  return {
    x: (time) => left + (time - from) * perMs,
    y: isLog
      ? (value) => (value > 0 ? bottom - (Math.log10(value) - min) * perUnit : NaN)
      : (value) => bottom - (value - min) * perUnit,
  };
}

function drawLine(ctx: CanvasRenderingContext2D, { x, y }: Placing, { times, values }: LineData): void {
  let [run, startX, startY] = [0, 0, 0];
  ctx.beginPath();
  for (let index = 0; index <= times.length; index++) {
    const [atX, atY] = [x(times[index] ?? NaN), y(values[index] ?? NaN)];
    if (Number.isNaN(atY)) {
      // A sample with no neighbour has no line to be seen by.
      if (run === 1) ctx.fillRect(startX - 2, startY - 2, 4, 4);
      run = 0;
    } else if (run++ === 0) {
      [startX, startY] = [atX, atY];
      ctx.moveTo(atX, atY);
    } else ctx.lineTo(atX, atY);
  }
  ctx.stroke();
}

/** Fills what lies between two lines, broken where the upper one is. */
function fillBetween(
  ctx: CanvasRenderingContext2D,
  { x, y }: Placing,
  { high, low }: { readonly high: LineData; readonly low: LineData },
): void {
  ctx.beginPath();
  for (const [first, end] of unbroken(high)) {
    for (let index = first; index < end; index++) {
      const [atX, atY] = [x(high.times[index] ?? NaN), y(high.values[index] ?? NaN)];
      if (index === first) ctx.moveTo(atX, atY);
      else ctx.lineTo(atX, atY);
    }
    const [from, to] = [high.times[first] ?? 0, high.times[end - 1] ?? 0];
    for (let index = low.indexAfter(to) - 1; index >= 0 && (low.times[index] ?? 0) >= from; index--) {
      const atY = y(low.values[index] ?? NaN);
      if (!Number.isNaN(atY)) ctx.lineTo(x(low.times[index] ?? NaN), atY);
    }
    ctx.closePath();
  }
  ctx.fill();
}

/** Where a line goes on without a break: first index and the one after the last. */
function* unbroken({ values }: LineData): Generator<readonly [first: number, end: number]> {
  let first = 0;
  for (let index = 0; index <= values.length; index++) {
    if (!Number.isNaN(values[index] ?? NaN)) continue;
    if (index > first) yield [first, index];
    first = index + 1;
  }
}

/** The colour of a line in its chart and its legend. */
export function lineColor({ color, look }: ChartLineInfo, theme: Theme): string {
  const own = theme.lines[color % theme.lines.length] ?? theme.foreground;
  return look === "thin" ? blend(own, theme.foreground) : own;
}

/** Lowest and highest value of lines within a span; undefined where there is none. */
export function valueRange(
  lines: readonly DrawnLine[],
  { from, to }: Span,
  log: boolean,
): { readonly min: number; readonly max: number } | undefined {
  let [min, max] = [Infinity, -Infinity];
  for (const { times, values } of lines.map(({ data }) => data)) {
    for (let index = 0; index < times.length; index++) {
      const [time, value] = [times[index] ?? NaN, values[index] ?? NaN];
      if (time < from || time > to || !Number.isFinite(value) || (log && value <= 0)) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return min > max ? undefined : { min, max };
}
