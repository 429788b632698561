import { ofMember, type SessionDefinition, type StageDefinition } from "./definition";
import type { MemberRef, SessionEvent } from "./events";
import { applyGpuHistory, applyGpus } from "./applyGpus";
import { isBad, judge, lastSeen, type Circumstances } from "./judge";
import { applyToMember, newMember, takeRecord } from "./member";
import type {
  Alert,
  ConnectionState,
  Member,
  Pipeline,
  RemoteHost,
  ServiceView,
  Session,
  Stage,
  StageState,
} from "./model";
import { inOrderOfNeeds } from "./needsOrder";
import { membersOn } from "./membersOn";
import { pipelineEta, slowest } from "./pipelineEta";
import { isAway } from "./reach";
import { withTransition } from "./transitions";

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
  const changed = change(session, event);
  return settle(changed, event.at, touchedBy(event));
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
    return { ...session, stages: new Map(session.stages).set(ref.stage, { ...stage, members }) };
  }
  const service = session.services.get(ref.stage);
  if (!service) return session;
  const member = update(service.member);
  if (member === service.member) return session;
  return { ...session, services: new Map(session.services).set(ref.stage, { ...service, member }) };
}

/** Whether an event may change what is judged of a stage or service. */
type Touched = (part: { readonly name: string; readonly host: string }) => boolean;

/**
 * An event about a member, or about a host, touches theirs alone. What goes by time moves on for all at each tick: with
 * hundreds of stages that write, judging all of them for each line would be most of the work.
 */
function touchedBy(event: SessionEvent): Touched {
  if ("stage" in event) return ({ name }) => name === event.stage;
  if ("host" in event) return ({ host }) => host === event.host;
  return () => true;
}

/** Judges anew, in the order of their needs, what was touched and what waits for something that is in another state now. */
function settle(session: Session, now: number, isTouched: Touched): Session {
  const services = new Map(session.services);
  for (const [name, service] of session.services) {
    if (!isTouched(service.definition)) continue;
    const member = judged(service.member, session, { host: service.definition.host, needs: new Map(), now });
    if (member !== service.member) services.set(name, { ...service, member });
  }
  const next = new Map<string, Stage>();
  const moved = new Set<string>();
  for (const name of inOrderOfNeeds(session.definition)) {
    const stage = session.stages.get(name);
    if (!stage) continue;
    const { definition } = stage;
    if (!isTouched(definition) && !definition.needs.some((need) => moved.has(need))) continue;
    const settled = settleStage(stage, session, needsOf(definition, session, next), now);
    if (settled.state !== stage.state) moved.add(name);
    if (settled !== stage) next.set(name, settled);
  }
  const stages = next.size === 0 ? session.stages : new Map([...session.stages, ...next]);
  return withParts(session, stages, kept(services, session.services));
}

/** The states of what a stage needs. Services are not waited for: they have no end. */
function needsOf({ needs }: StageDefinition, session: Session, next: Session["stages"]): Circumstances["needs"] {
  const states = new Map<string, StageState>();
  for (const need of needs) {
    const state = (next.get(need) ?? session.stages.get(need))?.state;
    if (session.services.has(need)) states.set(need, { kind: "finished" });
    if (state) states.set(need, state);
  }
  return states;
}

function withParts(session: Session, stages: Session["stages"], services: Session["services"]): Session {
  const eta = pipelineEta(session.definition, stages, session.eta);
  const alerts = alertsOf(stages, session.alerts);
  const changed =
    stages !== session.stages || services !== session.services || eta !== session.eta || alerts !== session.alerts;
  return changed ? { ...session, stages, services, eta, alerts } : session;
}

/** The old map where the new one holds the same. */
function kept<T>(next: ReadonlyMap<string, T>, old: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return next.size === old.size && [...next].every(([key, value]) => old.get(key) === value) ? old : next;
}

interface Place {
  readonly host: string;
  readonly stage?: StageDefinition;
  readonly needs: ReadonlyMap<string, StageState>;
  readonly now: number;
}

function settleStage(stage: Stage, session: Session, needs: Circumstances["needs"], now: number): Stage {
  const place = { host: stage.definition.host, stage: stage.definition, needs, now };
  const members = stage.members.map((member) =>
    judged(member, session, { ...place, stage: ofMember(stage.definition, member.name) }),
  );
  const unchanged = members.every((member, i) => member === stage.members[i]);
  const eta = slowest(members, stage.eta);
  if (unchanged && eta === stage.eta && members.some((member) => member.state === stage.state)) return stage;
  const worst = gravestMember(members);
  return {
    definition: stage.definition,
    members: unchanged ? stage.members : members,
    state: worst?.state ?? stage.state,
    since: worst?.since ?? stage.since,
    ...(eta ? { eta } : {}),
  };
}

function judged(member: Member, session: Session, place: Place): Member {
  const host = session.hosts.get(place.host);
  const state = judge(member, {
    ...(place.stage ? { stage: place.stage } : {}),
    needs: place.needs,
    connection: host?.connection ?? { kind: "not-connected" },
    seenAt: host?.seenAt ?? 0,
    clockOffsetMs: host?.identity?.clockOffsetMs ?? 0,
    // Silence of a host that is away is no stall of its jobs: what was known is judged as of then.
    now: host?.awaySince ?? place.now,
  });
  if (sameState(state, member.state)) return withTransition(member, place.now);
  const began = lastSeen(state).kind !== lastSeen(member.state).kind ? place.now : member.since;
  return withTransition({ ...member, state, since: began }, place.now);
}

/** Whether two states say the same; `since` of an unknown or stalled one is fixed when it begins. */
function sameState(a: StageState, b: StageState): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

const gravity: readonly StageState["kind"][] = [
  "failed",
  "lost",
  "refused",
  "stalled",
  "stopped",
  "ended-unknown",
  "unknown",
  "launching",
  "running",
  "watching",
  "blocked",
  "waiting",
  "finished-unchecked",
  "finished",
];

function gravestMember(members: readonly Member[]): Member | undefined {
  return [...members].sort((a, b) => gravity.indexOf(a.state.kind) - gravity.indexOf(b.state.kind))[0];
}

function alertsOf(stages: Session["stages"], before: readonly Alert[]): readonly Alert[] {
  const alerts: Alert[] = [];
  for (const [name, stage] of stages) {
    for (const member of stage.members) {
      const alert = member.acknowledged ? undefined : alertOf(name, member);
      if (alert) alerts.push(alert);
    }
  }
  return JSON.stringify(alerts) === JSON.stringify(before) ? before : alerts;
}

function alertOf(stage: string, member: Member): Alert | undefined {
  // What was seen failed stays an alert while the host cannot be seen; nothing turns into one for lack of contact.
  const state = lastSeen(member.state);
  if (!isBad(state)) return undefined;
  const at = member.since;
  if (state.kind === "failed") {
    const { cause, remedy, lastLine } = state;
    return { stage, member: member.name, at, cause, remedy, ...(lastLine === undefined ? {} : { lastLine }) };
  }
  const why = state.kind === "lost" ? state.why : "";
  return { stage, member: member.name, at, cause: why, remedy: "Look at its outputs and restart it." };
}
