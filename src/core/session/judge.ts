import type { FailureReading } from "../log/reading";
import type { RunEnd, RunRecord } from "../ports";
import type { StageDefinition } from "./definition";
import { helpOf } from "./cure";
import { exitMeaning, isKill, killMeaning } from "./exitWords";
import type { ConnectionState, Member, SeenState, StageState } from "./model";
import { withRetry } from "./retry";
import { stalledSince } from "./stall";
import { shortState } from "./stateWords";

/** How long a log may be behind the record of the end before the exit status alone has to do as a cause. */
const lastWordsMs = 1000;
/** The same for a log that was not read to its end yet. */
const unreadLogMs = 6000;

/** A success after less time than this may be of a command that did nothing, or left its work to somebody else. */
const tooSoonMs = 10_000;

/** The two states that are judged at each line of a log: always the same objects, so that it costs nothing to see that. */
const running: SeenState = { kind: "running" };
const watching: SeenState = { kind: "watching" };

/** What a member's state is judged from, besides the member itself. */
export interface Circumstances {
  /** Absent for services: they have no needs and no end of their own. */
  readonly stage?: StageDefinition;
  /** States of what it needs, by name. */
  readonly needs: ReadonlyMap<string, StageState>;
  readonly connection: ConnectionState;
  /** When the host was last seen, our clock; what is unknown is unknown since then. 0: it never was. */
  readonly seenAt: number;
  readonly now: number;
  /** Host clock minus ours, ms; 0 when absent. */
  readonly clockOffsetMs?: number;
}

/**
 * The state of a member, from nothing but evidence: its run record, its log, its outputs, and whether the host can be
 * seen. Pure; DESIGN section 7. A member whose host cannot be seen is never red: it is unknown, and what it was last.
 */
export function judge(member: Member, around: Circumstances): StageState {
  const seen = withRetry(judgeSeen(member, around), member, around);
  if (around.connection.kind !== "connected") {
    return { kind: "unknown", since: around.seenAt, why: whyUnseen(around.connection), last: seen };
  }
  if (member.run?.liveness === "elsewhere" && member.run.end === undefined) {
    const why = `recorded on ${member.run.recordedOn.hostname}, cannot be judged from here`;
    return { kind: "unknown", since: around.seenAt, why, last: { kind: "running" } };
  }
  return seen;
}

/** Whether nothing more will happen by itself. */
export function isOver(state: StageState): boolean {
  return (
    state.kind === "finished" ||
    state.kind === "finished-unchecked" ||
    state.kind === "failed" ||
    state.kind === "stopped" ||
    state.kind === "lost" ||
    state.kind === "ended-unknown"
  );
}

/** Whether a person should look: the stage is red. */
export function isBad(state: StageState): boolean {
  return state.kind === "failed" || state.kind === "lost";
}

/** Whether something of ours or of somebody else's is at work. */
export function isActive(state: StageState): boolean {
  return (
    state.kind === "running" || state.kind === "stalled" || state.kind === "launching" || state.kind === "watching"
  );
}

/** What a state is, or was when it was last seen. */
export function lastSeen(state: StageState): SeenState {
  return state.kind === "unknown" ? state.last : state;
}

function judgeSeen(member: Member, around: Circumstances): SeenState {
  const before = lastSeen(member.state);
  // Launching and refused are told by the launcher, and hold until the record of a new run says more (member.ts).
  const live = member.run?.liveness === "running";
  if (before.kind === "launching" || (before.kind === "refused" && !live)) return before;
  if (member.run) return judgeRun(member.run, member, around);
  if (hasForeignLog(member)) return judgeForeignLog(member, around);
  return judgeNeeds(around.needs, member.queuedFor);
}

function judgeRun(run: RunRecord, member: Member, around: Circumstances): SeenState {
  if (run.end) return judgeEnd(run, run.end, member, around);
  if (run.liveness === "rebooted") return { kind: "lost", why: "the host was restarted while it ran" };
  if (run.liveness === "deleted") {
    return { kind: "lost", why: "its record on the host was deleted: whether it still runs cannot be told" };
  }
  if (run.liveness === "gone" || run.liveness === "ended") {
    return { kind: "lost", why: "its process is gone and left no exit code" };
  }
  return stalled(member, around) ?? running;
}

function judgeEnd(run: RunRecord, end: RunEnd, member: Member, around: Circumstances): SeenState {
  const { exit } = end;
  const success = exit.kind === "code" && exit.code === 0;
  if (!success && run.stopRequestedBy !== undefined) return { kind: "stopped", by: run.stopRequestedBy };
  const failure = gravest(member.failures);
  if (!success) {
    if (run.setupFailed !== undefined) return { kind: "failed", ...setupMeaning(run.setupFailed, failure) };
    if (failure) return { ...failedBy(failure, member), ...killedBy(end, failure) };
    // The record of the end may be here before the last words of the log, which know the cause.
    const patience = patienceWith(member, run);
    if (around.now - (member.endSeenAt ?? 0) < patience) return { kind: "running" };
    return { kind: "failed", ...exitMeaning(end), ...lastWords(member) };
  }
  if (around.stage?.doneWhen) return judgeOutputs(member, failure);
  // A success line never cancels a failure, and neither does exit 0 of a script that went on after one.
  return failure ? failedBy(failure, member) : unchecked(run);
}

