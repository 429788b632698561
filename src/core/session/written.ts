import type { ProgressReading } from "../log/reading";
import { outputsFormat, type OutputUnit } from "./outputChecks";
import type { MetricSeries, SeriesSet } from "./series";
import { percentDone } from "./words";

/** The speed is told over at least so long, so that it does not jump with each look. */
const rateWindowMs = 60_000;

/** One look at what a running stage has written. */
export interface OutputLook {
  /** Our clock, ms since 1970. */
  readonly at: number;
  readonly unit: OutputUnit;
  readonly done: number;
  readonly total?: number;
  readonly bytes: number;
  /** When the newest of it was written, our clock; only where that was in this run. */
  readonly newestAt?: number;
}

/** What a running stage has written so far, and how it came. Of this run only; times are our clock. */
export interface Written {
  readonly unit: OutputUnit;
  readonly done: number;
  readonly total?: number;
  readonly bytes: number;
  /** The first look at this run, and the last. */
  readonly firstAt: number;
  readonly countedAt: number;
  /** When it last became more; before it ever did, when it was first looked at. */
  readonly grewAt: number;
  /** Whether it became more in this run. */
  readonly growing: boolean;
  /** The longest time that it took to become more, ms. */
  readonly longestGapMs: number;
  /** The most there ever was: what is written again is nothing new. */
  readonly most: number;
}

/** What is known after a look. */
export function afterLook(old: Written | undefined, look: OutputLook): Written {
  const { at, unit, done, total, bytes, newestAt } = look;
  const now = { unit, done, bytes, countedAt: at, ...(total === undefined ? {} : { total }) };
  if (old?.unit !== unit) {
    const grewAt = Math.min(newestAt ?? at, at);
    return { ...now, firstAt: at, grewAt, growing: newestAt !== undefined, longestGapMs: 0, most: done };
  }
  if (done <= old.most) {
    // So much less is a new beginning: somebody cleared the folder.
    const most = done < old.most / 2 ? done : old.most;
    return { ...old, ...now, most };
  }
  const grewAt = newestAt !== undefined && newestAt > old.grewAt && newestAt <= at ? newestAt : at;
  const longestGapMs = Math.max(old.longestGapMs, grewAt - old.grewAt);
  return { ...old, ...now, grewAt, growing: true, longestGapMs, most: done };
}

/** Whether all is there that there will be. */
export function isWhole({ done, total }: Pick<Written, "done" | "total">): boolean {
  return total !== undefined && done >= total;
}

/** The samples of a look, for the series of its member. */
export function samplesOfLook({ unit, done, bytes }: OutputLook): Readonly<Record<string, number>> {
  return { outputBytes: bytes, ...(unit === "B" ? {} : { outputCount: done }) };
}

/** The series whose last value is `done` of what was written. */
export function writtenSeries(series: SeriesSet, { unit }: Pick<Written, "unit">): MetricSeries | undefined {
  return series.byName.get(unit === "B" ? "outputBytes" : "outputCount");
}

/**
 * The progress of a member, given what its log says and what it has written. The log's own counter goes first; but of a
 * download that prints how many files it has fetched, the bytes say more. Metrics of the log are kept.
 */
export function withWrittenProgress(
  known: ProgressReading | undefined,
  written: Written,
  series: SeriesSet,
): ProgressReading {
  const reading = readingOf(written, writtenSeries(series, written));
  if (known === undefined) return reading;
  if (!isOfOutputs(known) && yieldsTo(reading, known)) return known;
  return known.metrics === undefined ? reading : { ...reading, metrics: known.metrics };
}

/** Whether the reading tells what was written, not what a log says. */
export function isOfOutputs(reading: ProgressReading): boolean {
  return reading.format === outputsFormat;
}

/** The progress after a line of the log, where what was written was told so far. */
export function afterLine(outputs: ProgressReading, line: ProgressReading): ProgressReading {
  if (yieldsTo(outputs, line)) return line;
  return line.metrics === undefined ? outputs : { ...outputs, metrics: { ...outputs.metrics, ...line.metrics } };
}

function yieldsTo(outputs: ProgressReading, log: ProgressReading): boolean {
  if (log.done === undefined && percentDone(log) === undefined) return false;
  return outputs.unit !== "B" || outputs.total === undefined || log.unit === "B";
}

function readingOf(written: Written, series: MetricSeries | undefined): ProgressReading {
  const { unit, total } = written;
  // The sizes of an index are those of its tensors; their files are a little larger.
  const done = unit === "B" && total !== undefined ? Math.min(written.done, total) : written.done;
  const rate = series && recentRate(series, written.firstAt);
  return {
    kind: "progress",
    format: outputsFormat,
    role: "main",
    source: "",
    line: 0,
    segment: 0,
    offset: 0,
    done,
    unit,
    ...(total === undefined ? {} : { total }),
    ...(rate === undefined ? {} : { rate, rate_unit: unit === "B" ? "B/s" : unit === "lines" ? "line/s" : "file/s" }),
  };
}

/** Per second over the last minute (or the last two looks, if that is longer), not back beyond the run's first look. */
function recentRate({ times, values }: MetricSeries, firstAt: number): number | undefined {
  const last = times.length - 1;
  const now = times[last] ?? 0;
  let from = last - 1;
  while (from > 0 && now - (times[from] ?? 0) < rateWindowMs && (times[from - 1] ?? 0) >= firstAt) from--;
  const before = times[from];
  if (before === undefined || before < firstAt || before >= now) return undefined;
  const more = (values[last] ?? 0) - (values[from] ?? 0);
  return more < 0 ? undefined : (more * 1000) / (now - before);
}
