import type { ChartInfo, ChartMark, Span } from "../../protocol/webview";
import type { LineData } from "./lineData";
import type { DrawnLine } from "./linesPlugin";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** More lines than this are counted, not told one by one. */
const mostTold = 8;

/** What a chart shows, as sentences for those who do not see it. */
export function summary(info: ChartInfo, lines: readonly DrawnLine[], span: Span, marks: readonly ChartMark[]): string {
  const told = lines.slice(0, mostTold).map((line) => aboutLine(info, line, span));
  const more = lines.length > mostTold ? ` And ${lines.length - mostTold} more lines.` : "";
  const inSpan = marks.filter(({ at }) => at >= span.from && at <= span.to);
  const events = inSpan.slice(-5).map(({ label, at }) => `${label} at ${momentLabel(at)}`);
  const what = events.length === 0 ? "" : ` Marked: ${events.join(", ")}.`;
  return `${info.about}. From ${momentLabel(span.from)} to ${momentLabel(span.to)}. ${told.join(" ")}${more}${what}`;
}

function aboutLine({ unit }: ChartInfo, { line, data }: DrawnLine, span: Span): string {
  const found = within(data, span);
  if (!found || data.latest === undefined) return `${line.label}: nothing.`;
  const { low, high, gaps } = found;
  const range = low > high ? "" : `, between ${sayValue(low, unit)} and ${sayValue(high, unit)}`;
  const broken = gaps - data.nans.filter((at) => at >= span.from && at <= span.to).length;
  const silent = broken > 0 ? `, with ${broken} ${broken === 1 ? "gap" : "gaps"}` : "";
  return `${line.label}: now ${sayValue(data.latest, unit)}${range}${silent}.`;
}

/** Lowest, highest, and how often it breaks off; undefined where there are no samples in the span. */
function within(
  data: LineData,
  { from, to }: Span,
): { readonly low: number; readonly high: number; readonly gaps: number } | undefined {
  const { times, values } = data;
  const end = data.indexAfter(to);
  let first = end;
  while (first > 0 && (times[first - 1] ?? 0) >= from) first--;
  let [low, high, gaps] = [Infinity, -Infinity, 0];
  for (let index = first; index < end; index++) {
    const value = values[index] ?? NaN;
    if (value < low) low = value;
    if (value > high) high = value;
    if (Number.isNaN(value) && index > first && index < end - 1) gaps++;
  }
  return first === end ? undefined : { low, high, gaps };
}
