import type { PlannedLine } from "./chartLines";
import type { PlannedChart } from "./chartPlan";
import type { LengthChart } from "./chartTokens";
import type { TimeSpan } from "./chartExtent";
import type { MetricSeries } from "./series";

/** A line that is on the screen, with all that is known of it. */
export interface CsvLine {
  readonly chart: PlannedChart;
  readonly line: PlannedLine;
  readonly series: MetricSeries;
}

/**
 * Lines as CSV (RFC 4180), one sample a row: `time,chart,line,unit,value`. Every sample of the span, not only those that
 * the screen has pixels for; time as ISO 8601 in UTC.
 * @param lengths histograms, a bar a row, with the time at which they were counted: they are of no span
 */
export function chartCsv(
  lines: readonly CsvLine[],
  { from, to }: TimeSpan,
  lengths: readonly LengthChart[] = [],
): string {
  const rows = ["time,chart,line,unit,value"];
  for (const { chart, line, series } of lines) {
    const words = [chart.title, line.label, unitOf(chart)].map(field).join(",");
    const { times, values } = series;
    for (let index = 0; index < times.length; index++) {
      const time = times[index] ?? 0;
      if (time >= from && time <= to) rows.push(`${new Date(time).toISOString()},${words},${String(values[index])}`);
    }
  }
  for (const { title, bins, readAt } of lengths) {
    const start = `${new Date(readAt).toISOString()},${field(title)}`;
    for (const { from, to, answers } of bins) {
      const range = to - from === 1 ? String(from) : `${from} to ${to - 1}`;
      rows.push(`${start},${range} tokens,answers,${answers}`);
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

function unitOf({ unit }: PlannedChart): string {
  return unit.kind === "rate"
    ? unit.unit
    : { number: "", percent: "%", mib: "MiB", watt: "W", celsius: "°C" }[unit.kind];
}

/** Names come from session files and hosts: none may be taken for a formula by a spreadsheet. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
