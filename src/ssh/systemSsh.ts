import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { PipedProcess } from "./processChannel";
import { hostArguments, type HostRequest, type ResolvedHost } from "./sshConfig";

/** The system's `ssh` for one host. */
export interface SystemSsh {
  readonly request: HostRequest;
  readonly host: ResolvedHost;
  readonly sshConfigFile?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * What every call has, whatever the user's configuration says: no forwarding of anything, no command or session of the
 * user's own, nothing left in the background. Whose key may be trusted is the user's own ssh's decision.
 */
const plain: readonly string[] = [
  ...["-T", "-a", "-x"],
  ...options(
    "ClearAllForwardings=yes",
    "ControlPersist=no",
    "RemoteCommand=none",
    "PermitLocalCommand=no",
    "Tunnel=no",
  ),
  // One wrong answer is the end, as everywhere here: servers count.
  ...options("NumberOfPasswordPrompts=1"),
];

function options(...settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ["-o", setting]);
}

/**
 * Set only where the configuration needs them: an older ssh does not know all their names. `StrictHostKeyChecking no`
 * would go on with a changed key; here that is refused whatever the setting. It is never made weaker than it is.
 */
function undoing({ overrides, strictHostKeyChecking }: ResolvedHost): string[] {
  return options(...overrides, ...(strictHostKeyChecking === "no" ? ["StrictHostKeyChecking=accept-new"] : []));
}

/**
 * The argument vector of a call; never a shell's text. `--` keeps the host's name from being taken for an option.
 * @param own options of this call; the first value of an option wins
 */
export function sshArguments(ssh: SystemSsh, own: readonly string[], command?: string): string[] {
  const host = [...hostArguments(ssh.request, ssh), "--", ssh.request.host];
  return [...own, ...plain, ...undoing(ssh.host), ...host, ...(command === undefined ? [] : [command])];
}

/** Signs of life, where the user's own configuration asks for none. */
export function aliveOptions({ keepaliveSeconds }: ResolvedHost): string[] {
  return keepaliveSeconds > 0 ? [] : options("ServerAliveInterval=15", "ServerAliveCountMax=3");
}

/** A command over a shared connection. Without one `ssh` would log in anew; the ProxyCommand that fails prevents that. */
export function sharedOptions(socket: string): string[] {
  return ["-S", socket, ...options("ControlMaster=no", "ProxyCommand=false", "BatchMode=yes")];
}

/** A session of its own, so that it has no terminal to ask at, and signals meant for the editor do not reach it. */
export function startSsh(
  program: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): PipedProcess {
  const [file = "ssh", ...before] = program;
  const child = spawn(file, [...before, ...args], {
    env: { ...env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  // A pipe whose reader is gone is told by `write`, and a program that is not there by `close`.
  child.stdin.on("error", () => undefined);
  child.on("error", () => undefined);
  return child;
}

/** Ends a process and all that it started (jump hosts' ssh, a ProxyCommand). */
export function endGroup(child: PipedProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGTERM");
  } catch {
    // It ended by itself.
  }
}

/** Whether the user's own shared connection (ControlMaster) to the host is there and answers. */
export async function sharedConnection(ssh: SystemSsh): Promise<string | undefined> {
  const { controlPath } = ssh.host;
  if (controlPath === undefined || !existsSync(controlPath)) return undefined;
  return (await answers(ssh, controlPath)) ? controlPath : undefined;
}

const checkLimitMs = 5000;

/** `ssh -O check`: whether a master listens at the socket. */
export function answers(ssh: SystemSsh, socket: string): Promise<boolean> {
  const child = startSsh(["ssh"], sshArguments(ssh, ["-S", socket, "-O", "check"]), ssh.env);
  child.stdin.end();
  child.stdout.resume();
  child.stderr.resume();
  const late = setTimeout(() => {
    endGroup(child);
  }, checkLimitMs);
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearTimeout(late);
      resolve(code === 0);
    });
  });
}
