import type { ChartOptions } from "chart.js";
import type { ChartInfo, Span } from "../../protocol/webview";
import type { Theme } from "./theme";
import { tickLabel, timeTicks } from "./timeAxis";
import { sayTick } from "./units";

/** Width of all value axes, so that the same moment stands at the same place in each column. */
const axisWidth = 48;

/** How a chart is drawn: quiet, in the theme's colours, without motion. */
export function chartOptions(
  info: ChartInfo,
  { theme, span, log }: { readonly theme: Theme; readonly span: Span; readonly log: boolean },
): ChartOptions<"line"> {
  return {
    animation: false,
    parsing: false,
    normalized: true,
    maintainAspectRatio: false,
    // The pointer is minded by the page, for all charts together.
    events: [],
    // Room for the words of the marks and of the last moment; the same for all, so that charts stand in line.
    layout: { padding: { top: 14, right: 16 }, autoPadding: false },
    // A point at the edge is whole.
    clip: 3,
    elements: {
      point: { radius: 0, borderWidth: 0, hitRadius: 0 },
      line: { borderWidth: theme.lineWidth, borderJoinStyle: "bevel" },
    },
    scales: { x: timeScale(theme, span), y: valueScale(info, theme, log) },
  };
}

type Scale = NonNullable<NonNullable<ChartOptions<"line">["scales"]>[string]>;

function timeScale(theme: Theme, { from, to }: Span): Scale {
  return {
    type: "linear",
    min: from,
    max: to,
    grid: { display: false },
    border: { color: theme.axis },
    afterBuildTicks: (axis) => {
      const most = Math.max(2, Math.floor(axis.width / 70));
      axis.ticks = timeTicks(axis.min, axis.max, most).map((value) => ({ value }));
    },
    ticks: {
      color: theme.muted,
      font: { family: theme.font, size: 11 },
      maxRotation: 0,
      autoSkip: false,
      callback: (value) => tickLabel(Number(value), to - from),
    },
  };
}

function valueScale(info: ChartInfo, theme: Theme, log: boolean): Scale {
  const ticks = {
    color: theme.muted,
    font: { family: theme.font, size: 11 },
    padding: 6,
    maxTicksLimit: 5,
  };
  const looks = {
    grid: { color: theme.grid, tickLength: 0 },
    border: { display: false },
    afterFit: (axis: { width: number }): void => {
      axis.width = axisWidth;
    },
  };
  if (log) {
    const callback = (value: number | string): string | null =>
      /^[125]/.test(Number(value).toExponential()) ? sayTick(Number(value), info.unit) : null;
    return { type: "logarithmic", ...looks, ticks: { ...ticks, callback } };
  }
  return {
    type: "linear",
    ...(info.min !== undefined && { min: info.min }),
    ...(info.max !== undefined && { max: info.max }),
    grace: "5%",
    ...looks,
    ticks: { ...ticks, callback: (value) => sayTick(Number(value), info.unit) },
  };
}

/** Charts that may have a logarithmic axis: counts, losses and speeds, not shares and temperatures. */
export function mayBeLog({ unit }: ChartInfo): boolean {
  return unit.kind === "number" || unit.kind === "rate";
}

/** Where a span stands in a chart, in pixels from the left of its canvas. */
export interface TimeScale {
  readonly left: number;
  readonly right: number;
  readonly span: Span;
}

/** The moment at a pixel. */
export function momentAt({ left, right, span }: TimeScale, x: number): number {
  return span.from + ((x - left) / Math.max(1, right - left)) * (span.to - span.from);
}

/** The pixel of a moment. */
export function pixelOf({ left, right, span }: TimeScale, at: number): number {
  return left + ((at - span.from) / (span.to - span.from)) * (right - left);
}
