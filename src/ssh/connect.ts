import { ConnectError } from "../core/errors";
import type { Clock, Logger, Transport } from "../core/ports";
import type { HostAddress, HostDefinition } from "../core/session/definition";
import type { Prompter, TrustedKeys } from "../core/trust";
import { isHandover, type SystemSshNeeded } from "./handover";
import { createLocalTransport } from "./localTransport";
import { Asker } from "./prompts";
import { arrive } from "./route";
import { Ssh2Transport } from "./ssh2Transport";
import { resolveHost, type HostRequest } from "./sshConfig";
import { connectBySystem, connectShared, type SystemConnection } from "./systemConnect";
import type { SystemSsh } from "./systemSsh";

/** The setting `mlSession.ssh.client`. */
export type SshClient = "automatic" | "built-in" | "system";

/** What connections need from the outside. */
export interface ConnectorOptions {
  /** Asked before anything of the configuration is read or run, and on every command. */
  readonly isTrusted: () => boolean;
  readonly prompter: Prompter;
  readonly trustedKeys: TrustedKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The environment of the user's shell: PATH to find `ssh`, `SSH_AUTH_SOCK`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The local user's name. */
  readonly user: string;
  /** Instead of the user's and the system's SSH configuration, as `ssh -F`; for tests. */
  readonly sshConfigFile?: string;
  /** Which client connects. Absent or `automatic`: ours, and the system's `ssh` where ours cannot or a ControlMaster is there. */
  readonly sshClient?: SshClient;
  /** Where this runs; absent: here. */
  readonly platform?: NodeJS.Platform;
  /** Addresses that the system's `ssh` had to take over, so that the next connection goes there at once. */
  readonly handedOver?: Set<string>;
  /** Between two signs of life that the host is asked for, ms; instead of 15 s, for tests. */
  readonly keepaliveMs?: number;
  /** After so long without a sign of life the host ends what we run there; instead of 90 s, for tests. */
  readonly silenceSeconds?: number;
}

/**
 * The connection alone, without the host scripts.
 * @param interactive whether a person may be asked (host key, passphrase, password)
 * @throws ConnectError
 */
export async function connectTransport(
  host: HostDefinition,
  interactive: boolean,
  signal: AbortSignal,
  options: ConnectorOptions,
): Promise<Transport> {
  // Before the configuration is read: it can name programs to run.
  if (!options.isTrusted()) {
    throw new ConnectError("untrusted", `${host.name} is not connected to: the workspace is in Restricted Mode.`);
  }
  signal.throwIfAborted();
  const { address } = host;
  if (address.kind === "local") return createLocalTransport(options.isTrusted);
  const request = requestOf(address);
  const resolved = await resolveHost(request, options);
  const { isTrusted, clock, logger, env, sshConfigFile } = options;
  const asker = new Asker(interactive ? options.prompter : undefined);
  const ssh: SystemSsh = { request, host: resolved, env, ...(sshConfigFile === undefined ? {} : { sshConfigFile }) };
  const platform = options.platform ?? process.platform;
  return byClient(
    { ssh, label: host.name, asker, isTrusted, clock, logger, signal, platform },
    JSON.stringify(address),
    options,
  );
}

/** @param key the address, for what is remembered of it */
async function byClient(system: SystemConnection, key: string, options: ConnectorOptions): Promise<Transport> {
  const { sshClient = "automatic", handedOver } = options;
  const { label, asker, signal, isTrusted, clock, logger } = system;
  if (sshClient === "system" || (sshClient === "automatic" && handedOver?.has(key) === true)) {
    return connectBySystem(system, false);
  }
  const shared = sshClient === "automatic" ? await connectShared(system) : undefined;
  if (shared !== undefined) return shared;
  try {
    const { client, release } = await arrive(system.ssh.host, { ...options, asker, signal });
    return new Ssh2Transport(client, { label, isTrusted, clock, logger, release });
  } catch (error) {
    if (!isHandover(error)) throw error;
    if (sshClient === "built-in") throw notBuiltIn(label, error);
    logger.info(`${label}: the system's ssh is used: ${error.message}`);
    const transport = await connectBySystem(system, error.needsTouch);
    if (!error.needsTouch) handedOver?.add(key);
    return transport;
  }
}

function requestOf(address: Exclude<HostAddress, { readonly kind: "local" }>): HostRequest {
  if (address.kind === "alias") return { host: address.alias };
  const { host, user, port } = address;
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port }) };
}

function notBuiltIn(name: string, error: SystemSshNeeded): ConnectError {
  return new ConnectError(
    "unsupported",
    `${name} is not for the built-in SSH client: ${error.message}. Set mlSession.ssh.client to automatic.`,
  );
}
