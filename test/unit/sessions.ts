import type { FailureReading, ProgressReading } from "../../src/core/log/reading";
import type { HostIdentity, RunRecord } from "../../src/core/ports";
import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { HostDefinition, SessionDefinition, StageDefinition } from "../../src/core/session/definition";
import { applyEvent, newSession } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import type { Member, Session } from "../../src/core/session/model";

/** Builders of sessions, records and readings for the tests of core. */

export const host: HostDefinition = {
  name: "gpu8",
  address: { kind: "alias", alias: "gpu8" },
  ...hostDefaults,
};

export const identity: HostIdentity = {
  machineId: "m1",
  hostname: "gpu8",
  bootId: "b1",
  user: "root",
  uid: 0,
  clockOffsetMs: 0,
  home: "/root",
  has: new Set(["bash", "proc"]),
};

export function stage(name: string, more: Partial<StageDefinition> = {}): StageDefinition {
  return {
    name,
    ...stageDefaults,
    host: "gpu8",
    command: `run ${name}`,
    ...more,
  };
}

export function definition(...stages: readonly StageDefinition[]): SessionDefinition {
  return {
    name: "night",
    hosts: new Map([["gpu8", host]]),
    services: new Map(),
    stages: new Map(stages.map((one) => [one.name, one])),
  };
}

export function record(stageName: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    run: "r1",
    session: "night",
    stage: stageName,
    member: "0",
    version: 1,
    recordedOn: { machineId: "m1", hostname: "gpu8" },
    command: "run",
    cwd: "/root",
    shell: "bash",
    binary: "",
    launchedFrom: "me@laptop",
    startedAt: 1000,
    log: { path: `/data/${stageName}.log`, start: { device: "1", inode: "1", offset: 0 } },
    liveness: "running",
    ...more,
  };
}

export function ended(stageName: string, code: number, more: Partial<RunRecord> = {}): RunRecord {
  return record(stageName, { end: { exit: { kind: "code", code }, at: 2000 }, liveness: "ended", ...more });
}

export function failure(more: Partial<FailureReading> = {}): FailureReading {
  return {
    kind: "failure",
    failure: "command-not-found",
    line: 1,
    segment: 0,
    offset: 0,
    endOffset: 50,
    startLine: 1,
    severity: "error",
    permanent: true,
    cause: "hf is not on PATH",
    remedy: "Use its full path.",
    text: "nohup: failed to run command 'hf': No such file or directory",
    subject: { program: "hf" },
    ...more,
  };
}

export function progress(done: number, total: number, more: Partial<ProgressReading> = {}): ProgressReading {
  return {
    kind: "progress",
    format: "seed",
    line: done,
    segment: 0,
    offset: done,
    done,
    total,
    role: "main",
    source: "",
    ...more,
  };
}

/** A connected session after some events. */
export function play(def: SessionDefinition, ...events: readonly SessionEvent[]): Session {
  const connected: SessionEvent = { type: "connected", at: 0, host: "gpu8", identity };
  return [connected, ...events].reduce(applyEvent, newSession("s", def, 0));
}

export function member(session: Session, name: string): Member {
  const found = session.stages.get(name)?.members[0];
  if (!found) throw new Error(`no stage ${name}`);
  return found;
}

export function records(at: number, ...all: readonly RunRecord[]): SessionEvent {
  return { type: "records", at, host: "gpu8", records: all };
}

export function ofStage(name: string): { readonly stage: string; readonly member: string } {
  return { stage: name, member: "0" };
}
