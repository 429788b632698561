import type { GpuReport, GpuSample } from "../ports";
import { ofMember, type SessionDefinition } from "./definition";
import type { Gpu, RemoteHost } from "./model";
import { noSeries, withSamples, type SeriesSet } from "./series";

/** The host after a round of GPU samples. A GPU that is missing from the round is missing from the host. */
export function applyGpus(host: RemoteHost, report: GpuReport, at: number, definition: SessionDefinition): RemoteHost {
  if (report.kind === "unavailable") {
    return { ...host, gpus: [], gpusUnavailable: report.reason, seenAt: at };
  }
  const { gpusUnavailable, ...rest } = host;
  const gpus = report.samples.map((sample) => withSample(host, sample, definition));
  return { ...rest, gpus, seenAt: at };
}

function withSample(host: RemoteHost, sample: GpuSample, definition: SessionDefinition): Gpu {
  const old = host.gpus.find((gpu) => gpu.sample.uuid === sample.uuid);
  const at = sample.at - (host.identity?.clockOffsetMs ?? 0);
  return {
    index: sample.index,
    name: sample.name,
    sample,
    usedBy: claimants(host.definition.name, sample.index, definition),
    series: withSamples(old?.series ?? host.pastGpus?.get(sample.uuid) ?? noSeries, at, samplesOf(sample)),
  };
}

/**
 * The host with samples of a time in which nobody looked, as if somebody had. What was seen already stays as it is: only
 * later samples are new. They say nothing about now, so a GPU that was not seen by us yet is not shown for them.
 */
export function applyGpuHistory(host: RemoteHost, samples: readonly GpuSample[]): RemoteHost {
  const past = new Map(host.pastGpus);
  for (const { sample, series } of host.gpus) past.set(sample.uuid, series);
  for (const sample of samples) {
    const at = sample.at - (host.identity?.clockOffsetMs ?? 0);
    const known = past.get(sample.uuid) ?? noSeries;
    if (at > lastOf(known)) past.set(sample.uuid, withSamples(known, at, samplesOf(sample)));
  }
  const gpus = host.gpus.map((gpu) => ({ ...gpu, series: past.get(gpu.sample.uuid) ?? gpu.series }));
  return { ...host, gpus, pastGpus: past };
}

function lastOf({ byName }: SeriesSet): number {
  let last = -Infinity;
  for (const { lastTime } of byName.values()) last = Math.max(last, lastTime);
  return last;
}

function samplesOf(sample: GpuSample): Record<string, number> {
  const samples: Record<string, number> = {};
  for (const name of ["utilisation", "memoryUsedMib", "powerW", "temperatureC"] as const) {
    const value = sample[name];
    if (value !== undefined) samples[name] = value;
  }
  return samples;
}

/**
 * Who says in the session file that this GPU is theirs; what really runs on it is another matter. A stage whose members
 * all do is named as a whole, else its members are: `extract 3`.
 */
function claimants(host: string, index: number, definition: SessionDefinition): readonly string[] {
  const known = claims.get(definition) ?? new Map<string, readonly string[]>();
  claims.set(definition, known);
  const key = `${index} ${host}`;
  const told = known.get(key) ?? claimantsIn(host, index, definition);
  known.set(key, told);
  return told;
}

/** It is asked for each sample, and a definition never changes. */
const claims = new WeakMap<SessionDefinition, Map<string, readonly string[]>>();

function claimantsIn(host: string, index: number, { services, stages }: SessionDefinition): readonly string[] {
  const theirs = (one: { readonly gpus?: "all" | readonly number[] }): boolean =>
    one.gpus === "all" || one.gpus?.includes(index) === true;
  const served = [...services.values()].filter((service) => service.host === host && theirs(service));
  const staged = [...stages.values()].flatMap((stage) => {
    if (stage.host !== host) return [];
    const members = stage.members.filter((member) => theirs(ofMember(stage, member)));
    return members.length === stage.members.length
      ? [stage.name]
      : members.map((member) => memberLabel(stage.name, member));
  });
  return [...served.map(({ name }) => name), ...staged];
}

/** A member among several, as `usedBy` of a GPU names it. */
export function memberLabel(stage: string, member: string): string {
  return `${stage} ${member}`;
}
