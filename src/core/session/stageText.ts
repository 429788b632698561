import { lastSeen } from "./judge";
import type { Member, Stage } from "./model";
import { causeWithExit, join, shortState, stateText } from "./stateWords";
import { count, finishRange, firstSentence, quoted } from "./words";

/** The gravest first, as a reader looks for them. */
const order: readonly string[] = [
  "failed",
  "lost",
  "not started",
  "stalled",
  "stopped",
  "ended",
  "unknown",
  "starting",
  "running",
  "watched",
  "blocked",
  "queued",
  "waiting",
];

/** A stage in one line: its only member's, or how many members are in which state, and what the first failure is. */
export function stageText(stage: Stage, now: number): string {
  const { members, state } = stage;
  const [first] = members;
  if (members.length < 2) return stateText(state, first ?? { since: stage.since, failures: [] }, now);
  if (first && members.every((member) => isIdle(member) && member.queuedFor === undefined))
    return stateText(state, first, now);
  return join(membersText(members), causeText(members), stage.eta && finishRange(stage.eta, now));
}

function isIdle({ state }: Member): boolean {
  const { kind } = lastSeen(state);
  return kind === "waiting" || kind === "blocked";
}

/** `6/8 finished, 1 failed, 1 running`. */
function membersText(members: readonly Member[]): string {
  const words = new Map<string, number>();
  for (const member of members) words.set(wordOf(member), (words.get(wordOf(member)) ?? 0) + 1);
  const unchecked = words.get("unchecked") ?? 0;
  const finished = (words.get("finished") ?? 0) + unchecked;
  const others = order.filter((word) => words.has(word)).map((word) => `${count(words.get(word) ?? 0)} ${word}`);
  return [
    `${count(finished)}/${count(members.length)} finished`,
    ...others,
    ...(unchecked > 0 ? [`${unchecked === members.length ? "results" : count(unchecked)} not checked`] : []),
  ].join(", ");
}

function wordOf({ state, queuedFor }: Member): string {
  if (state.kind === "unknown") return "unknown";
  if (state.kind === "waiting" && queuedFor !== undefined) return "queued";
  if (state.kind === "finished-unchecked") return "unchecked";
  return state.kind === "launching" ? "starting" : shortState(state);
}

/** Which member failed first, and of what: `3: CUDA ran out of memory (exit 1)`. */
function causeText(members: readonly Member[]): string | undefined {
  for (const { name, state, run } of members) {
    if (state.kind === "failed")
      return join(
        `${name}: ${causeWithExit(firstSentence(state.cause), run)}`,
        state.lastLine === undefined ? undefined : quoted(state.lastLine),
      );
    if (state.kind === "lost") return `${name}: ${state.why}`;
  }
  return undefined;
}

/** How far a stage is, per cent: its only member's, or the mean over all, of whom those who wait have done nothing. */
export function stagePercent(stage: Stage, of: (member: Member) => number | undefined): number | undefined {
  const { members } = stage;
  const [first] = members;
  if (members.length < 2) return first && of(first);
  const known = members.map((member) => (isDone(member) ? 100 : isIdle(member) ? 0 : of(member)));
  if (known.every((percent) => percent === undefined || percent === 0)) return undefined;
  return Math.floor(known.reduce((sum: number, percent) => sum + (percent ?? 0), 0) / members.length);
}

/** The counter of a stage of many members, for tables: `6 / 8`. */
export function membersDone({ members }: Stage): string {
  return `${count(members.filter(isDone).length)} / ${count(members.length)}`;
}

function isDone({ state }: Member): boolean {
  const { kind } = lastSeen(state);
  return kind === "finished" || kind === "finished-unchecked";
}
