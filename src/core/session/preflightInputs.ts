import type { OutputCheck, OutputReport } from "../ports";
import type { StageDefinition } from "./definition";
import { isActive, lastSeen } from "./judge";
import type { SeenState, StageState } from "./model";
import { isFinished } from "./pipelinePlan";
import type { PreflightRow } from "./preflight";
import { shortState } from "./stateWords";
import { amount } from "./words";

/** A stage that another one needs and that is not part of the same launch, and what is there of its result. */
export interface NeededInput {
  readonly need: string;
  readonly host: string;
  /** Whether the session file gives a command for it. */
  readonly launchable: boolean;
  readonly state: StageState;
  /** One for each of its members whose result is declared; none where nothing is. */
  readonly reports: readonly OutputReport[];
  /** Why nobody could look. */
  readonly unseen?: string;
}

/**
 * What of a stage must be there for those that need it: the files that it declares. Its command and its line of the log
 * are left out, since a check runs nothing. Undefined where no files are declared.
 */
export function inputCheck({ doneWhen, outputs }: StageDefinition): OutputCheck | undefined {
  if (doneWhen) {
    const { files, minBytes, hubSnapshot, outputsAtLeast } = doneWhen;
    const counted = outputs && outputsAtLeast !== undefined ? { outputs, outputsAtLeast } : undefined;
    if (files.length > 0 || hubSnapshot !== undefined || counted) {
      return {
        files,
        ...(minBytes === undefined ? {} : { minBytes }),
        ...(hubSnapshot === undefined ? {} : { hubSnapshot }),
        ...(counted ? { outputs: { files: counted.outputs.files, count: counted.outputs.count }, outputsAtLeast } : {}),
      };
    }
  }
  return outputs && outputs.files.length > 0 ? { files: outputs.files } : undefined;
}

/** What is to be said of it. Missing is no error while the stage that writes it is at work: a pipeline waits for that. */
export function inputRow(input: NeededInput): PreflightRow {
  const { need, state, reports, unseen } = input;
  const seen = lastSeen(state);
  const row = { group: "inputs", name: `From ${need}` } as const;
  const standing = isFinished(state) ? "" : `; ${need} ${standingWords(seen)}`;
  const why = unseen ?? reports.find(({ unchecked }) => unchecked !== undefined)?.unchecked;
  if (why !== undefined) return { ...row, level: "warning", says: `could not be looked at: ${why}${standing}` };
  const fix = input.launchable && !isActive(seen) ? { fix: { kind: "launch", stage: need } as const } : {};
  const missing = reports.filter(({ ok }) => !ok);
  if (missing.length > 0) {
    const level = isActive(seen) ? "warning" : "error";
    return { ...row, level, says: `${missingWords(missing, reports.length)}${standing}`, ...fix };
  }
  const says = `${thereWords(reports)}${standing}`;
  return isFinished(state) ? { ...row, level: "ok", says } : { ...row, level: "warning", says, ...fix };
}

function standingWords(seen: SeenState): string {
  if (seen.kind === "waiting" || seen.kind === "blocked") return "has not run";
  if (seen.kind === "launching") return "is starting";
  if (seen.kind === "stalled") return "runs, but makes no progress";
  const past = { failed: "has failed", stopped: "was stopped", refused: "was not started", running: "still runs" };
  return seen.kind in past ? past[seen.kind as keyof typeof past] : `is ${shortState(seen)}`;
}

function missingWords(missing: readonly OutputReport[], members: number): string {
  const detail = missing[0]?.detail ?? "";
  return members === 1 ? detail : `${String(missing.length)} of ${amount(members, "member")}: ${detail}`;
}

function thereWords(reports: readonly OutputReport[]): string {
  const [first] = reports;
  if (!first) return "nothing is declared that it writes";
  return reports.length === 1 ? first.detail : `there of all ${amount(reports.length, "member")}`;
}
