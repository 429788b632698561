import type { ChartInfo, ChartMark, Span } from "../../protocol/webview";
import type { ShownLine } from "./dataTable";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** More lines than this are counted, not told one by one. */
const mostTold = 8;

/** What a chart shows, as sentences for those who do not see it. */
export function summary(info: ChartInfo, lines: readonly ShownLine[], span: Span, marks: readonly ChartMark[]): string {
  const told = lines.slice(0, mostTold).map((line) => aboutLine(info, line, span));
  const more = lines.length > mostTold ? ` And ${lines.length - mostTold} more lines.` : "";
  const inSpan = marks.filter(({ at }) => at >= span.from && at <= span.to);
  const events = inSpan.slice(-5).map(({ label, at }) => `${label} at ${momentLabel(at)}`);
  const what = events.length === 0 ? "" : ` Marked: ${events.join(", ")}.`;
  return `${info.about}. From ${momentLabel(span.from)} to ${momentLabel(span.to)}. ${told.join(" ")}${more}${what}`;
}

function aboutLine({ unit }: ChartInfo, { line, data }: ShownLine, span: Span): string {
  const inSpan = data.points.filter(({ x }) => x >= span.from && x <= span.to);
  const numbers = inSpan.map(({ y }) => y).filter((y) => !Number.isNaN(y));
  const last = data.latest;
  if (inSpan.length === 0 || last === undefined) return `${line.label}: nothing.`;
  const [low, high] = numbers.reduce(
    ([least, most], y) => [Math.min(least, y), Math.max(most, y)],
    [Infinity, -Infinity],
  );
  const range = numbers.length === 0 ? "" : `, between ${sayValue(low, unit)} and ${sayValue(high, unit)}`;
  const gaps = inSpan.filter(({ y }, index) => Number.isNaN(y) && index > 0 && index < inSpan.length - 1).length;
  const broken = gaps - data.nans.filter((at) => at >= span.from && at <= span.to).length;
  const silent = broken > 0 ? `, with ${broken} ${broken === 1 ? "gap" : "gaps"}` : "";
  return `${line.label}: now ${sayValue(last, unit)}${range}${silent}.`;
}
