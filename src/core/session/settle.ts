import { ofMember, type SessionDefinition, type StageDefinition } from "./definition";
import type { SessionEvent } from "./events";
import { withValues } from "./fixedMap";
import { isBad, judge, lastSeen, type Circumstances } from "./judge";
import type { Alert, Member, ServiceView, Session, Stage, StageState } from "./model";
import { dependantsOf, inOrderOfNeeds } from "./needsOrder";
import { pipelineEta, slowest } from "./pipelineEta";
import { withTransition } from "./transitions";

/**
 * Judges anew what an event may have changed, in the order of needs, and what waits for something that is in another
 * state now. An event about a member, or about a host, touches theirs alone; what goes by time moves on for all at each
 * tick. With hundreds of stages that write, looking at all of them for each line would be most of the work.
 * @param before the session before the event
 * @param session the session with what the event says
 */
export function settle(before: Session, session: Session, event: SessionEvent): Session {
  const next = new Map<string, Stage>();
  const moved = new Set<string>();
  const touched = touchedBy(event);
  const names = candidates(session.definition, event);
  for (const name of names) {
    const stage = session.stages.get(name);
    if (!stage) continue;
    const { definition } = stage;
    if (!touched(definition) && !definition.needs.some((need) => moved.has(need))) continue;
    const settled = settleStage(stage, session, needsOf(definition, session, next), event.at);
    if (settled.state !== stage.state) moved.add(name);
    if (settled !== stage) next.set(name, settled);
  }
  const stages = next.size === 0 ? session.stages : withValues(session.stages, next);
  const changed = changedStages(before.stages, stages, names);
  return withParts(before, session, { stages, changed, services: settledServices(session, touched, event.at) });
}

/** Whether an event may change what is judged of a stage or service. */
type Touched = (part: { readonly name: string; readonly host: string }) => boolean;

function touchedBy(event: SessionEvent): Touched {
  if ("stage" in event) return ({ name }) => name === event.stage;
  if ("host" in event) return ({ host }) => host === event.host;
  return () => true;
}

/** The stages that may be in another state after the event, each after what it needs. */
function candidates(definition: SessionDefinition, event: SessionEvent): readonly string[] {
  return "stage" in event ? dependantsOf(definition, event.stage) : inOrderOfNeeds(definition);
}

function settledServices(session: Session, touched: Touched, now: number): Session["services"] {
  const next = new Map<string, ServiceView>();
  for (const [name, service] of session.services) {
    if (!touched(service.definition)) continue;
    const member = judged(service.member, session, { host: service.definition.host, needs: new Map(), now });
    if (member !== service.member) next.set(name, { ...service, member });
  }
  return next.size === 0 ? session.services : withValues(session.services, next);
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

function withParts(
  before: Session,
  session: Session,
  parts: Pick<Session, "stages" | "services"> & { readonly changed: Session["stages"] },
): Session {
  const { stages, changed, services } = parts;
  const redefined = before.definition !== session.definition;
  const eta =
    redefined || tellsFinish(before.stages, changed)
      ? pipelineEta(session.definition, stages, session.eta)
      : session.eta;
  const alerts = redefined || tellsAlerts(session.alerts, changed) ? alertsOf(stages, session.alerts) : session.alerts;
  const same = stages === session.stages && services === session.services;
  return same && eta === session.eta && alerts === session.alerts
    ? session
    : { ...session, stages, services, eta, alerts };
}

/** Which of those that an event may touch are other objects now. */
function changedStages(
  before: Session["stages"],
  stages: Session["stages"],
  names: readonly string[],
): Session["stages"] {
  const changed = new Map<string, Stage>();
  if (before === stages) return changed;
  for (const name of names) {
    const stage = stages.get(name);
    if (stage && before.get(name) !== stage) changed.set(name, stage);
  }
  return changed;
}

/** Whether the finish of the whole may be another one. Most lines change neither a state nor a finish. */
function tellsFinish(before: Session["stages"], changed: Session["stages"]): boolean {
  for (const [name, { state, eta }] of changed) {
    const old = before.get(name);
    if (old?.state !== state || old.eta !== eta) return true;
  }
  return false;
}

/** Whether there may be other alerts: changed stages have some, or had. */
function tellsAlerts(alerts: readonly Alert[], changed: Session["stages"]): boolean {
  for (const [name, { members }] of changed) {
    if (members.some(({ state }) => isBad(lastSeen(state)))) return true;
    if (alerts.some(({ stage }) => stage === name)) return true;
  }
  return false;
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
  return a === b || (a.kind === b.kind && JSON.stringify(a) === JSON.stringify(b));
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

/** The graver, the less. */
const graveness = ({ state }: Member): number => gravity.indexOf(state.kind);

/** Of equally grave ones the first. */
function gravestMember(members: readonly Member[]): Member | undefined {
  let [worst] = members;
  for (const member of members) if (worst && graveness(member) < graveness(worst)) worst = member;
  return worst;
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
