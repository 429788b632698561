import { ExpectedError } from "./errors";
import type { HostOps, LaunchRequest, SecretValues } from "./ports";
import type { HostDefinition } from "./session/definition";

/** Where values of secrets are kept on this machine: the editor's safe store. By host and variable. */
export interface SecretStore {
  /** Undefined if none is kept. */
  get(host: HostDefinition, name: string): Promise<string | undefined>;
  /** Asks the person, without showing what they type, and keeps it. Undefined if they gave none. */
  ask(host: HostDefinition, name: string): Promise<string | undefined>;
}

/** The launch that secrets are for. */
export interface SecretsPlace {
  readonly host: HostDefinition;
  readonly ops: HostOps;
  /** `env` of the stage; what it or the host's own `env` gives is not asked for. */
  readonly env: LaunchRequest["env"];
}

/**
 * Values of the host's `secrets` that the launch must bring: those that neither its `env_file` nor `env` gives. With a
 * person there, what is not kept yet is asked for, and the ExpectedError names what they did not give; else it is left
 * out, and the host refuses the launch in the same words.
 */
export async function secretsOf(
  store: SecretStore,
  { host, ops, env }: SecretsPlace,
  personThere: boolean,
): Promise<SecretValues> {
  const plain = { ...host.env, ...env };
  const wanted = host.secrets.filter((name) => !Object.hasOwn(plain, name));
  const values = new Map<string, string>();
  if (wanted.length === 0) return values;
  const file = await ops.envFileNames();
  if (file.kind === "refused" && personThere) throw new ExpectedError(file.reason);
  const inFile: readonly string[] = file.kind === "read" ? file.names : [];
  for (const name of wanted) {
    if (inFile.includes(name)) continue;
    const value = (await store.get(host, name)) ?? (personThere ? await store.ask(host, name) : undefined);
    if (value !== undefined) values.set(name, value);
    else if (personThere) throw new ExpectedError(missing(host, name));
  }
  return values;
}

function missing(host: HostDefinition, name: string): string {
  const file = host.envFile === undefined ? "" : ` (${host.envFile})`;
  return `The secret ${name} has no value for ${host.name}. Give it one with "ML Session: Set Secret…", or in the host's env_file${file}.`;
}
