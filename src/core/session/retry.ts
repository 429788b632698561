import type { RunRecord } from "../ports";
import type { Retries, StageDefinition } from "./definition";
import { noteOf } from "./launchNote";
import type { Again, Member, SeenState } from "./model";

/** Waits double, but nobody waits longer than this for a host that is back, ms. */
const longestWaitMs = 3_600_000;
/** A retry that was due when nobody was connected is started late, but not the next morning. */
const latestMs = 30 * 60_000;

/** Failures of which their kind does not tell whether another try would end otherwise: they count as unknown. */
const unclear: ReadonlySet<string> = new Set([
  "cuda-oom",
  "cuda-error",
  "gpu-unavailable",
  "killed-oom",
  "segfault",
  "native-crash",
  "shared-memory",
  "nan-loss",
  "weights-mismatch",
  "python-exception",
  "worker-died",
  "engine-dead",
  "silent-fallback",
  "partial-output",
  "request-errors",
  "stalled",
]);

/** Not executable, not found (POSIX shell), wrong usage (bash and most tools; 64 in sysexits.h), Ctrl-C. */
const permanentCodes: ReadonlySet<number> = new Set([126, 127, 2, 64, 130]);

/**
 * Whether another try may end otherwise: `permanent` causes are never tried again. From the failure that the log names,
 * else from the exit status.
 */
function prospectOf(
  state: Extract<SeenState, { kind: "failed" }>,
  run: RunRecord,
): "permanent" | "transient" | "unknown" {
  const exit = run.end?.exit;
  if (run.setupFailed !== undefined || state.failure?.permanent === true) return "permanent";
  if (exit?.kind === "code" && permanentCodes.has(exit.code)) return "permanent";
  // Somebody meant it.
  if (exit?.kind === "signal" && exit.signal.replace(/^SIG/, "") === "INT") return "permanent";
  return state.failure && !unclear.has(state.failure.failure) ? "transient" : "unknown";
}

/** What a retry is judged by, besides the member. */
interface Times {
  readonly stage?: StageDefinition;
  /** Host clock minus ours, ms. */
  readonly clockOffsetMs?: number;
  readonly now: number;
}

/**
 * A failed state with what comes next by itself, if the stage has `retries`. Pure, and counted from the run's record alone,
 * so that every window, and the same one after a reload, says the same.
 */
export function withRetry(state: SeenState, member: Member, times: Times): SeenState {
  const { run } = member;
  const retries = times.stage?.retries;
  if (state.kind !== "failed" || !retries || retries.max < 1 || run?.end === undefined) return state;
  const again = refusal(state, member, run, retries) ?? nextTry(member, run, retries, times);
  return again === "none" ? state : { ...state, again };
}

/** Why it is not started again; undefined if it is. */
function refusal(
  state: Extract<SeenState, { kind: "failed" }>,
  { retryHeld }: Member,
  run: RunRecord,
  retries: Retries,
): Again | "none" | undefined {
  if (run.retryStoppedBy !== undefined) return { kind: "stopped", by: run.retryStoppedBy };
  const prospect = prospectOf(state, run);
  if (prospect === "permanent" || (prospect === "unknown" && retries.on !== "any")) return "none";
  if (attemptAfter(run) > retries.max) return { kind: "spent", of: retries.max };
  return retryHeld?.run === run.run ? { kind: "held", why: retryHeld.why } : undefined;
}

function nextTry({ retryQueued }: Member, run: RunRecord, retries: Retries, { clockOffsetMs = 0, now }: Times): Again {
  const endedAt = run.end?.at ?? 0;
  const attempt = attemptAfter(run);
  const wait = Math.min(longestWaitMs, retries.backoffSeconds * 1000 * 2 ** (attempt - 1));
  const at = endedAt - clockOffsetMs + wait;
  // Somebody is connected, and watches for its turn.
  if (retryQueued?.run === run.run) return { kind: "due", attempt, of: retries.max, at, waitsFor: retryQueued.for };
  return now - at > latestMs ? { kind: "missed", at } : { kind: "due", attempt, of: retries.max, at };
}

/** Which retry comes after a run: a launch by hand begins a new chain. */
function attemptAfter(run: RunRecord): number {
  return (noteOf(run.launchedFrom).retry?.attempt ?? 0) + 1;
}
