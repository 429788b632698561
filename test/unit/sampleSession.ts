import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { FailureReading, ProgressReading } from "../../src/core/log/reading";
import type { RunRecord } from "../../src/core/ports";
import type { HostDefinition, StageDefinition } from "../../src/core/session/definition";
import type { Member, RemoteHost, Session, Stage, StageState } from "../../src/core/session/model";
import { noSeries } from "../../src/core/session/series";

/** Tuesday, 1 December 2026, 22:00 UTC. */
export const now = Date.UTC(2026, 11, 1, 22, 0);

export function progress(parts: Partial<ProgressReading>): ProgressReading {
  return { kind: "progress", format: "seed", role: "main", source: "", line: 1, segment: 0, offset: 0, ...parts };
}

export function failure(parts: Partial<FailureReading> = {}): FailureReading {
  return {
    kind: "failure",
    failure: "command-not-found",
    line: 3,
    startLine: 3,
    segment: 0,
    offset: 120,
    endOffset: 190,
    severity: "error",
    permanent: true,
    cause: "hf is not on PATH",
    remedy: "Call it by its full path.",
    text: "nohup: failed to run command 'hf': No such file or directory",
    subject: { program: "hf" },
    ...parts,
  };
}

export function run(parts: Partial<RunRecord> = {}): RunRecord {
  return {
    run: "r1",
    session: "hero",
    stage: "download",
    member: "0",
    version: 1,
    recordedOn: { machineId: "m", hostname: "gpu8" },
    command: "hf download x",
    cwd: "/data",
    shell: "bash",
    binary: "",
    launchedFrom: "me@laptop",
    startedAt: now - 60_000,
    log: { path: "/data/download.log", start: { device: "1", inode: "2", offset: 0 } },
    liveness: "ended",
    ...parts,
  };
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

function stageDefinition(name: string, parts: Partial<StageDefinition> = {}): StageDefinition {
  return {
    name,
    ...stageDefaults,
    host: "gpu8",
    command: "true",
    ...parts,
  };
}

export function stage(name: string, members: readonly Member[], parts: Partial<Stage> = {}): Stage {
  const [first] = members;
  return {
    definition: stageDefinition(name),
    state: first?.state ?? { kind: "waiting", for: [] },
    since: first?.since ?? now,
    members,
    ...(first?.eta && { eta: first.eta }),
    ...parts,
  };
}

const hostDefinition: HostDefinition = {
  name: "gpu8",
  address: { kind: "alias", alias: "gpu8" },
  ...hostDefaults,
};

export function host(parts: Partial<RemoteHost> = {}): RemoteHost {
  return { definition: hostDefinition, connection: { kind: "connected", since: now }, gpus: [], ...parts };
}

export function session(stages: readonly Stage[], parts: Partial<Session> = {}): Session {
  return {
    id: "file:///w/ml-session.yaml",
    definition: {
      name: "hero",
      hosts: new Map([["gpu8", hostDefinition]]),
      services: new Map(),
      stages: new Map(stages.map((s) => [s.definition.name, s.definition])),
    },
    hosts: new Map([["gpu8", host()]]),
    stages: new Map(stages.map((s) => [s.definition.name, s])),
    services: new Map(),
    eta: { untimed: [] },
    alerts: [],
    ...parts,
  };
}
