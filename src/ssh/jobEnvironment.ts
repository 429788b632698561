import type { EnvFileReport, LaunchRequest, SecretValues } from "../core/ports";
import type { HostDefinition } from "../core/session/definition";
import envFileScript from "../host/envFile.sh";
import envNamesScript from "../host/envNames.sh";
import type { HostSession } from "./hostSession";
import { quoted } from "./scriptChannel";

/** Kept by shells for themselves (an assignment ends them), or by the launch. */
const taken = new Set([
  "BASHOPTS",
  "BASH_VERSINFO",
  "EUID",
  "PPID",
  "SHELLOPTS",
  "UID",
  "ML_SESSION_RUN",
  "ML_ENVIRONMENT",
]);

/** Why a name cannot be that of a variable of the job, in words; undefined if it can. */
export function wrongVariable(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `"${name}" cannot be the name of an environment variable.`;
  return taken.has(name) ? `The variable ${name} belongs to the shell or to the launch and cannot be set.` : undefined;
}

/** The folders before PATH, `~/` made the home folder. */
export function pathPrefix(definition: HostDefinition, home: string): string {
  return definition.path.map((folder) => folder.replace(/^~(?=\/|$)/, home)).join(":");
}

/**
 * Lines of shell that make a job's environment out of a login's: secrets, then `env` of the host, then of the stage,
 * so that what the session file says in plain text wins; then GPUs and PATH. Names must be checked before
 * (`wrongVariable`). It holds the values of secrets: it may go to the standard input of a script, and nowhere else.
 */
export function environmentText(
  definition: HostDefinition,
  home: string,
  request: Pick<LaunchRequest, "env" | "gpus">,
  secrets: SecretValues = new Map(),
): string {
  const values = { ...Object.fromEntries(secrets), ...definition.env, ...request.env };
  const lines = Object.entries(values).map(([name, value]) => `export ${name}=${quoted(value)}`);
  // Without it Python holds back what it prints, and a log that is followed says nothing for minutes.
  lines.push('export PYTHONUNBUFFERED="${PYTHONUNBUFFERED-1}"');
  // CUDA counts the fastest first by default; nvidia-smi counts by bus.
  if (request.gpus !== undefined) lines.push("export CUDA_DEVICE_ORDER=PCI_BUS_ID");
  // A device named by its UUID, or a MIG slice, is what the account was given: `all` means all of that.
  if (request.gpus === "all")
    lines.push("case $CUDA_VISIBLE_DEVICES in GPU-*|MIG-*) ;; *) unset CUDA_VISIBLE_DEVICES ;; esac");
  else if (request.gpus !== undefined) lines.push(`export CUDA_VISIBLE_DEVICES=${quoted(request.gpus.join(","))}`);
  const prefix = pathPrefix(definition, home);
  if (prefix !== "") lines.push(`export PATH=${quoted(`${prefix}:`)}"$PATH"`);
  return lines.join("\n");
}

/** Names in the host's `env_file`; see `HostOps.envFileNames`. */
export async function envFileNames(session: HostSession): Promise<EnvFileReport> {
  const { envFile } = session.definition;
  if (envFile === undefined) return { kind: "none" };
  const variables = { ...session.variables, env_file: envFile };
  const names: string[] = [];
  for (const line of await session.control.ask([envFileScript, envNamesScript], variables)) {
    const [, word, text = ""] = /^@ (\S+) (.*)$/.exec(line) ?? [];
    if (word === "refused") return { kind: "refused", reason: text };
    if (word === "name") names.push(text);
  }
  return { kind: "read", names: [...new Set(names)] };
}
