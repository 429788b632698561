import { ofMember } from "./definition";
import type { MemberRef } from "./events";
import { GpuQueue } from "./gpuQueue";
import { isActive, lastSeen } from "./judge";
import type { Member, Pipeline, PipelinePlan, SeenState, Session, Stage } from "./model";
import { isFinished, memberKey, toLaunch, type OpenMember } from "./pipelinePlan";

/** Words of a log that fail a run may come so long after the record of its end; see judge.ts. */
const lastWordsMs = 2000;
const unreadLogMs = 6500;

/** What the decision is made from besides the session. */
export interface LaunchMoment {
  /** Our clock, ms since 1970. */
  readonly now: number;
  /** Members, as `stage/member`, whose launch is under way. */
  readonly inFlight: ReadonlySet<string>;
  /** Members that are not to be tried (again) now, since a launch of theirs was refused. */
  readonly heldBack: ReadonlySet<string>;
}

/** What a pipeline does next. */
export interface NextLaunches {
  /** To be started now, in this order. */
  readonly launch: readonly MemberRef[];
  /** Members that have all they need but their turn → what for, in words that follow "waits for". */
  readonly queued: ReadonlyMap<string, string>;
  /** Members that must not start on what they find → why. */
  readonly refuse: readonly { readonly ref: MemberRef; readonly reason: string }[];
  readonly standing: Pipeline["standing"];
}

/**
 * What is to be started now of a pipeline. Pure. A member starts when everything its stage needs is surely finished
 * (services count as there), its host can be seen, and its GPUs are free. Nothing is started twice: what is finished,
 * at work or was started by somebody since the plan was made is left alone.
 */
export function nextLaunches(session: Session, plan: PipelinePlan, moment: LaunchMoment): NextLaunches {
  const { now, inFlight, heldBack } = moment;
  const gpus = new GpuQueue(session, now, inFlight);
  const launch: MemberRef[] = [];
  const queued = new Map<string, string>();
  const refuse: { ref: MemberRef; reason: string }[] = [];
  let moving = inFlight.size > 0;
  for (const one of toLaunch(session, plan)) {
    const key = memberKey(one.ref);
    if (inFlight.has(key) || heldBack.has(key)) continue;
    const needs = plan.regardless.includes(one.ref.stage) ? "finished" : needsOf(session, one, now);
    if (needs !== "finished") {
      moving ||= needs === "soon";
      continue;
    }
    const obstacle = obstacleOf(session, one);
    const turn = obstacle === undefined ? gpus.turn(one) : ({ kind: "waits", for: obstacle } as const);
    // What only a person can take out of the way does not move by itself.
    moving ||= turn.kind !== "refused" && one.definition.unsupported.length === 0;
    if (turn.kind === "waits") queued.set(key, turn.for);
    else if (turn.kind === "refused") refuse.push({ ref: one.ref, reason: turn.reason });
    else {
      gpus.take(one);
      launch.push(one.ref);
    }
  }
  return { launch, queued, refuse, standing: standingOf(session, plan, moving, now) };
}

/** What keeps a member whose needs are finished from being launched, other than GPUs. */
function obstacleOf(session: Session, { definition }: OpenMember): string | undefined {
  if (definition.unsupported.length > 0) return `the session file (${definition.unsupported[0] ?? ""})`;
  const host = session.hosts.get(definition.host);
  if (host?.connection.kind !== "connected") return `${definition.host} to be connected`;
  return host.recordsAt === undefined ? `the records of ${definition.host}` : undefined;
}

/** `soon`: all of them have ended well, but for some that is not sure yet. */
function needsOf(session: Session, { definition }: OpenMember, now: number): "finished" | "soon" | "open" {
  let sure = true;
  for (const need of definition.needs) {
    const stage = session.stages.get(need);
    if (!stage && !session.services.has(need)) return "open";
    if (!(stage?.members ?? []).every(({ state }) => isFinished(state))) return "open";
    sure &&= stage === undefined || surelyFinished(stage, now);
  }
  return sure ? "finished" : "soon";
}

/**
 * Whether nothing that is still on its way can turn the stage's success into a failure: the look at its outputs, and
 * the last words of its logs.
 */
export function surelyFinished(stage: Stage, now: number): boolean {
  return stage.members.every((member) => memberIsSure(stage, member, now));
}

function memberIsSure(stage: Stage, member: Member, now: number): boolean {
  const { kind } = lastSeen(member.state);
  if (kind === "finished") return true;
  if (kind !== "finished-unchecked") return false;
  if (!member.run) return true;
  if (ofMember(stage.definition, member.name).doneWhen && !member.outputs) return false;
  const patience = member.log?.state === "following" ? lastWordsMs : unreadLogMs;
  return now - (member.endSeenAt ?? now) >= patience;
}

function standingOf(session: Session, plan: PipelinePlan, moving: boolean, now: number): Pipeline["standing"] {
  if (plan.stages.every((name) => isThrough(session, plan, name, now))) return "through";
  return moving || withNeeds(session, plan.stages).some(mayMove) ? "going" : "stuck";

  function mayMove(stage: Stage): boolean {
    const host = session.hosts.get(stage.definition.host);
    // Of what cannot be seen nobody can say that it stands still.
    const seen = host?.connection.kind === "connected" && host.recordsAt !== undefined;
    const unsure = stage.members.every(({ state }) => isFinished(state)) && !surelyFinished(stage, now);
    return !seen || unsure || stage.members.some(({ state }) => goesOn(lastSeen(state)));
  }
}

/** Whether something happens by itself: it is at work, or waits for its next try. */
function goesOn(state: SeenState): boolean {
  return isActive(state) || (state.kind === "failed" && state.again?.kind === "due");
}

/** Whether all that the plan is to launch of the stage has ended well. */
function isThrough(session: Session, plan: PipelinePlan, name: string, now: number): boolean {
  const stage = session.stages.get(name);
  // A stage that is not in the file any more may be there again when a mistake in it is mended.
  if (!stage) return false;
  const wanted = stage.members.filter(
    (member) => !plan.leftOut.includes(memberKey({ stage: name, member: member.name })),
  );
  return wanted.every((member) => memberIsSure(stage, member, now));
}

/** The stages and all stages that they need, directly or not. */
function withNeeds(session: Session, names: readonly string[]): readonly Stage[] {
  const all = new Set<string>(names);
  // A set hands out what is added while it is walked through.
  for (const name of all) for (const need of session.stages.get(name)?.definition.needs ?? []) all.add(need);
  return [...all].flatMap((name) => session.stages.get(name) ?? []);
}
