import { ConnectError } from "../core/errors";
import type { Clock, Logger, Transport } from "../core/ports";
import type { HostDefinition } from "../core/session/definition";
import type { Prompter, TrustedKeys } from "../core/trust";
import { createLocalTransport } from "./localTransport";
import { Asker } from "./prompts";
import { arrive, type Journey } from "./route";
import { Ssh2Transport } from "./ssh2Transport";
import type { HostRequest } from "./sshConfig";

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
  const request: HostRequest =
    address.kind === "alias"
      ? { host: address.alias }
      : {
          host: address.host,
          ...(address.user === undefined ? {} : { user: address.user }),
          ...(address.port === undefined ? {} : { port: address.port }),
        };
  const journey: Journey = { ...options, asker: new Asker(interactive ? options.prompter : undefined), signal };
  const { client, release } = await arrive(request, journey);
  const { isTrusted, clock, logger } = options;
  return new Ssh2Transport(client, { label: host.name, isTrusted, clock, logger, release });
}
