import type { RunRecord } from "../ports";
import type { ConnectFailure } from "../errors";
import { lostText } from "./lostText";
import type { Again, ConnectionState, Member, SeenState, StageState } from "./model";
import { clockTime, count, duration, finishRange, firstSentence, list, progressParts, counter, quoted } from "./words";

/** A quick end is told from the start ("failed 0.4 s after start"), a late one by the clock. */
const quickEndMs = 120_000;

/** The word for a state, also the word in a row's `contextValue`. */
type StateWord =
  | "waiting"
  | "blocked"
  | "watching"
  | "launching"
  | "running"
  | "stalled"
  | "finished"
  | "unchecked"
  | "failed"
  | "stopped"
  | "lost"
  | "ended"
  | "refused"
  | "unknown";

/** How a state looks beside its words: a codicon, and a theme colour where it helps. */
interface StateLook {
  readonly word: StateWord;
  readonly icon: string;
  readonly color?: string;
}

const looks: Readonly<Record<StageState["kind"], StateLook>> = {
  waiting: { word: "waiting", icon: "circle-outline", color: "disabledForeground" },
  blocked: { word: "blocked", icon: "circle-slash", color: "disabledForeground" },
  watching: { word: "watching", icon: "eye", color: "charts.blue" },
  launching: { word: "launching", icon: "loading~spin", color: "charts.blue" },
  running: { word: "running", icon: "sync~spin", color: "charts.blue" },
  stalled: { word: "stalled", icon: "warning", color: "list.warningForeground" },
  finished: { word: "finished", icon: "pass", color: "testing.iconPassed" },
  "finished-unchecked": { word: "unchecked", icon: "pass" },
  failed: { word: "failed", icon: "error", color: "testing.iconFailed" },
  stopped: { word: "stopped", icon: "stop-circle" },
  lost: { word: "lost", icon: "debug-disconnect", color: "list.errorForeground" },
  "ended-unknown": { word: "ended", icon: "question" },
  refused: { word: "refused", icon: "circle-slash", color: "list.warningForeground" },
  unknown: { word: "unknown", icon: "question", color: "disabledForeground" },
};

/** Icon, colour and word of a state. */
export function stateLook(state: StageState): StateLook {
  const doubtful = state.kind === "finished-unchecked" && state.tooSoon === true;
  return doubtful ? { ...looks.stalled, word: "unchecked" } : looks[state.kind];
}

/** What of a member its words are made of. */
type MemberFacts = Pick<Member, "since" | "run" | "progress" | "eta" | "log" | "failures">;

/** One line that says what a member is doing: state, evidence, finish. `now`: ms since 1970. */
export function stateText(state: StageState, facts: MemberFacts, now: number): string {
  if (state.kind === "unknown") {
    if (state.since === 0) return join("not seen yet", state.why === "not connected" ? undefined : state.why);
    const was = `unknown since ${clockTime(state.since, now)} · was ${shortState(state.last)}`;
    const progress = facts.progress && counter(facts.progress);
    return progress === undefined || !isActive(state.last) ? was : `${was} at ${progress}`;
  }
  return seenText(state, facts, now);
}

function seenText(state: SeenState, facts: MemberFacts, now: number): string {
  switch (state.kind) {
    case "waiting":
      return state.for.length === 0 ? "not started" : `waits for ${list(state.for)}`;
    case "blocked":
      return `blocked by ${state.why}`;
    case "launching":
      return "starting…";
    case "watching":
      return activeText("watched", facts, now);
    case "running":
      return state.checking ? "ended · looking at what it wrote" : activeText(runningSince(facts, now), facts, now);
    case "stalled":
      return join(`stalled since ${clockTime(state.since, now)}`, state.why, facts.progress && counter(facts.progress));
    case "finished":
      return `${endedAt("finished", facts, now)}${took(facts.run)}`;
    case "finished-unchecked":
      return state.tooSoon ? tooSoonText(facts, now) : `${endedAt("finished", facts, now)} · result not checked`;
    case "failed":
      return join(
        failedText(state.cause, facts, now),
        state.lastLine && quoted(state.lastLine),
        state.again && againText(state.again, now),
      );
    case "stopped":
      return `${endedAt("stopped", facts, now)}${state.by === "" ? "" : ` by ${state.by}`}`;
    case "lost":
      return join("lost", state.why);
    case "ended-unknown":
      return `${endedAt("ended", facts, now)} · how is not known`;
    case "refused":
      return `not started · ${state.reason}`;
  }
}

function activeText(otherwise: string, facts: MemberFacts, now: number): string {
  if (facts.log?.state === "unreadable")
    return join(otherwise, `log cannot be read: ${facts.log.reason ?? "no reason given"}`);
  if (facts.progress === undefined) {
    return join(otherwise, facts.log?.state === "missing" ? "no log yet" : "no progress printed yet");
  }
  return join(...progressParts(facts.progress), facts.eta && finishRange(facts.eta, now)) || otherwise;
}

/** Exit 0 at once is what `docker run -d` or a script that found nothing to do say. */
function tooSoonText({ run, since }: MemberFacts, now: number): string {
  const lasted = run?.end && run.end.at - run.startedAt;
  const when = lasted === undefined ? clockTime(since, now) : `${duration(Math.max(0, lasted))} after start`;
  return `ended ${when} · exit 0, result not checked`;
}

