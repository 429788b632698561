import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

export interface SshdOptions {
  /** More lines for sshd_config; the first line of a keyword wins, and these come first. HOME is the server's folder. */
  readonly config?: readonly string[];
  /** More of the environment of what runs there. Not by `config`, whose SetEnv would take the place of ours. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whatever shell the account has: sessions run as if it had this one. */
  readonly loginShell?: string;
  /** A command line that sshd is started by, such as `unshare --pid --fork`. */
  readonly within?: readonly string[];
}

/** A real OpenSSH server on 127.0.0.1, for one test. Keys are made anew each time; logging in works with `userKeyFile`. */
export interface Sshd {
  readonly port: number;
  /** The account that may log in: the one that runs the tests. */
  readonly user: string;
  readonly hostKeyFile: string;
  readonly userKeyFile: string;
  /** The host's present key, as a line of known_hosts. */
  readonly knownHostsLine: string;
  /** Its own temporary folder, removed by `stop`; put what the test needs into it. */
  readonly folder: string;
  /** What the server said so far; `LogLevel VERBOSE` lets it tell of each login. */
  output(): string;
  stop(): Promise<void>;
  /** The same server anew; all its sessions end. */
  restart(): Promise<void>;
  restartWithNewHostKey(): Promise<void>;
}

/** Starts sshd (`apt-get install openssh-server`). Needs no other set-up, as root or not. */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const binary = "/usr/sbin/sshd";
  if (!existsSync(binary))
    throw new Error(`These tests need a real SSH server: ${binary} is missing (package openssh-server).`);
  const user = userInfo();
  if (user.uid === 0) mkdirSync("/run/sshd", { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "sshd-"));
  const hostKeyFile = join(folder, "host_key");
  const userKeyFile = join(folder, "user_key");
  makeKey(hostKeyFile);
  makeKey(userKeyFile);
  const port = await freePort();
  const config = join(folder, "sshd_config");
  writeFileSync(
    config,
    [
      ...(options.config ?? []),
      `SetEnv ${environmentOf(folder, options)}`,
      ...(options.loginShell === undefined ? [] : ['ForceCommand exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"']),
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${hostKeyFile}`,
      `AuthorizedKeysFile ${userKeyFile}.pub`,
      `PidFile ${join(folder, "pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PermitRootLogin yes",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "UseDNS no",
      "",
    ].join("\n"),
  );
  let said = "";
  const hear = (chunk: Buffer): void => {
    said += chunk.toString();
  };
  const start = (): Promise<ChildProcess> =>
    listen([...(options.within ?? []), binary, "-D", "-e", "-f", config], hear);
  let server = await start();
  return {
    port,
    user: user.username,
    hostKeyFile,
    userKeyFile,
    folder,
    get knownHostsLine() {
      return `[127.0.0.1]:${port} ${readFileSync(`${hostKeyFile}.pub`, "utf8").split(" ").slice(0, 2).join(" ")}`;
    },
    output: () => said,
    stop: async () => {
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
    restart: async () => {
      await end(server);
      server = await start();
    },
    restartWithNewHostKey: async () => {
      await end(server);
      rmSync(hostKeyFile);
      makeKey(hostKeyFile);
      server = await start();
    },
  };
}

/** Whoever runs the tests has start-up files; those may print, take a second, or wait for a lock. So HOME is elsewhere. */
function environmentOf(folder: string, { loginShell, environment }: SshdOptions): string {
  const all = { HOME: folder, ...(loginShell === undefined ? {} : { SHELL: loginShell }), ...environment };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** An unencrypted key pair at `file` and `file.pub`, or an encrypted one. */
export function makeKey(file: string, passphrase = "", type = "ed25519"): void {
  execFileSync("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-C", "test@client", "-f", file]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** In the foreground, so that it can be ended by its process. */
function listen([program = "", ...words]: readonly string[], hear: (chunk: Buffer) => void): Promise<ChildProcess> {
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.on("data", hear);
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Server listening on")) resolve(child);
    });
    child.on("exit", (code) => {
      reject(new Error(`sshd ended with ${code ?? "a signal"}: ${said}`));
    });
    child.on("error", reject);
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  // Sessions have process groups of their own and would outlive the server.
  const sessions = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")
    .split(" ")
    .filter((pid) => pid.trim() !== "");
  child.kill("SIGTERM");
  for (const pid of sessions) {
    try {
      process.kill(Number(pid), "SIGTERM");
    } catch {
      // It ended by itself.
    }
  }
  await gone;
}
