import type { OutputCheck, RunRecord } from "../ports";
import type { HostDefinition, StageDefinition } from "./definition";

/** The `format` of a progress reading that was made of what a stage has written, not of its log. */
export const outputsFormat = "outputs";

/** How what a stage writes is counted; `B` for bytes. */
export type OutputUnit = "B" | "lines" | "files";

/** What of a stage is counted while it runs. */
export interface WatchedOutputs {
  readonly check: OutputCheck;
  readonly unit: OutputUnit;
  /** How many there will be, as far as the session file says. */
  readonly total?: number;
}

/** What must be there when a run of the stage (as its member runs it) has ended with 0; undefined where nothing is declared. */
export function verdictCheck(stage: StageDefinition, run: RunRecord): OutputCheck | undefined {
  const { doneWhen, outputs, env } = stage;
  if (!doneWhen) return undefined;
  const at = run.end?.at;
  const counted = outputs && doneWhen.outputsAtLeast !== undefined;
  return {
    ...doneWhen,
    ...(counted ? { outputs: { files: outputs.files, count: outputs.count } } : {}),
    ...(doneWhen.command === undefined ? {} : { env }),
    ...(doneWhen.logLine === undefined ? {} : { log: run.log }),
    // A launch looks at the same outputs right before it. Some hosts count full seconds: what was looked for in the very
    // second of the end may be from before it.
    ...(at === undefined ? {} : { since: at % 1000 === 0 ? at + 1000 : at + 1 }),
  };
}

/**
 * Why a check's own command cannot be run, undefined if it can: it asks for a secret of the editor's storage. The check
 * may come hours later, from another window, and no secret is kept for that on the host.
 */
export function uncheckable(
  { command = "" }: OutputCheck,
  { secrets, envFile }: Pick<HostDefinition, "secrets" | "envFile">,
): string | undefined {
  if (envFile !== undefined) return undefined;
  const named = secrets.find((name) => new RegExp(`\\$\\{?${name}(?!\\w)`).test(command));
  return named === undefined
    ? undefined
    : `the command of done_when asks for ${named}, and a check gets no secrets but those of an env_file`;
}

/**
 * What is counted while the stage runs: its `outputs`; of a download without them the bytes of what `done_when` names.
 * @param maxAgeSeconds how old an answer may be that another window asked for
 */
export function watchedOutputs(stage: StageDefinition, maxAgeSeconds: number): WatchedOutputs | undefined {
  const { outputs, doneWhen, progress, kind } = stage;
  const watching = { maxAgeSeconds };
  if (outputs) {
    const { files, count } = outputs;
    const total = doneWhen?.outputsAtLeast ?? (count === "bytes" ? undefined : progress?.total);
    return {
      check: { files: [], outputs: { files, count }, watching },
      unit: count === "bytes" ? "B" : count,
      ...(total === undefined ? {} : { total }),
    };
  }
  if (kind !== "download" || !doneWhen) return undefined;
  const { files, hubSnapshot, minBytes } = doneWhen;
  if (files.length === 0 && hubSnapshot === undefined) return undefined;
  return {
    check: { files, ...(hubSnapshot === undefined ? {} : { hubSnapshot }), watching },
    unit: "B",
    ...(minBytes === undefined ? {} : { total: minBytes }),
  };
}
