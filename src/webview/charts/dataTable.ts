import type { ChartInfo, Span } from "../../protocol/webview";
import { element } from "./elements";
import type { DrawnLine } from "./linesPlugin";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** So many rows a person can go through. */
const rowCount = 24;

/** A chart's numbers as a table: even steps over the span that is shown, the newest first, and what each line says then. */
export function dataTable(info: ChartInfo, lines: readonly DrawnLine[], span: Span): HTMLTableElement {
  const table = element("table", "data");
  table.append(element("caption", "", `${info.about}, newest first`));
  const head = table.createTHead().insertRow();
  for (const text of ["Time", ...lines.map(({ line }) => line.label)]) {
    const cell = element("th", "", text);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const time of moments(lines, span)) {
    const row = body.insertRow();
    row.dataset["at"] = String(time);
    const cell = element("th", "", momentLabel(time));
    cell.scope = "row";
    row.append(cell);
    for (const { data } of lines) {
      const value = data.at(time);
      row.append(element("td", "", value === undefined ? "" : sayValue(value, info.unit)));
    }
  }
  return table;
}

/** Moments of samples, as evenly spaced as they allow, at most `rowCount`, the newest first. */
function moments(lines: readonly DrawnLine[], { from, to }: Span): readonly number[] {
  const step = Math.max(1, (to - from) / (rowCount - 1));
  const latest = new Map<number, number>();
  for (const { data } of lines) {
    for (const x of data.times) {
      if (x < from || x > to || data.at(x) === undefined) continue;
      const row = Math.floor((x - from) / step);
      latest.set(row, Math.max(x, latest.get(row) ?? x));
    }
  }
  return [...latest.values()].sort((a, b) => b - a);
}
