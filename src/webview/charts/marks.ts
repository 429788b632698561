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
  let free = chartArea.left - 4;
  for (const mark of marks) {
    const x = axis.getPixelForValue(mark.at);
    if (x < chartArea.left || x > chartArea.right) continue;
    ctx.strokeStyle = ctx.fillStyle = markColor(mark, theme);
    ctx.lineWidth = 1;
    ctx.setLineDash(mark.kind === "failed" ? [] : [3, 3]);
    ctx.beginPath();
    ctx.moveTo(Math.round(x) + 0.5, chartArea.top);
    ctx.lineTo(Math.round(x) + 0.5, chartArea.bottom);
    ctx.stroke();
    free = drawLabel(chart, mark.label, x, free);
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
