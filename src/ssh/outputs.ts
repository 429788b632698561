import { createHash } from "node:crypto";
import type { OutputCheck, OutputReport } from "../core/ports";
import envFileScript from "../host/envFile.sh";
import hubSnapshotScript from "../host/hubSnapshot.sh";
import matchesScript from "../host/matches.sh";
import outputsScript from "../host/outputs.sh";
import outputsOnceScript from "../host/outputsOnce.sh";
import setupScript from "../host/setup.sh";
import type { HostSession } from "./hostSession";
import { environmentText, wrongVariable } from "./jobEnvironment";
import { outputReport } from "./outputAnswer";
import { assignmentsOf, compact, quoted, type ScriptVariables } from "./scriptChannel";

/** How long a command of `done_when` may take, seconds. */
const commandSeconds = 60;
/** Two windows that see a run end ask within this; who asks later wants to know how it is now. Seconds. */
const verdictAgeSeconds = 5;

/** See `HostOps.checkOutputs`. */
export async function checkOutputs(
  session: HostSession,
  check: OutputCheck,
  cwd: string | undefined,
): Promise<OutputReport> {
  const asked = variablesOf(session, check, cwd);
  const maxAge = check.fresh ? 0 : (check.watching?.maxAgeSeconds ?? verdictAgeSeconds);
  const parts = [matchesScript, envFileScript, outputsScript, hubSnapshotScript, outputsOnceScript];
  const answer = await session.control.ask(parts, {
    ...session.variables,
    ...asked,
    key: keyOf(asked),
    max_age: Math.max(0, Math.floor(maxAge)),
    since: check.since === undefined ? "" : Math.ceil(check.since),
  });
  return outputReport(answer, check);
}

/** What outputs.sh needs beside prelude.sh, where it is not run through a channel. */
export const countingText = [matchesScript, outputsScript, hubSnapshotScript, outputsOnceScript]
  .map(compact)
  .join("\n");

/** Assignments for `countingText`: the question, the same for all who ask it, so that the host looks once. */
export function countingVariables(session: HostSession, check: OutputCheck, cwd: string | undefined): string {
  const asked = variablesOf(session, check, cwd);
  return assignmentsOf({ ...asked, key: keyOf(asked) }).join("\n");
}

function keyOf(asked: ScriptVariables): string {
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 32);
}

function variablesOf(session: HostSession, check: OutputCheck, cwd: string | undefined): ScriptVariables {
  const { outputs, log, watching } = check;
  return {
    cwd: cwd ?? "",
    ...listed("pattern", check.files),
    ...listed("output", outputs?.files ?? []),
    min_bytes: whole(check.minBytes),
    snapshot: check.hubSnapshot ?? "",
    count_kind: outputs?.count ?? "",
    at_least: outputs === undefined ? "" : whole(check.outputsAtLeast),
    watching: watching === undefined ? 0 : 1,
    log_line: log === undefined ? "" : (check.logLine ?? ""),
    log_path: log?.path ?? "",
    log_start: log === undefined ? "" : `${log.start.device} ${log.start.inode} ${log.start.offset}`,
    ...commandOf(session, check),
  };
}

/** The command and the lines of setup before it, as a launch runs them; but without the secrets of the safe store. */
function commandOf({ definition, identity }: HostSession, { command, env = {} }: OutputCheck): ScriptVariables {
  if (command === undefined) return { command_text: "" };
  const setup = definition.setup.map((line) => {
    const failed = `{ code=$?; printf '%s\\n' ${quoted(`the setup line failed: ${line}`)}; exit "$code"; }`;
    return `ml_session_prepare ${quoted(line)} "$0"\neval ${quoted(line)} || ${failed}`;
  });
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => wrongVariable(name) === undefined));
  return {
    command_text: [...(setup.length > 0 ? [compact(setupScript)] : []), ...setup, command].join("\n"),
    command_env: environmentText(definition, identity.home, { env: own }),
    command_shell: definition.shell,
    command_limit: commandSeconds,
    env_file: definition.envFile ?? "",
  };
}

/** `NAME_count` and `NAME_0` …, as host scripts take a list. */
export function listed(name: string, values: readonly string[]): ScriptVariables {
  return {
    [`${name}_count`]: values.length,
    ...Object.fromEntries(values.map((value, index) => [`${name}_${index}`, value])),
  };
}

function whole(value: number | undefined): string {
  return value === undefined ? "" : `${Math.max(0, Math.ceil(value))}`;
}