function failedText(cause: string, facts: MemberFacts, now: number): string {
  const { run } = facts;
  const lasted = run?.end && run.end.at - run.startedAt;
  const when =
    lasted !== undefined && lasted >= 0 && lasted < quickEndMs
      ? `failed ${duration(lasted)} after start`
      : endedAt("failed", facts, now);
  return `${when} · ${causeWithExit(firstSentence(cause), run)}`;
}

/** What comes of a failed run's retries: `starts again in 40 s (2 of 3)`. */
function againText(again: Again, now: number): string {
  switch (again.kind) {
    case "due": {
      if (again.waitsFor !== undefined)
        return `waits for ${again.waitsFor}, then starts again (${again.attempt} of ${again.of})`;
      const when = again.at > now ? `in ${duration(again.at - now)}` : "now";
      return `starts again ${when} (${again.attempt} of ${again.of})`;
    }
    case "spent":
      return `given up after ${again.of === 1 ? "one retry" : `${count(again.of)} retries`}`;
    case "missed":
      return `was to start again ${clockTime(again.at, now)}, when nobody was connected`;
    case "stopped":
      return `not started again, by ${again.by}`;
    case "held":
      return `not started again by itself: ${again.why}`;
  }
}

/** The cause, and how the process ended if the cause does not say it: `hf is not on PATH (exit 127)`. */
export function causeWithExit(cause: string, run: RunRecord | undefined): string {
  const exit = run?.end?.exit;
  if (exit === undefined || exit.kind === "unknown" || /\bexit|SIG[A-Z]{2}|signal/.test(cause)) return cause;
  const open = cause.replace(/\.$/, "");
  if (exit.kind === "code") return exit.code === 0 ? cause : `${open} (exit ${exit.code})`;
  return `${open} (SIG${exit.signal.replace(/^SIG/, "")})`;
}

/** The state in one or two words, for "was running" and tables. */
export function shortState(state: SeenState): string {
  switch (state.kind) {
    case "finished-unchecked":
      return "finished, unchecked";
    case "ended-unknown":
      return "ended";
    case "refused":
      return "not started";
    case "watching":
      return "watched";
    default:
      return state.kind;
  }
}

function isActive(state: StageState): boolean {
  return state.kind === "running" || state.kind === "watching" || state.kind === "stalled";
}

/** A service in one line, with what its metrics say: `serving · 118 running, 0 waiting · KV 14 %`. */
export function serviceText(member: Member, now: number): string {
  const metrics = member.progress?.metrics ?? {};
  const [running, waiting, cache] = [metrics["running"], metrics["waiting"], metrics["kv_cache_pct"]];
  if (!isActive(member.state) || typeof running !== "number") return stateText(member.state, member, now);
  const queue = typeof waiting === "number" ? `, ${count(waiting)} waiting` : "";
  return join(
    member.state.kind === "stalled" ? `stalled since ${clockTime(member.state.since, now)}` : "serving",
    `${count(running)} running${queue}`,
    typeof cache === "number" ? `KV ${count(cache)} %` : undefined,
  );
}

/** Whether a host can be seen, in words for its row. */
export function connectionText(connection: ConnectionState, now: number): string {
  switch (connection.kind) {
    case "not-connected":
      return "not connected";
    case "connecting":
      return "connecting…";
    case "connected":
      return "connected";
    case "lost":
      return `unknown since ${clockTime(connection.since, now)} · ${connection.message}`;
    case "failed":
      return failedConnection(connection.reason, connection.message, connection.retryAt, now);
  }
}

function failedConnection(reason: ConnectFailure, message: string, retryAt: number | undefined, now: number): string {
  if (needsPerson(reason)) return "needs login · click to connect";
  const retry =
    retryAt === undefined ? undefined : retryAt <= now ? "trying again" : `tries again ${clockTime(retryAt, now)}`;
  return join("not connected", message, retry);
}

/** Whether connecting only waits for a person to answer. */
export function needsPerson(reason: ConnectFailure): boolean {
  return reason === "needs-login" || reason === "host-key-unknown";
}

/** What a log is in, and since when it is quiet; undefined when there is nothing worth saying. */
export function logText(log: NonNullable<Member["log"]>, now: number): string {
  const quiet = log.grewAt === undefined ? undefined : `last output ${clockTime(log.grewAt, now)}`;
  const lost = lostText(log);
  const state = {
    "not-read": "not read yet",
    missing: "not there yet",
    "catching-up": "being read",
    following: undefined,
  };
  const word = log.state === "unreadable" ? `cannot be read: ${log.reason ?? "no reason given"}` : state[log.state];
  return join(word, quiet, lost);
}

function runningSince(facts: MemberFacts, now: number): string {
  return `running since ${clockTime(facts.since, now)}`;
}

function endedAt(verb: string, facts: MemberFacts, now: number): string {
  return `${verb} ${clockTime(facts.since, now)}`;
}

function took(run: RunRecord | undefined): string {
  return run?.end ? ` · took ${duration(run.end.at - run.startedAt)}` : "";
}

/** Parts that are there, joined as in all our rows. */
export function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" · ");
}
