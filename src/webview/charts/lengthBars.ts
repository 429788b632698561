import type { Chart, ChartArea, ChartOptions, Plugin } from "chart.js";
import { sharePercent } from "../../core/session/tokenLengths";
import { count } from "../../core/session/words";
import type { LengthInfo } from "../../protocol/webview";
import { valueScale } from "./chartOptions";
import { shortened } from "./marks";
import { sayTick } from "./units";
import type { Theme } from "./theme";

/** What is drawn, read anew at each drawing. */
interface Bars {
  readonly lengths: LengthInfo;
  /** The bar that is read off. */
  readonly chosen: LengthInfo["bins"][number] | undefined;
  readonly theme: Theme;
}

/** Axes of a histogram as the charts over time have theirs: tokens, and whole answers. Made anew for another theme. */
export function barOptions(theme: Theme, lengths: () => LengthInfo): ChartOptions<"line"> {
  return {
    animation: false,
    responsive: false,
    events: [],
    layout: { padding: { top: 14, right: 16 }, autoPadding: false },
    scales: {
      x: {
        type: "linear",
        bounds: "data",
        afterDataLimits: (axis) => {
          [axis.min, axis.max] = [0, lengths().bins.at(-1)?.to ?? 1];
        },
        // The library marks the end wherever that is, and no round number beside it.
        afterBuildTicks: (axis) => {
          const step = axis.ticks[1]?.value ?? 1;
          axis.ticks = Array.from({ length: Math.floor(axis.max / step) + 1 }, (_, index) => ({ value: index * step }));
        },
        grid: { display: false },
        border: { color: theme.axis },
        ticks: {
          color: theme.muted,
          font: { family: theme.font, size: 11 },
          maxRotation: 0,
          maxTicksLimit: 6,
          precision: 0,
          callback: (value) => sayTick(Number(value), { kind: "number" }),
        },
      },
      y: {
        ...valueScale({ unit: { kind: "number" }, min: 0, precision: 0 }, theme, false),
        afterDataLimits: (axis) => {
          [axis.min, axis.max] = [0, Math.max(1, ...lengths().bins.map(({ answers }) => answers))];
        },
      },
    },
  };
}

/** Draws the bars, and over them the limit with the share that it cut off. */
export function barsPlugin(bars: () => Bars): Plugin<"line"> {
  return {
    id: "bars",
    beforeDatasetsDraw: (chart) => {
      const drawn = bars();
      chart.ctx.save();
      drawBars(chart, drawn);
      drawLimit(chart, drawn);
      chart.ctx.restore();
    },
  };
}

function drawBars({ ctx, scales, chartArea: { bottom } }: Chart, { lengths, chosen, theme }: Bars): void {
  const [x, y] = [scales["x"], scales["y"]];
  if (!x || !y) return;
  const pixel = (tokens: number): number => Math.round(x.getPixelForValue(tokens));
  for (const bin of lengths.bins) {
    if (bin.answers === 0) continue;
    const [left, right] = [pixel(bin.from), pixel(bin.to)];
    // However few answers a bar is of, it is seen.
    const height = Math.max(1, Math.round(bottom - y.getPixelForValue(bin.answers)));
    ctx.fillStyle = bin === chosen ? theme.foreground : (theme.lines[0] ?? theme.foreground);
    const gap = right - left < 4 ? 0 : 1;
    ctx.fillRect(left, Math.round(bottom) - height, Math.max(1, right - left - gap), height);
  }
}

function drawLimit({ ctx, scales, chartArea }: Chart, { lengths, chosen, theme }: Bars): void {
  const { limit, cutShare } = lengths;
  const axis = scales["x"];
  if (limit === undefined || !axis) return;
  const x = Math.round(axis.getPixelForValue(limit)) + 0.5;
  const beyond = x > chartArea.right + 1;
  ctx.strokeStyle = ctx.fillStyle = theme.failed;
  if (!beyond) drawLine(ctx, x, chartArea);
  // What is read off stands there.
  if (chosen) return;
  ctx.font = `10px ${theme.font}`;
  ctx.textBaseline = "bottom";
  const cut = cutShare === undefined ? "" : ` · ${sharePercent(cutShare)} cut off`;
  const { left, right, top } = chartArea;
  const label = shortened(ctx, `limit ${count(limit)}${cut}${beyond ? " →" : ""}`, right - left);
  ctx.fillText(label, Math.max(left, Math.min(x - 2, right - ctx.measureText(label).width)), top - 3);
}

function drawLine(ctx: CanvasRenderingContext2D, x: number, { top, bottom }: ChartArea): void {
  ctx.lineWidth = 1;
  ctx.setLineDash([4, 3]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
}
