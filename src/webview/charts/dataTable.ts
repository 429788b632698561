import type { ChartInfo } from "../../protocol/webview";
import { element } from "./elements";
import type { LineData } from "./lineData";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** So many rows a person can go through. */
const rowCount = 24;

/** A chart's numbers as a table: even steps of time, the newest first. */
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

/** Evenly spaced moments, and at each what every line last said by then; nothing where it had been silent for a row. */
function rowsOf(info: ChartInfo, lines: ReadonlyMap<string, LineData>): Map<number, Map<string, number>> {
  const known = [...lines.values()].filter(({ times }) => times.length > 0);
  const first = Math.min(...known.map(({ times }) => times[0] ?? Infinity));
  const last = Math.max(...known.map(({ times }) => times.at(-1) ?? -Infinity));
  const rows = new Map<number, Map<string, number>>();
  const step = Math.max(1, (last - first) / (rowCount - 1));
  for (let time = last; time >= first - 1 && rows.size < rowCount; time -= step) {
    const row = new Map<string, number>();
    for (const { key } of info.lines) {
      const value = valueAt(lines.get(key), time, step);
      if (value !== undefined) row.set(key, value);
    }
    if (row.size > 0) rows.set(time, row);
  }
  return rows;
}

function valueAt(line: LineData | undefined, time: number, within: number): number | undefined {
  const index = line?.times.findLastIndex((at) => at <= time) ?? -1;
  const at = line?.times[index];
  return at === undefined || time - at > within ? undefined : line?.values[index];
}