/** How long to wait for the last words of a log; no time where all of it was read. */
function patienceWith(member: Member, run: RunRecord): number {
  if (member.wordsReadOf === run.run) return 0;
  return member.log?.state === "following" ? lastWordsMs : unreadLogMs;
}

/** What no rule knows the log may still say: a person reads its last line. */
function lastWords({ lastLine, wordsReadOf, run }: Member): { readonly lastLine?: string } {
  return lastLine === undefined || wordsReadOf !== run?.run ? {} : { lastLine };
}

/** Where the log says no more than `Killed`, as shells do, the kernel's counts know better why. */
function killedBy({ exit, oomKills }: RunEnd, { failure, text }: FailureReading): object {
  const saysNoMore = failure === "killed-oom" && !/oom|memory/i.test(text);
  return saysNoMore && isKill(exit) && oomKills ? killMeaning(oomKills) : {};
}

function unchecked(run: RunRecord): SeenState {
  const lasted = (run.end?.at ?? 0) - run.startedAt;
  return lasted < tooSoonMs ? { kind: "finished-unchecked", tooSoon: true } : { kind: "finished-unchecked" };
}

/** The command never ran: what the log says is about `setup`. */
function setupMeaning(line: string, failure: FailureReading | undefined): Omit<Failed, "kind"> {
  const cause = `the setup line \`${line}\` failed`;
  const remedy = "Mend `setup` of the host in the session file, then start it again.";
  if (!failure) return { cause, remedy };
  return { cause: `${cause}: ${failure.cause}`, remedy: `${failure.remedy} ${remedy}`, failure };
}

function judgeOutputs(member: Member, failure: FailureReading | undefined): SeenState {
  const { outputs } = member;
  // Nothing that needs it may start on what nobody has looked at yet.
  if (!outputs) return { kind: "running", checking: true };
  if (outputs.unchecked !== undefined) return failure ? failedBy(failure, member) : { kind: "finished-unchecked" };
  if (outputs.ok) return { kind: "finished" };
  if (failure) return { ...failedBy(failure, member), unfinished: outputs };
  return {
    kind: "failed",
    cause: `it ended with exit code 0, but ${outputs.detail}`,
    remedy: "Look at its log for what was skipped, then start it again.",
    unfinished: outputs,
  };
}

type Failed = Extract<SeenState, { kind: "failed" }>;

function failedBy(failure: FailureReading, { cures }: Pick<Member, "cures">): Failed {
  return { kind: "failed", cause: failure.cause, remedy: helpOf(failure, cures) ?? failure.remedy, failure };
}

/** The first failure that ended it: of errors the first, since what follows is mostly its echo. */
export function gravest(failures: readonly FailureReading[]): FailureReading | undefined {
  return failures.find((failure) => failure.severity === "error");
}

function hasForeignLog(member: Member): boolean {
  return member.log?.state === "following" || member.log?.state === "catching-up";
}

/** A log that no run of ours writes: somebody started the job by hand. Its writer tells whether it is alive. */
function judgeForeignLog(member: Member, around: Circumstances): SeenState {
  const { writer } = member;
  if (!writer) return watching;
  if (writer.open === true) return stalled(member, around) ?? (member.progress ? running : watching);
  const failure = gravest(member.failures);
  if (failure && (writer.open === false || !movedOnAfter(failure, member))) return failedBy(failure, member);
  if (writer.open === undefined) return watching;
  return { kind: isThrough(member) ? "finished-unchecked" : "ended-unknown" };
}

function movedOnAfter(failure: FailureReading, member: Member): boolean {
  return (member.progress?.offset ?? -1) > failure.offset;
}

function isThrough(member: Member): boolean {
  const { done, total } = member.progress ?? {};
  return done !== undefined && total !== undefined && done >= total;
}

function stalled(member: Member, around: Circumstances): SeenState | undefined {
  const stall = stalledSince(member, around.stage?.stalledAfterSeconds, around.now);
  return stall && { kind: "stalled", ...stall };
}

/** @param queuedFor what else a launch waits for */
function judgeNeeds(needs: ReadonlyMap<string, StageState>, queuedFor: string | undefined): SeenState {
  const open: string[] = [];
  const broken = new Map<string, string>();
  for (const [name, state] of needs) {
    const seen = lastSeen(state);
    if (goesOnByPerson(seen)) broken.set(name, `${name}: ${shortState(seen)}`);
    else if (!isOver(seen)) open.push(name);
  }
  if (broken.size > 0) return { kind: "blocked", by: [...broken.keys()], why: [...broken.values()].join(", ") };
  return { kind: "waiting", for: queuedFor === undefined ? open : [...open, queuedFor] };
}

/** Whether what needs it waits for a person (or a retry) to mend it. */
function goesOnByPerson(state: SeenState): boolean {
  return (
    isBad(state) ||
    state.kind === "blocked" ||
    state.kind === "stopped" ||
    state.kind === "refused" ||
    state.kind === "ended-unknown"
  );
}

function whyUnseen(connection: ConnectionState): string {
  switch (connection.kind) {
    case "connected":
      return "";
    case "not-connected":
      return "not connected";
    case "connecting":
      return "connecting";
    case "failed":
    case "lost":
      return connection.message;
  }
}
