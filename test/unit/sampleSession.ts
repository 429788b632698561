import type { FailureReading, ProgressReading } from "../../src/core/log/reading";
import type { RunRecord } from "../../src/core/ports";
import type { Member, RemoteHost, Session, Stage, StageState } from "../../src/core/session/model";
import { noSeries } from "../../src/core/session/series";
import * as samples from "./sessions";

/** Tuesday, 1 December 2026, 22:00 UTC. */
export const now = Date.UTC(2026, 11, 1, 22, 0);

export function progress(parts: Partial<ProgressReading>): ProgressReading {
  const { done, total, ...reading } = samples.progress(0, 0, { line: 1, offset: 0 });
  return { ...reading, ...parts };
}

export function failure(parts: Partial<FailureReading> = {}): FailureReading {
  const place = { line: 3, startLine: 3, offset: 120, endOffset: 190 };
  return samples.failure({ ...place, remedy: "Call it by its full path.", ...parts });
}

/** A run of the download that has ended. */
export function run(parts: Partial<RunRecord> = {}): RunRecord {
  return samples.record("download", { command: "hf download x", startedAt: now - 60_000, liveness: "ended", ...parts });
}

export function member(state: StageState, parts: Partial<Member> = {}): Member {
  return {
    name: "0",
    state,
    since: now - 3_600_000,
    failures: [],
    cures: [],
    series: noSeries,
    acknowledged: false,
    transitions: [],
    marks: [],
    ...parts,
  };
}

export function stage(name: string, members: readonly Member[], parts: Partial<Stage> = {}): Stage {
  const [first] = members;
  return {
    definition: samples.stage(name),
    state: first?.state ?? { kind: "waiting", for: [] },
    since: first?.since ?? now,
    members,
    ...(first?.eta && { eta: first.eta }),
    ...parts,
  };
}

export function host(parts: Partial<RemoteHost> = {}): RemoteHost {
  return { definition: samples.host, connection: { kind: "connected", since: now }, gpus: [], ...parts };
}

export function session(stages: readonly Stage[], parts: Partial<Session> = {}): Session {
  return {
    id: "file:///w/ml-session.yaml",
    definition: { ...samples.definition(...stages.map((one) => one.definition)), name: "hero" },
    hosts: new Map([["gpu8", host()]]),
    stages: new Map(stages.map((s) => [s.definition.name, s])),
    services: new Map(),
    eta: { untimed: [] },
    alerts: [],
    ...parts,
  };
}
