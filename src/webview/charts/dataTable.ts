import { thin } from "../../core/thin";
import type { ChartInfo } from "../../protocol/webview";
import { element } from "./elements";
import type { LineData } from "./lineData";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** So many rows a person can go through. */
const rowsPerLine = 24;

/** A chart's numbers as a table: the times of each line, thinned, the newest first. */
export function dataTable(info: ChartInfo, lines: ReadonlyMap<string, LineData>): HTMLTableElement {
  const table = element("table", "data");
  table.append(element("caption", "", `${info.about}, newest first`));
  const head = table.createTHead().insertRow();
  for (const text of ["Time", ...info.lines.map(({ label }) => label)]) {
    const cell = element("th", "", text);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const [time, values] of [...rowsOf(info, lines)].sort(([a], [b]) => b - a)) {
    const row = body.insertRow();
    const cell = element("th", "", momentLabel(time));
    cell.scope = "row";
    row.append(cell);
    for (const { key } of info.lines) {
      const value = values.get(key);
      row.append(element("td", "", value === undefined ? "" : sayValue(value, info.unit)));
    }
  }
  return table;
}

function rowsOf(info: ChartInfo, lines: ReadonlyMap<string, LineData>): Map<number, Map<string, number>> {
  const rows = new Map<number, Map<string, number>>();
  for (const { key } of info.lines) {
    const line = lines.get(key);
    if (!line) continue;
    const { times, values } = thin(line, rowsPerLine);
    times.forEach((time, index) => {
      const row = rows.get(time) ?? new Map<string, number>();
      rows.set(time, row.set(key, values[index] ?? NaN));
    });
  }
  return rows;
}
