import { inOrderOfNeeds } from "./needsOrder";
import { isBad, lastSeen } from "./judge";
import { plainMessage } from "./markdown";
import { memberTitle } from "./memberTitle";
import type { PipelinePlan, Session, Stage } from "./model";
import { isFinished, memberKey, toLaunch } from "./pipelinePlan";
import { shortState } from "./stateWords";
import { amount, count, list } from "./words";

/** What a plan will do, for the dialog that asks: the stages in their order, what they wait for, and what is not checked. */
export function planDetail(session: Session, plan: PipelinePlan): string {
  const open = toLaunch(session, plan);
  const stages = inOrderOfNeeds(session.definition).flatMap((name) => {
    const members = open.filter(({ ref }) => ref.stage === name).length;
    if (members === 0) return [];
    const many = (session.stages.get(name)?.members.length ?? 0) > 1 ? ` (${amount(members, "member")})` : "";
    const way = plan.ways[name];
    return `${name}${many}${way === undefined ? "" : `, ${wayWords[way]}`}`;
  });
  const lines = stages.map((text, i) => `${count(i + 1)}. ${text}`);
  const unchecked = plan.stages.filter((name) => isUnchecked(session, plan, name));
  return [
    lines.join("\n"),
    "Each starts by itself when what it needs is finished and its GPUs are free, while this window is open.",
    ...outsideWords(session, plan),
    unchecked.length === 0
      ? undefined
      : `Nothing is declared to check of ${list(unchecked)} (done_when): exit code 0 counts as finished.`,
  ]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

const wayWords: Readonly<Record<PipelinePlan["ways"][string], string>> = {
  resume: "going on with what is there",
  over: "over what is there",
  copy: "over what is there, of which a copy is kept",
  aside: "after what is there was renamed",
};

/** Whether stages start on nothing but its exit code. */
function isUnchecked(session: Session, plan: PipelinePlan, name: string): boolean {
  const { stages } = session.definition;
  const needed = plan.stages.some((other) => stages.get(other)?.needs.includes(name) === true);
  return needed && stages.get(name)?.doneWhen === undefined;
}

/** Needs that are neither finished nor among the stages: somebody else must bring them about. */
function outsideWords(session: Session, plan: PipelinePlan): readonly string[] {
  return plan.stages.flatMap((name) => {
    if (plan.regardless.includes(name)) return [];
    const open = (session.definition.stages.get(name)?.needs ?? []).filter((need) => {
      const state = session.stages.get(need)?.state;
      return state !== undefined && !isFinished(state) && !plan.stages.includes(need);
    });
    return open.length === 0 ? [] : [`${name} waits for ${list(open)}, which this does not launch.`];
  });
}

/** One message about a pipeline, to be shown once. */
export interface PipelineNotice {
  /** The same for as long as it must not be shown again. */
  readonly key: string;
  readonly message: string;
  readonly bad: boolean;
}

/**
 * What to tell of a session's pipeline: that it is through, or that it cannot go on. Nothing while it goes on, and nothing
 * where failures keep it that are told as such already, or what was stopped by `me` (as runs say who launched them).
 */
export function pipelineNotice(session: Session, me: string): PipelineNotice | undefined {
  const { pipeline, definition } = session;
  if (!pipeline || pipeline.standing === "going") return undefined;
  const stages = pipeline.plan.stages.flatMap((name) => session.stages.get(name) ?? []);
  const names = list(stages.map((stage) => stage.definition.name));
  if (pipeline.standing === "through") {
    const runs = stages.flatMap(({ members }) => members.map(({ run }) => run?.run ?? ""));
    const unchecked = stages.filter(({ state }) => lastSeen(state).kind === "finished-unchecked");
    const doubt =
      unchecked.length === 0 ? "" : ` Not checked: ${list(unchecked.map((stage) => stage.definition.name))}.`;
    const verb = stages.length === 1 ? "is" : "are";
    const message = `${definition.name}: ${names} ${verb} finished.${doubt}`;
    return { key: JSON.stringify([session.id, "through", runs]), message: plainMessage(message), bad: false };
  }
  const blockers = blockersOf(session, pipeline.plan, me);
  if (blockers.length > 0 && blockers.every(({ told }) => told)) return undefined;
  const words = blockers.map(({ text }) => text);
  const message = `${definition.name}: the pipeline cannot go on. ${words.slice(0, 4).join("; ")}. It goes on by itself when that is mended.`;
  return { key: JSON.stringify([session.id, "stuck", words]), message: plainMessage(message), bad: true };
}

interface Blocker {
  readonly text: string;
  /** An alert tells of it, or the person knows it. */
  readonly told: boolean;
}

/** What keeps a pipeline from going on: stages of it, or that it needs, that neither are finished nor wait for others. */
function blockersOf(session: Session, plan: PipelinePlan, me: string): readonly Blocker[] {
  const names = new Set<string>(plan.stages);
  // A set hands out what is added while it is walked through.
  for (const name of names) for (const need of session.stages.get(name)?.definition.needs ?? []) names.add(need);
  return [...names].flatMap((name) => {
    const stage = session.stages.get(name);
    return stage ? blockersIn(session, stage, plan, me) : [];
  });
}

function blockersIn(session: Session, stage: Stage, plan: PipelinePlan, me: string): readonly Blocker[] {
  const { name } = stage.definition;
  return stage.members.flatMap((member) => {
    const seen = lastSeen(member.state);
    if (
      isFinished(seen) ||
      seen.kind === "blocked" ||
      plan.leftOut.includes(memberKey({ stage: name, member: member.name }))
    )
      return [];
    if (seen.kind === "waiting" && plan.stages.includes(name) && member.queuedFor === undefined) return [];
    const alerted = isBad(seen) && session.alerts.some((alert) => alert.stage === name && alert.member === member.name);
    const told = alerted || (seen.kind === "stopped" && seen.by === me);
    const why =
      seen.kind === "refused"
        ? `: ${seen.reason}`
        : member.queuedFor === undefined
          ? ""
          : `: it waits for ${member.queuedFor}`;
    return { text: `${memberTitle(stage, member.name)} ${verbOf(shortState(seen))}${why}`, told };
  });
}

function verbOf(word: string): string {
  return word === "waiting" || word === "not started"
    ? "was not started"
    : `is ${word}`.replace("is failed", "has failed");
}
