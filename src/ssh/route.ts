import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Client } from "ssh2";
import { ConnectError, messageOf } from "../core/errors";
import { whyNotSsh2 } from "./beyondSsh2";
import { hostKeyCheck } from "./hostKeys";
import { hasKerberosTicket } from "./kerberos";
import { logIn, type LoginRequest } from "./login";
import { resolveHost, type ConfigContext, type HostRequest, type ResolvedHost } from "./sshConfig";
import type { Asker } from "./prompts";
import type { Clock, Logger } from "../core/ports";
import type { TrustedKeys } from "../core/trust";

/** What is the same for every hop of a connection. */
export interface Journey extends ConfigContext {
  readonly asker: Asker;
  readonly trustedKeys: TrustedKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly keepaliveMs?: number;
}

/** A client that has logged in, and what to let go of after it. */
export interface Arrival {
  readonly client: Client;
  readonly release: () => void;
}

/** A stream of bytes to a host's SSH server. */
interface Route {
  readonly socket: Duplex;
  readonly release: () => void;
}

/** OpenSSH has no limit of its own and fails on a loop only when the machine is full of processes. */
const maxHops = 8;

/**
 * Reaches a host over its ProxyJump hops or ProxyCommand and logs in, on every hop with a host-key check of its own.
 * @throws ConnectError; SystemSshNeeded where the host or a hop is not for ssh2
 */
export function arrive(host: ResolvedHost, journey: Journey): Promise<Arrival> {
  return arriveAt(host, host.proxyJump, journey, 0);
}

async function arriveAt(
  host: ResolvedHost,
  jumps: string | undefined,
  journey: Journey,
  depth: number,
): Promise<Arrival> {
  const label = labelOf(host);
  if (depth > maxHops) {
    throw new ConnectError(
      "unsupported",
      `${label} is reached over more than ${maxHops} jump hosts; ProxyJump may be a loop.`,
    );
  }
  const hostKeys = await hostKeyCheck(host, journey.trustedKeys, journey.asker);
  const beyond = await whyNotSsh2(host, hostKeys.known, hostKeys.name);
  if (beyond !== undefined) throw beyond;
  const route = await routeTo(host, jumps, journey, depth);
  const { asker, clock, signal } = journey;
  try {
    const { keepaliveMs } = journey;
    const more = keepaliveMs === undefined ? {} : { keepaliveMs };
    const hasTicket = (): Promise<boolean> => hasKerberosTicket(journey.env);
    const { socket } = route;
    const request: LoginRequest = { host, label, socket, hostKeys, asker, hasTicket, clock, signal, ...more };
    return { client: await logIn(request), release: route.release };
  } catch (error) {
    route.release();
    throw error;
  }
}

function labelOf(host: ResolvedHost): string {
  return host.alias === host.hostname && host.port !== 22 ? `${host.alias}:${host.port}` : host.alias;
}

async function routeTo(host: ResolvedHost, jumps: string | undefined, journey: Journey, depth: number): Promise<Route> {
  if (jumps !== undefined) return overJump(host, jumps, journey, depth);
  if (host.proxyCommand !== undefined) return overCommand(host, host.proxyCommand, journey);
  const socket = connect({ host: host.hostname, port: host.port });
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  return {
    socket,
    release: () => {
      letGo(socket);
    },
  };
}

/** What was written (the farewell) still goes out; a dead peer is not waited for. */
function letGo(socket: Socket): void {
  socket.destroySoon();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** ssh_config(5), ProxyJump: hops from left to right. As OpenSSH, the hops before the last one override its own. */
async function overJump(host: ResolvedHost, jumps: string, journey: Journey, depth: number): Promise<Route> {
  const hops = jumps.split(",").map((hop) => hop.trim());
  const last = hopOf(hops.pop() ?? "");
  const before = hops.length === 0 ? undefined : hops.join(",");
  const hop = await resolveHost(last, journey);
  const arrival = await arriveAt(hop, before ?? hop.proxyJump, journey, depth + 1);
  const release = (): void => {
    arrival.client.end();
    arrival.release();
  };
  try {
    return { socket: await forward(arrival.client, hop, host, journey), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** `[user@]host[:port]`, or the same as an `ssh://` URI. */
function hopOf(text: string): HostRequest {
  const match = /^(?:ssh:\/\/)?(?:([^@]+)@)?(\[[^\]]+\]|[^:]+)(?::(\d+))?\/?$/.exec(text);
  const host = match?.[2]?.replace(/^\[(.*)\]$/, "$1");
  if (host === undefined) throw new ConnectError("unsupported", `“${text}” cannot be understood as a jump host.`);
  const user = match?.[1];
  const port = match?.[3];
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port: Number(port) }) };
}

function forward(client: Client, hop: ResolvedHost, host: ResolvedHost, journey: Journey): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const refuse = (why: string, cause?: unknown): void => {
      over.abort();
      const target = `${host.hostname}:${host.port}`;
      reject(
        new ConnectError("unreachable", `The jump host ${labelOf(hop)} does not reach ${target}: ${why}.`, { cause }),
      );
    };
    journey.signal.addEventListener(
      "abort",
      () => {
        refuse("given up");
      },
      { signal: over.signal },
    );
    client.on("close", () => {
      refuse("its own connection was lost");
    });
    journey.clock.sleep(10_000, over.signal).then(
      () => {
        refuse("no answer for 10 s");
      },
      () => undefined,
    );
    client.forwardOut("127.0.0.1", 0, host.hostname, host.port, (error, stream) => {
      if (error !== undefined) {
        refuse(messageOf(error), error);
        return;
      }
      stream.on("error", () => undefined);
      if (over.signal.aborted) stream.close();
      else resolve(stream);
      over.abort();
    });
  });
}

/** Runs the user's own ProxyCommand as OpenSSH does: by the user's shell, its standard streams being the connection. */
function overCommand(host: ResolvedHost, command: string, journey: Journey): Promise<Route> {
  const windows = process.platform === "win32";
  const child = spawn(windows ? command : `exec ${command}`, {
    shell: windows ? true : (journey.env["SHELL"] ?? "/bin/sh"),
    env: { ...journey.env },
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  const socket = Duplex.from({ readable: child.stdout, writable: child.stdin });
  socket.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-500);
  });
  child.on("error", (error) => {
    socket.destroy(error);
  });
  child.on("exit", (code) => {
    if (code !== 0)
      journey.logger.warn(`ProxyCommand of ${labelOf(host)} ended with ${code ?? "a signal"}: ${said.trim()}`);
    socket.destroy();
  });
  return Promise.resolve({
    socket,
    release: () => {
      child.kill();
    },
  });
}
