import type { ChartInfo, Span } from "../../protocol/webview";
import { element } from "./elements";
import type { DrawnLine } from "./linesPlugin";
import { momentLabel } from "./timeAxis";
import { sayValue } from "./units";

/** Numbers in place of a picture. It stays where it is while they change, and keeps focus and place. */
export class TableRegion {
  readonly root = element("div", "table");

  constructor(title: string) {
    this.root.hidden = true;
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", `${title}, data table`);
  }

  /** @param table undefined: none */
  show(table: HTMLTableElement | undefined): void {
    const scrolled = this.root.scrollTop;
    this.root.hidden = table === undefined;
    this.root.replaceChildren(...(table ? [table] : []));
    this.root.scrollTop = scrolled;
  }
}

/** A table that has its caption and heads, yet no rows. */
export function headedTable(caption: string, columns: readonly string[]): HTMLTableElement {
  const table = element("table", "data");
  table.append(element("caption", "", caption));
  const head = table.createTHead().insertRow();
  for (const text of columns) {
    const cell = element("th", "", text);
    cell.scope = "col";
    head.append(cell);
  }
  return table;
}

/** Adds a row with a head of its own. */
export function addRow(body: HTMLTableSectionElement, head: string, cells: readonly string[]): HTMLTableRowElement {
  const row = body.insertRow();
  const cell = element("th", "", head);
  cell.scope = "row";
  row.append(cell, ...cells.map((text) => element("td", "", text)));
  return row;
}

/** So many rows a person can go through. */
const rowCount = 24;

/** A chart's numbers as a table: even steps over the span that is shown, the newest first, and what each line says then. */
export function dataTable(info: ChartInfo, lines: readonly DrawnLine[], span: Span): HTMLTableElement {
  const columns = ["Time", ...lines.map(({ line }) => line.label)];
  const table = headedTable(`${info.about}, newest first`, columns);
  const body = table.createTBody();
  for (const time of moments(lines, span)) {
    const values = lines.map(({ data }) => data.at(time));
    const told = values.map((value) => (value === undefined ? "" : sayValue(value, info.unit)));
    addRow(body, momentLabel(time), told).dataset["at"] = String(time);
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
