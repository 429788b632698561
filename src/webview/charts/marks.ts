import type { Chart, Plugin } from "chart.js";
import type { ChartMark } from "../../protocol/webview";
import type { Theme } from "./theme";

/** Draws marks as thin upright lines; failures red, the rest quiet. Read anew at each drawing. */
export function marksPlugin(marks: () => readonly ChartMark[], theme: () => Theme): Plugin<"line"> {
  return {
    id: "marks",
    beforeDatasetsDraw: (chart) => {
      drawMarks(chart, marks(), theme());
    },
  };
}

function drawMarks(chart: Chart, marks: readonly ChartMark[], theme: Theme): void {
  const { ctx, chartArea } = chart;
  const axis = chart.scales["x"];
  if (!axis) return;
  ctx.save();
  ctx.font = `10px ${theme.font}`;
  ctx.textBaseline = "bottom";
  const inSight = marks
    .map((mark) => ({ mark, x: axis.getPixelForValue(mark.at) }))
    .filter(({ x }) => x >= chartArea.left && x <= chartArea.right);
  let free = chartArea.left - 4;
  for (const [index, { mark, x }] of inSight.entries()) {
    ctx.strokeStyle = ctx.fillStyle = markColor(mark, theme);
    ctx.lineWidth = 1;
    ctx.setLineDash(mark.kind === "failed" ? [] : [3, 3]);
    ctx.beginPath();
    ctx.moveTo(Math.round(x) + 0.5, chartArea.top);
    ctx.lineTo(Math.round(x) + 0.5, chartArea.bottom);
    ctx.stroke();
    // Where there is no room for both, the words of a failure go before those of the start just before it.
    const next = inSight[index + 1];
    const gives =
      next?.mark.kind === "failed" && mark.kind !== "failed" && next.x - x < ctx.measureText(mark.label).width;
    if (!gives) free = drawLabel(chart, mark.label, x, free);
  }
  ctx.restore();
}

/** Above its line, clear of the data, if there is room left; returns from where on there is room. */
function drawLabel({ ctx, chartArea }: Chart, label: string, x: number, free: number): number {
  const width = ctx.measureText(label).width;
  const left = Math.min(x - 2, chartArea.right - width);
  if (left < free) return free;
  ctx.fillText(label, left, chartArea.top - 3);
  return left + width + 6;
}

function markColor(mark: ChartMark, theme: Theme): string {
  if (mark.kind === "failed") return theme.failed;
  return mark.kind === "finished" ? theme.finished : theme.muted;
}
