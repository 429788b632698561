import { ExpectedError } from "../errors";
import { ofMember, type SessionDefinition, type StageDefinition } from "./definition";
import { dependantsOf } from "./dependants";
import type { MemberRef } from "./events";
import { isActive, lastSeen } from "./judge";
import type { Member, PipelinePlan, Session, StageState } from "./model";
import { inOrderOfNeeds } from "./needsOrder";

/** Names a member in plans: `stage/member`. Neither of the names can hold a `/`. */
export function memberKey(ref: MemberRef): string {
  return `${ref.stage}/${ref.member}`;
}

/** Whether the state says that the member's work is done, checked or not. */
export function isFinished(state: StageState): boolean {
  const seen = lastSeen(state);
  return seen.kind === "finished" || seen.kind === "finished-unchecked";
}

/** The stage and what needs it, directly or not, as far as it can be launched: each after what it needs. */
export function stagesFrom(definition: SessionDefinition, start: string): readonly string[] {
  const wanted = new Set([start]);
  // A stage that only watches is not launched, yet what waits for it belongs to the pipeline.
  const order = inOrderOfNeeds(definition);
  for (const name of order) {
    if (definition.stages.get(name)?.needs.some((need) => wanted.has(need))) wanted.add(name);
  }
  return order.filter((name) => wanted.has(name) && definition.stages.get(name)?.command !== undefined);
}

/**
 * What the stages need, directly or not, that is neither finished nor at work nor among them, and could be launched
 * with them: each after what it needs.
 */
export function unfinishedNeeds(session: Session, stages: readonly string[]): readonly string[] {
  const { definition } = session;
  const open = new Set<string>();
  const visit = (name: string): void => {
    for (const need of definition.stages.get(name)?.needs ?? []) {
      const stage = session.stages.get(need);
      if (!stage || open.has(need) || stages.includes(need)) continue;
      if (stage.members.every(({ state }) => isFinished(state) || isActive(lastSeen(state)))) continue;
      if (stage.definition.command !== undefined) open.add(need);
      visit(need);
    }
  };
  for (const name of stages) visit(name);
  return inOrderOfNeeds(definition).filter((name) => open.has(name));
}

/** A plan to launch the stages, as their members stand now. Throws ExpectedError where nobody can see how they stand. */
export function planOf(session: Session, stages: readonly string[]): PipelinePlan {
  const again: Record<string, string> = {};
  for (const name of stages) {
    const stage = session.stages.get(name);
    if (!stage) throw new ExpectedError(`The session has no stage ${name}.`);
    const host = session.hosts.get(stage.definition.host);
    if (host?.connection.kind !== "connected") throw new ExpectedError(`${stage.definition.host} is not connected.`);
    if (host.recordsAt === undefined)
      throw new ExpectedError(`What has run on ${stage.definition.host} is being read: try again in a moment.`);
    for (const member of stage.members) {
      if (member.run && !isFinished(member.state) && !isActive(lastSeen(member.state)))
        again[memberKey({ stage: name, member: member.name })] = member.run.run;
    }
  }
  return { stages, again, leftOut: [], givenUp: [], regardless: [], ways: {} };
}

/** A plan that does what the older one still has to do, and the newer one: what that says of a stage holds. */
export function joined(definition: SessionDefinition, older: PipelinePlan, newer: PipelinePlan): PipelinePlan {
  const isNew = (key: string): boolean => newer.stages.includes(key.split("/")[0] ?? "");
  const stages = new Set([...older.stages, ...newer.stages]);
  const kept = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !isNew(key)));
  return {
    stages: inOrderOfNeeds(definition).filter((name) => stages.has(name)),
    again: { ...kept(older.again), ...newer.again },
    leftOut: [...older.leftOut.filter((key) => !isNew(key)), ...newer.leftOut],
    givenUp: older.givenUp.filter((key) => !isNew(key)),
    regardless: [...older.regardless.filter((name) => !isNew(name)), ...newer.regardless],
    ways: { ...kept(older.ways), ...newer.ways },
  };
}

/** A plan for some members of one stage: all at once as far as their GPUs let them, whatever the stage needs. */
export function planOfMembers(session: Session, stage: string, members: readonly string[]): PipelinePlan {
  return planOfRefs(
    session,
    members.map((member) => ({ stage, member })),
  );
}

/** A plan for these members and no others, whatever their stages need: but after each other as they need each other. */
export function planOfRefs(session: Session, refs: readonly MemberRef[]): PipelinePlan {
  const wanted = new Set(refs.map(memberKey));
  const named = new Set(refs.map(({ stage }) => stage));
  const stages = inOrderOfNeeds(session.definition).filter((name) => named.has(name));
  const after = new Set(stages.flatMap((name) => dependantsOf(session, name)));
  const leftOut = stages.flatMap((stage) =>
    (session.stages.get(stage)?.members ?? [])
      .map(({ name }) => memberKey({ stage, member: name }))
      .filter((key) => !wanted.has(key)),
  );
  return { ...planOf(session, stages), leftOut, regardless: stages.filter((name) => !after.has(name)) };
}

/** A member that a plan still has to launch. */
export interface OpenMember {
  readonly ref: MemberRef;
  readonly member: Member;
  /** Its stage as this member runs it. */
  readonly definition: StageDefinition;
}

/**
 * The members that the plan has yet to launch: those that never ran, and those whose run is to be repeated. What is
 * finished or at work, or was started by somebody since the plan was made, is not among them.
 */
export function toLaunch(session: Session, plan: PipelinePlan): readonly OpenMember[] {
  return plan.stages.flatMap((name) => {
    const stage = session.stages.get(name);
    if (stage?.definition.command === undefined) return [];
    return stage.members.flatMap((member) => {
      const ref = { stage: name, member: member.name };
      const fresh = member.run === undefined || plan.again[memberKey(ref)] === member.run.run;
      if (!fresh || plan.leftOut.includes(memberKey(ref)) || plan.givenUp.includes(memberKey(ref))) return [];
      if (isFinished(member.state) || isActive(lastSeen(member.state))) return [];
      return { ref, member, definition: ofMember(stage.definition, member.name) };
    });
  });
}
