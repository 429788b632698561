import { ofMember, type SessionDefinition, type StageDefinition } from "./definition";
import type { MemberRef, SessionEvent } from "./events";
import { applyGpuHistory, applyGpus } from "./applyGpus";
import { withValues } from "./fixedMap";
import { applyToMember, newMember, takeRecord } from "./member";
import type { ConnectionState, Member, Pipeline, RemoteHost, ServiceView, Session, Stage } from "./model";
import { membersOn } from "./membersOn";
import { isAway } from "./reach";
import { settle } from "./settle";

/** A session nothing is known of yet but its definition. */
export function newSession(id: string, definition: SessionDefinition, at: number): Session {
  const empty: Session = {
    id,
    definition,
    hosts: new Map(),
    stages: new Map(),
    services: new Map(),
    eta: { untimed: [] },
    alerts: [],
  };
  return applyEvent(empty, { type: "defined", at, definition });
}

/**
 * The session after an event. Pure. Parts that the event does not touch stay the same objects, and so does the whole
 * session if nothing changed. An event about a host, stage or member that the session no longer has is ignored.
 */
export function applyEvent(session: Session, event: SessionEvent): Session {
  return settle(session, change(session, event), event);
}

function change(session: Session, event: SessionEvent): Session {
  switch (event.type) {
    case "defined":
      return define(session, event.definition, event.at);
    case "connecting":
      return withHost(session, event.host, (host) => ({
        ...host,
        connection: { kind: "connecting", since: event.at, ...(isAway(host.connection) && { again: true }) },
      }));
    case "connected":
      return withHost(session, event.host, ({ awaySince, recordsAt, ...host }) => ({
        ...host,
        connection: { kind: "connected", since: event.at },
        identity: event.identity,
        seenAt: event.at,
      }));
    case "connection-failed":
      return withConnection(session, event.host, {
        kind: "failed",
        since: event.at,
        reason: event.reason,
        message: event.message,
        ...(event.retryAt === undefined ? {} : { retryAt: event.retryAt }),
      });
    case "disconnected":
      return withHost(session, event.host, (host) => ({
        ...host,
        awaySince: host.awaySince ?? event.at,
        connection: event.byUser
          ? { kind: "not-connected" }
          : { kind: "lost", since: event.at, message: event.message },
      }));
    case "gpus":
      return withHost(session, event.host, (host) => applyGpus(host, event.report, event.at, session.definition));
    case "cost":
      return withHost(session, event.host, (host) => ({
        ...host,
        cost: { cpuShare: event.cpuShare, bytesPerSecond: event.bytesPerSecond },
      }));
    case "gpu-history":
      return withHost(session, event.host, (host) => applyGpuHistory(host, event.samples));
    case "records":
      return takeRecords(session, event);
    case "pipeline":
      return withPipeline(session, event.pipeline);
    case "tick":
      return session;
    default:
      return withMember(session, event, (member) => applyToMember(member, event));
  }
}

function define(session: Session, definition: SessionDefinition, at: number): Session {
  const hosts = new Map<string, RemoteHost>();
  for (const [name, host] of definition.hosts) {
    const old = session.hosts.get(name);
    hosts.set(
      name,
      old ? { ...old, definition: host } : { definition: host, connection: { kind: "not-connected" }, gpus: [] },
    );
  }
  const stages = new Map<string, Stage>();
  for (const [name, stage] of definition.stages) stages.set(name, defineStage(session.stages.get(name), stage, at));
  const services = new Map<string, ServiceView>();
  for (const [name, service] of definition.services) {
    const member = session.services.get(name)?.member ?? newMember("0", service.log, at);
    services.set(name, { definition: service, member: withLogPath(member, service.log) });
  }
  return { ...session, definition, hosts, stages, services };
}

function defineStage(old: Stage | undefined, definition: StageDefinition, at: number): Stage {
  const members = definition.members.map((name) => {
    const member = old?.members.find((m) => m.name === name) ?? newMember(name, ofMember(definition, name).log, at);
    return withLogPath(member, ofMember(definition, name).log);
  });
  const state = old?.state ?? { kind: "waiting", for: [] };
  return { definition, members, state, since: old?.since ?? at, ...(old?.eta ? { eta: old.eta } : {}) };
}

/** A run's own record knows best where its log is; the session file tells only where there is no run. */
function withLogPath(member: Member, path: string | undefined): Member {
  if (member.run || path === undefined || member.log?.path === path) return member;
  return { ...member, log: { path, state: "not-read", offset: 0, lost: 0 } };
}

function withHost(session: Session, name: string, update: (host: RemoteHost) => RemoteHost): Session {
  const host = session.hosts.get(name);
  if (!host) return session;
  const next = update(host);
  return next === host ? session : { ...session, hosts: new Map(session.hosts).set(name, next) };
}

function withConnection(session: Session, name: string, connection: ConnectionState): Session {
  return withHost(session, name, (host) => ({ ...host, connection }));
}

function withPipeline({ pipeline: old, ...session }: Session, pipeline: Pipeline | undefined): Session {
  return pipeline ? { ...session, pipeline } : session;
}

function takeRecords(session: Session, event: Extract<SessionEvent, { readonly type: "records" }>): Session {
  const { host, records, all, at } = event;
  let next = withHost(session, host, (old) => ({ ...old, seenAt: at, ...(all && { recordsAt: at }) }));
  for (const record of records) {
    if (next.definition.stages.get(record.stage)?.host !== host) continue;
    const ref = { stage: record.stage, member: record.member };
    const offset = session.hosts.get(host)?.identity?.clockOffsetMs ?? 0;
    next = withMember(next, ref, (member) => takeRecord(member, record, offset, at));
  }
  return all ? withoutRecord(next, host, new Set(records.map(({ run }) => run))) : next;
}

/** Runs under way whose record is no longer among all those of the host: it was deleted while nobody looked. */
function withoutRecord(session: Session, host: string, runs: ReadonlySet<string>): Session {
  let next = session;
  for (const { ref, member } of membersOn(session, host)) {
    const { run } = member;
    if (run?.liveness !== "running" || runs.has(run.run)) continue;
    next = withMember(next, ref, (old) => ({ ...old, run: { ...run, liveness: "deleted" } }));
  }
  return next;
}

function withMember(session: Session, ref: MemberRef, update: (member: Member) => Member): Session {
  const stage = session.stages.get(ref.stage);
  if (stage) {
    const members = stage.members.map((member) => (member.name === ref.member ? update(member) : member));
    if (members.every((member, i) => member === stage.members[i])) return session;
    return { ...session, stages: withValues(session.stages, [[ref.stage, { ...stage, members }]]) };
  }
  const service = session.services.get(ref.stage);
  if (!service) return session;
  const member = update(service.member);
  if (member === service.member) return session;
  return { ...session, services: new Map(session.services).set(ref.stage, { ...service, member }) };
}
