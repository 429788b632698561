import type { ChartOptions, TooltipItem } from "chart.js";
import type { ChartInfo } from "../../protocol/webview";
import type { Theme } from "./theme";
import { momentLabel, tickLabel, timeTicks } from "./timeAxis";
import { sayTick, sayValue } from "./units";

/** A span of time, ms since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How a chart is drawn: quiet, in the theme's colours, without motion. */
export function chartOptions(
  info: ChartInfo,
  { theme, span }: { readonly theme: Theme; readonly span: Span },
  lone = false,
): ChartOptions<"line"> {
  const font = { family: theme.font, size: 11 };
  return {
    animation: false,
    parsing: false,
    normalized: true,
    maintainAspectRatio: false,
    // Room for the words of the marks.
    layout: { padding: { top: 14 } },
    elements: {
      // A lone sample has no line to be seen by.
      point: { radius: lone ? 2 : 0, borderWidth: 0, hitRadius: 8, hoverRadius: 3, hoverBorderWidth: 0 },
      line: { borderWidth: 1.25, borderJoinStyle: "round" },
    },
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: {
      x: {
        type: "linear",
        min: span.from,
        max: Math.max(span.to, span.from + 60_000),
        grid: { display: false },
        border: { color: theme.grid },
        afterBuildTicks: (axis) => {
          axis.ticks = timeTicks(axis.min, axis.max, Math.max(2, Math.floor(axis.width / 70))).map((value) => ({
            value,
          }));
        },
        ticks: {
          color: theme.muted,
          font,
          maxRotation: 0,
          autoSkip: false,
          callback: (value) => tickLabel(Number(value), span.to - span.from),
        },
      },
      y: {
        type: "linear",
        ...(info.min !== undefined && { min: info.min }),
        ...(info.max !== undefined && { max: info.max }),
        grace: "5%",
        grid: { color: theme.grid, tickLength: 0 },
        border: { display: false },
        // All value axes are equally wide, so that the same moment stands at the same place in each column.
        afterFit: (axis) => {
          axis.width = 48;
        },
        ticks: {
          color: theme.muted,
          font,
          padding: 6,
          maxTicksLimit: 5,
          callback: (value) => sayTick(Number(value), info.unit),
        },
      },
    },
    plugins: { tooltip: tooltip(info, theme) },
  };
}

function tooltip(info: ChartInfo, theme: Theme): NonNullable<NonNullable<ChartOptions<"line">["plugins"]>["tooltip"]> {
  return {
    backgroundColor: theme.surface,
    borderColor: theme.border,
    borderWidth: 1,
    cornerRadius: 3,
    titleColor: theme.foreground,
    bodyColor: theme.foreground,
    titleFont: { family: theme.font, size: 11, weight: "bold" },
    bodyFont: { family: theme.font, size: 11 },
    boxWidth: 8,
    boxHeight: 8,
    boxPadding: 4,
    callbacks: {
      title: ([first]: TooltipItem<"line">[]) => {
        const at = first?.parsed.x;
        return typeof at === "number" ? momentLabel(at) : "";
      },
      label: ({ dataset, parsed }: TooltipItem<"line">) => {
        const value = typeof parsed.y === "number" ? sayValue(parsed.y, info.unit) : "";
        return ` ${dataset.label ?? ""}  ${value}`;
      },
    },
  };
}
