import type { ChartOptions } from "chart.js";
import type { ChartInfo, Span } from "../../protocol/webview";
import type { Theme } from "./theme";
import { tickLabel, timeTicks } from "./timeAxis";
import { sayTick } from "./units";

/** Width of all value axes, so that the same moment stands at the same place in each column. */
const axisWidth = 48;

/** What a chart's axes span, read anew at each drawing. */
interface Axes {
  readonly span: () => Span;
  /** Lowest and highest value that is drawn; undefined where there is none. */
  readonly values: () => { readonly min: number; readonly max: number } | undefined;
}

/** How a chart is drawn: quiet, in the theme's colours, without motion. Made anew for another theme or kind of axis. */
export function chartOptions(
  info: ChartInfo,
  { theme, log, axes }: { readonly theme: Theme; readonly log: boolean; readonly axes: Axes },
): ChartOptions<"line"> {
  return {
    animation: false,
    // The page minds size and pointer, for all charts together.
    responsive: false,
    events: [],
    // Room for the words of the marks and of the last moment; the same for all, so that charts stand in line.
    layout: { padding: { top: 14, right: 16 }, autoPadding: false },
    scales: { x: timeScale(theme, axes.span), y: { ...valueScale(info, theme, log), ...limits(info, axes.values) } },
  };
}

type Scale = NonNullable<NonNullable<ChartOptions<"line">["scales"]>[string]>;

function timeScale(theme: Theme, span: Axes["span"]): Scale {
  return {
    type: "linear",
    bounds: "data",
    afterDataLimits: (axis) => {
      ({ from: axis.min, to: axis.max } = span());
    },
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
      callback: (value) => tickLabel(Number(value), span().to - span().from),
    },
  };
}

/** Lines are no data of chart.js: it is told what they span, and makes of that what it makes of its own. */
function limits({ min, max }: ChartInfo, values: Axes["values"]): Pick<Scale, "afterDataLimits"> {
  return {
    afterDataLimits: (axis) => {
      const range = values();
      if (range) [axis.min, axis.max] = [min ?? range.min, max ?? range.max];
      if (hasRange(axis)) axis.handleTickRangeOptions();
    },
  };
}

/** The numeric scales; the library's types do not say which one a hook is given. */
function hasRange(axis: object): axis is { handleTickRangeOptions: () => void } {
  return "handleTickRangeOptions" in axis;
}

/** A value axis as all charts have it. */
export function valueScale(
  info: Pick<ChartInfo, "unit" | "min" | "max" | "precision">,
  theme: Theme,
  log: boolean,
): Scale {
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
    // So few fit without being measured.
    ticks: {
      ...ticks,
      ...(info.precision !== undefined && { precision: info.precision }),
      autoSkip: false,
      callback: (value) => sayTick(Number(value), info.unit),
    },
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
