import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "node:test";
import { isConnectError, type ConnectError } from "../../src/core/errors";
import type { Transport } from "../../src/core/ports";
import { connectTransport, type ConnectorOptions } from "../../src/ssh/connect";
import { hostAt } from "./connection";
import { until } from "./hostHarness";
import { startSshServer, type ServerBehaviour, type SshServer } from "./sshServer";
import { makeKey, startSshd, type Sshd, type SshdOptions } from "./sshd";

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];

/** Ends, after each test of a file, what the functions here have started; the newest first. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
}

export function later(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

export async function sshd(options?: SshdOptions): Promise<Sshd> {
  const server = await startSshd(options);
  later(() => server.stop());
  return server;
}

/** Known_hosts and an alias `box`, as a user would have them. */
export function configured(
  server: Sshd,
  { known = `${server.knownHostsLine}\n`, lines = [] as readonly string[], key = server.userKeyFile } = {},
): string {
  const file = join(server.folder, "config");
  const knownHosts = join(server.folder, "known_hosts");
  writeFileSync(knownHosts, known);
  writeFileSync(
    file,
    [
      "Host box",
      ...lines,
      "HostName 127.0.0.1",
      `Port ${server.port}`,
      `User ${server.user}`,
      `IdentityFile ${key}`,
      `UserKnownHostsFile ${knownHosts}`,
      "GlobalKnownHostsFile /dev/null",
      "",
    ].join("\n"),
  );
  return file;
}

const box = hostAt({ kind: "alias", alias: "box" });

export async function connect(options: ConnectorOptions, interactive = false): Promise<Transport> {
  const transport = await connectTransport(box, interactive, never, options);
  later(() => {
    transport.dispose();
  });
  return transport;
}

export async function refusal(options: ConnectorOptions, interactive = false): Promise<ConnectError> {
  const error: unknown = await connect(options, interactive).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isConnectError(error)) throw new Error(`not refused as expected: ${String(error)}`, { cause: error });
  return error;
}

/** An agent of OpenSSH that holds the given keys; its socket. */
export function agentWith(folder: string, keys: readonly string[]): string {
  const socket = join(folder, "agent.sock");
  const printed = execFileSync("ssh-agent", ["-s", "-a", socket], { encoding: "utf8" });
  const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(printed)?.[1]);
  later(() => process.kill(pid));
  for (const key of keys)
    execFileSync("ssh-add", ["-q", key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: "ignore" });
  return socket;
}

export function keyOf(file: string): Buffer {
  return Buffer.from(readFileSync(`${file}.pub`, "utf8").split(" ")[1] ?? "", "base64");
}

/** An in-process server with a folder and a configuration that calls it `box`. */
export interface Served extends SshServer {
  readonly folder: string;
  readonly config: string;
}

export async function served(behaviour?: ServerBehaviour, lines: readonly string[] = []): Promise<Served> {
  const server = await startSshServer(behaviour);
  later(() => server.stop());
  const folder = mkdtempSync(join(tmpdir(), "served-"));
  later(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const key = join(folder, "user_key");
  makeKey(key);
  const config = join(folder, "config");
  const knownHosts = join(folder, "known_hosts");
  writeFileSync(knownHosts, `${server.knownHostsLine}\n`);
  const all = ["Host box", ...lines, "HostName 127.0.0.1", `Port ${server.port}`, "User me", `IdentityFile ${key}`];
  all.push(`UserKnownHostsFile ${knownHosts}`, "GlobalKnownHostsFile /dev/null", "");
  writeFileSync(config, all.join("\n"));
  return { ...server, folder, config };
}

/** The user's own `ssh`, that shares its connection to `box` at the socket; ends it. */
export async function masterFor(sshConfigFile: string, socket: string): Promise<() => void> {
  const child = spawn("ssh", ["-F", sshConfigFile, "-N", "-M", "-S", socket, "box"], { stdio: "ignore" });
  const end = (): void => {
    child.kill();
  };
  later(end);
  await until("a master", () => existsSync(socket));
  return end;
}
