import type { Chart, Plugin } from "chart.js";
import type { ChartMark } from "../../protocol/webview";
import type { Theme } from "./theme";

/** What is marked on a chart, read anew at each drawing. */
interface Marked {
  readonly marks: readonly ChartMark[];
  /** When a line was not a number. */
  readonly nans: readonly number[];
  readonly theme: Theme;
  /** Whether failures and alerts are told in words. */
  readonly words: boolean;
}

/** Draws marks as thin upright lines, with words for failures and alerts where there is room, and red ticks where a value is not a number. */
export function marksPlugin(marked: () => Marked): Plugin<"line"> {
  return {
    id: "marks",
    beforeDatasetsDraw: (chart) => {
      drawMarks(chart, marked());
    },
    afterDatasetsDraw: (chart) => {
      drawNans(chart, marked());
    },
  };
}

/** Whether a mark tells of something that a person should look at. */
function isGrave({ kind }: ChartMark): boolean {
  return kind === "failed" || kind === "alert";
}

function drawMarks(chart: Chart, { marks, theme, words }: Marked): void {
  const { ctx, chartArea } = chart;
  const axis = chart.scales["x"];
  if (!axis) return;
  ctx.save();
  ctx.font = `10px ${theme.font}`;
  ctx.textBaseline = "bottom";
  const inSight = marks
    .map((mark) => ({ mark, x: Math.round(axis.getPixelForValue(mark.at)) }))
    .filter(({ x }) => x >= chartArea.left && x <= chartArea.right);
  const columns = new Map<number, ChartMark[]>();
  // Members that start together are one line on the screen.
  for (const { mark, x } of inSight) columns.set(x, [...(columns.get(x) ?? []), mark]);
  let free = chartArea.left - 4;
  for (const [x, all] of [...columns].sort(([a], [b]) => a - b)) {
    const mark = all.find(isGrave) ?? all[0];
    if (!mark) continue;
    ctx.strokeStyle = ctx.fillStyle = markColor(mark, theme);
    ctx.lineWidth = 1;
    ctx.setLineDash(mark.kind === "failed" ? [] : [3, 3]);
    ctx.beginPath();
    ctx.moveTo(x + 0.5, chartArea.top);
    ctx.lineTo(x + 0.5, chartArea.bottom);
    ctx.stroke();
    const grave = all.filter(isGrave).length;
    if (words && grave > 0) free = drawLabel(chart, grave > 1 ? `${mark.label} +${grave - 1}` : mark.label, x, free);
  }
  ctx.restore();
}

/** Above its line, clear of the data, if there is room left; returns from where on there is room. */
function drawLabel({ ctx, chartArea }: Chart, label: string, x: number, free: number): number {
  const most = chartArea.right - chartArea.left;
  const text = shortened(ctx, label, most);
  const width = ctx.measureText(text).width;
  const left = Math.min(x - 2, chartArea.right - width);
  if (left < free) return free;
  ctx.fillText(text, left, chartArea.top - 3);
  return left + width + 6;
}

/** As much of a label as fits. */
export function shortened(ctx: CanvasRenderingContext2D, label: string, width: number): string {
  if (ctx.measureText(label).width <= width) return label;
  let text = label;
  while (text.length > 1 && ctx.measureText(`${text}…`).width > width) text = text.slice(0, -1);
  return `${text}…`;
}

function drawNans({ ctx, chartArea, scales }: Chart, { nans, theme }: Marked): void {
  const axis = scales["x"];
  if (!axis || nans.length === 0) return;
  const pixels = new Set(nans.map((at) => Math.round(axis.getPixelForValue(at))));
  const inSight = [...pixels].filter((x) => x >= chartArea.left && x <= chartArea.right).sort((a, b) => a - b);
  const [first] = inSight;
  if (first === undefined) return;
  ctx.save();
  ctx.fillStyle = theme.failed;
  for (const x of inSight) ctx.fillRect(x - 1, chartArea.bottom - 3, 2, 3);
  ctx.font = `10px ${theme.font}`;
  ctx.textBaseline = "bottom";
  const width = ctx.measureText("NaN").width;
  ctx.fillText("NaN", Math.min(first, chartArea.right - width), chartArea.bottom - 4);
  ctx.restore();
}

function markColor(mark: ChartMark, theme: Theme): string {
  if (mark.kind === "failed") return theme.failed;
  if (mark.kind === "alert") return theme.alert;
  return mark.kind === "finished" ? theme.finished : theme.muted;
}
