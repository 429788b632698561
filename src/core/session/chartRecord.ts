import { thin } from "../thin";
import { chartedMetrics } from "./chartLooks";
import { chartOwners, type ChartOwner, type CounterInfo, type KeptCharts, type KeptOwner } from "./chartOwners";
import { ChartSources } from "./chartSources";
import type { Mark, Session } from "./model";
import { MetricSeries } from "./series";

/** All samples of a session that are kept, at most: 6 MB. They are shared out evenly among its series, */
const mostSamples = 500_000;
/** to at most so many. */
const mostOfOne = 4000;
const mostMarks = 200;
/** What is older is not kept. */
const oldestMs = 3 * 24 * 3_600_000;

interface Header {
  readonly version: 1;
  readonly owners: readonly (CounterInfo & {
    readonly key: string;
    readonly marks: readonly Mark[];
    readonly series: readonly { readonly name: string; readonly count: number }[];
  })[];
}

/**
 * What is kept of a session's charts for the next window, as bytes: a line of JSON that says what follows, then for
 * each series its times (64-bit floats, little-endian) and its values (the same). Bounded, thinned to the extremes.
 */
export function encodeCharts(session: Session, kept: KeptCharts, now: number): Uint8Array {
  const sources = new ChartSources();
  const owners = chartOwners(session, { kind: "session", session: session.id }, kept);
  const all = owners.map((owner) => ({ owner, series: chartedOf(owner, sources) }));
  const count = all.reduce((sum, { series }) => sum + series.length, 0);
  const limit = Math.min(mostOfOne, Math.floor(mostSamples / Math.max(1, count)));
  const parts = all.map(({ owner, series }) => ({ owner, series: series.map((one) => shortened(one, limit, now)) }));
  const about: Header = {
    version: 1,
    owners: parts.map(({ owner: { key, counter, unit, rateUnit, marks }, series }) => ({
      key,
      ...(counter !== undefined && { counter }),
      ...(unit !== undefined && { unit }),
      ...(rateUnit !== undefined && { rateUnit }),
      marks: marks.filter(({ at }) => at > now - oldestMs).slice(-mostMarks),
      series: series.map(({ name, times }) => ({ name, count: times.length })),
    })),
  };
  const head = new TextEncoder().encode(`${JSON.stringify(about)}\n`);
  const samples = parts.flatMap(({ series }) => series.flatMap(({ times, values }) => [times, values]));
  const bytes = new Uint8Array(head.length + samples.reduce((sum, { length }) => sum + 8 * length, 0));
  bytes.set(head);
  const view = new DataView(bytes.buffer);
  let at = head.length;
  for (const array of samples) {
    for (const value of array) {
      view.setFloat64(at, value, true);
      at += 8;
    }
  }
  return bytes;
}

/** What `encodeCharts` made; nothing of bytes that are not whole, or of another version. */
export function decodeCharts(bytes: Uint8Array): KeptCharts {
  const end = bytes.indexOf(10);
  const about = end < 0 ? undefined : parsed(new TextDecoder().decode(bytes.subarray(0, end)));
  if (!about) return new Map();
  const count = about.owners.reduce((sum, { series }) => sum + series.reduce((all, one) => all + one.count, 0), 0);
  if (bytes.length - end - 1 !== 16 * count) return new Map();
  const view = new DataView(bytes.buffer, bytes.byteOffset + end + 1);
  let at = 0;
  const read = (of: number): readonly number[] => {
    const numbers = Array.from({ length: of }, (_, index) => view.getFloat64(at + 8 * index, true));
    at += 8 * of;
    return numbers;
  };
  return new Map(
    about.owners.map(({ key, marks, series, counter, unit, rateUnit }): [string, KeptOwner] => {
      const kept = series.map(({ name, count: of }) => [name, seriesOf(name, read(of), read(of))] as const);
      const info = {
        ...(counter !== undefined && { counter }),
        ...(unit !== undefined && { unit }),
        ...(rateUnit !== undefined && { rateUnit }),
      };
      return [key, { ...info, marks, series: new Map(kept) }];
    }),
  );
}

function parsed(text: string): Header | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isHeader(value) ? value : undefined;
  } catch {
    return undefined; // not JSON: another program's file, or one that was cut off
  }
}

function isHeader(value: unknown): value is Header {
  return isRecord(value) && value["version"] === 1 && areAll(value["owners"], isOwner);
}

function isOwner(value: Readonly<Record<string, unknown>>): boolean {
  const words = ["counter", "unit", "rateUnit"].every((name) => ["string", "undefined"].includes(typeof value[name]));
  return (
    words && typeof value["key"] === "string" && areAll(value["marks"], isMark) && areAll(value["series"], isSeries)
  );
}

function isMark({ at, kind, label }: Readonly<Record<string, unknown>>): boolean {
  return typeof at === "number" && typeof label === "string" && markKinds.some((known) => known === kind);
}

function isSeries({ name, count }: Readonly<Record<string, unknown>>): boolean {
  return typeof name === "string" && Number.isSafeInteger(count) && Number(count) >= 0;
}

function areAll(value: unknown, test: (one: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => isRecord(one) && test(one));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

const markKinds: readonly Mark["kind"][] = ["started", "restarted", "failed", "finished", "stopped", "alert", "gap"];

function seriesOf(name: string, times: readonly number[], values: readonly number[]): MetricSeries {
  const series = new MetricSeries(name);
  for (const [index, time] of times.entries()) series.append(time, values[index] ?? NaN);
  return series;
}

function chartedOf({ tracks }: ChartOwner, sources: ChartSources): readonly MetricSeries[] {
  return [...tracks].flatMap(([name, track]) => {
    const source = chartedMetrics.has(name) ? sources.of({ kind: "plain", track }) : undefined;
    source?.update();
    return source && source.series.length > 0 ? source.series : [];
  });
}

interface Shortened {
  readonly name: string;
  readonly times: ArrayLike<number> & Iterable<number>;
  readonly values: ArrayLike<number> & Iterable<number>;
}

function shortened({ name, times, values }: MetricSeries, limit: number, now: number): Shortened {
  const from = Math.max(times[0] ?? 0, now - oldestMs);
  const to = times[times.length - 1] ?? now;
  // A column keeps up to three, and there may be gaps.
  const thinned = thin({ times, values }, { from, to, columns: Math.max(8, Math.floor(limit / 4)) });
  // Gaps are found anew when it is drawn.
  const isSample = (_: number, index: number): boolean => !Number.isNaN(thinned.times[index]);
  return { name, times: thinned.times.filter(isSample), values: thinned.values.filter(isSample) };
}
