import type { Session } from "./model";
import { mostSamples, type MetricSeries } from "./series";

/** A sample is two numbers. */
const sampleBytes = 16;
/** So much is there for the samples of all metrics of a window. */
const mostBytes = 64 * 1024 * 1024;
/** More than a chart has pixels, lowest and highest together, of a night. */
const leastSamples = 1024;

/**
 * Keeps all that was sampled within one budget: where there are so many metrics that each could not have all its room,
 * those that have most get less, all alike, and what is old of them becomes coarser.
 */
export function keepSeriesWithin(sessions: Iterable<Session>, most = mostBytes): void {
  const all = [...sessions].flatMap((session) => [...seriesOf(session)]);
  const wanted = all.map((series) => series.wanted);
  const bytesWith = (limit: number): number =>
    sampleBytes * wanted.reduce((sum, samples) => sum + Math.min(samples, limit), 0);
  let limit = mostSamples;
  while (limit > leastSamples && bytesWith(limit) > most) limit /= 2;
  for (const series of all) series.limit(limit);
}

function* seriesOf({ stages, services, hosts }: Session): Generator<MetricSeries> {
  for (const { members } of stages.values()) for (const { series } of members) yield* series.byName.values();
  for (const { member } of services.values()) yield* member.series.byName.values();
  for (const { gpus, pastGpus } of hosts.values()) {
    const seen = new Set([...gpus.map(({ series }) => series), ...(pastGpus?.values() ?? [])]);
    for (const { byName } of seen) yield* byName.values();
  }
}
