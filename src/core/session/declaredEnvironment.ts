import type { RunRecord } from "../ports";
import type { HostDefinition, StageDefinition } from "./definition";
import { list } from "./words";

/** A SHA-256 in hexadecimal digits. Injected: core has none of its own. */
export type Sha256 = (text: string) => Promise<string>;

/** The host keeps so many digits of each hash; see job.sh. */
const digits = 16;

/**
 * What the session file gives a start now and the last run did not get like that, in one sentence; undefined where there is
 * nothing. By names and hashes alone. What `setup` makes of it, secrets and the login's own variables are not known
 * before the start, and not compared.
 */
export async function declaredDifference(
  run: Pick<RunRecord, "environment" | "environmentSalt" | "effectivePath">,
  stage: Pick<StageDefinition, "env" | "gpus">,
  host: Pick<HostDefinition, "env" | "path" | "secrets">,
  sha256: Sha256,
): Promise<string | undefined> {
  const { environment, environmentSalt, effectivePath } = run;
  if (environment === undefined) return undefined;
  const got = new Map(Object.entries(environment));
  const words: string[] = [];
  for (const [name, value] of Object.entries(declared(stage, host))) {
    const before = got.get(name);
    if (before === undefined) words.push(`${name} is new`);
    else if (environmentSalt !== undefined && before !== "") {
      const now = (await sha256(`${environmentSalt}:${name}=${value}`)).slice(0, digits);
      if (now !== before) words.push(`${name} has another value`);
    }
  }
  for (const name of host.secrets) if (!got.has(name)) words.push(`the secret ${name} is new`);
  words.push(...newFolders(host.path, effectivePath).map((folder) => `${folder} is new on PATH`));
  if (words.length === 0) return undefined;
  return `Of what the session file declares, against what the last run got: ${list(words)}.`;
}

function declared(
  { env, gpus }: Pick<StageDefinition, "env" | "gpus">,
  host: Pick<HostDefinition, "env">,
): Readonly<Record<string, string>> {
  const devices = gpus === undefined || gpus === "all" ? {} : { CUDA_VISIBLE_DEVICES: gpus.join(",") };
  const all: Readonly<Record<string, string>> = { ...host.env, ...env, ...devices };
  // PATH is in the record as it is, not as a hash.
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== "PATH"));
}

/** Folders below `~` are known by how they end: the home folder is the host's. */
function newFolders(path: readonly string[], effective: string | undefined): readonly string[] {
  if (effective === undefined) return [];
  const had = effective.split(":");
  return path.filter((folder) =>
    folder.startsWith("~/") ? !had.some((one) => one.endsWith(folder.slice(1))) : !had.includes(folder),
  );
}
