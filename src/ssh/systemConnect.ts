import { ConnectError } from "../core/errors";
import type { Clock, Logger, Transport } from "../core/ports";
import type { Asker } from "./prompts";
import { makePrivateFolder } from "./systemFolder";
import { openMaster } from "./systemMaster";
import { sharedConnection, type SystemSsh } from "./systemSsh";
import { SystemTransport, type SystemLink } from "./systemTransport";

/** All that a connection by the system's `ssh` needs. */
export interface SystemConnection {
  readonly ssh: SystemSsh;
  readonly label: string;
  readonly asker: Asker;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly platform: NodeJS.Platform;
}

/**
 * Over the connection that the user's own ssh shares already, or by a login of its own.
 * @param needsTouch each login wants a person at a security key: none is made unless somebody clicked
 * @throws ConnectError
 */
export async function connectBySystem(connection: SystemConnection, needsTouch: boolean): Promise<Transport> {
  const socket = await sharedConnection(connection.ssh);
  if (socket !== undefined) return transportOver(connection, { kind: "shared", socket });
  const { label, asker } = connection;
  if (needsTouch && !asker.interactive) {
    throw new ConnectError("needs-login", `${label} needs somebody to log in: its security key is touched for it.`);
  }
  return transportOver(connection, undefined);
}

/** Over the shared connection alone; `undefined` where there is none. */
export async function connectShared(connection: SystemConnection): Promise<Transport | undefined> {
  const socket = await sharedConnection(connection.ssh);
  return socket === undefined ? undefined : transportOver(connection, { kind: "shared", socket });
}

async function transportOver(connection: SystemConnection, shared: SystemLink | undefined): Promise<Transport> {
  const { ssh, label, isTrusted, clock, logger } = connection;
  const folder = await makePrivateFolder();
  try {
    const link = shared ?? (await ownLink(connection, folder.path));
    logger.debug(`${label}: by the system's ssh (${link.kind})`);
    return new SystemTransport({ label, ssh, link, folder, isTrusted, clock, logger });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

async function ownLink(connection: SystemConnection, folder: string): Promise<SystemLink> {
  // OpenSSH for Windows shares no connections, and there is no safe way to have a program of ours asked.
  if (connection.platform === "win32") return { kind: "single" };
  const { ssh, label, asker, clock, signal } = connection;
  return { kind: "own", master: await openMaster({ ssh, label, folder, asker, clock, signal }) };
}
