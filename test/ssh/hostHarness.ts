import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, HostOps, LaunchRequest, Logger, Transport } from "../../src/core/ports";
import { hostDefaults } from "../../src/core/session/defaults";
import type { HostDefinition } from "../../src/core/session/definition";
import { openHost } from "../../src/ssh/hostOps";

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

/** A host of a test: its own home, temp folder and state, over whatever transport the suite brings. */
export interface TestHost {
  readonly ops: HostOps;
  readonly home: string;
  readonly work: string;
  readonly state: string;
  readonly warnings: string[];
  /** Another connection to the same host. */
  connect(changes?: Partial<HostDefinition>): Promise<HostOps>;
  request(changes?: Partial<LaunchRequest>): LaunchRequest;
  dispose(): void;
}

/** How a suite makes a connection to a host whose `sh`, home and search path are given. */
export type MakeTransport = (environment: {
  readonly home: string;
  readonly bin: string;
}) => Transport | Promise<Transport>;

/** The shells that the host scripts must pass under, as folders whose `sh` is that shell. */
export const shells = [
  { name: "dash", path: "/usr/bin/dash" },
  { name: "bash", path: "/usr/bin/bash" },
  { name: "busybox", path: "/usr/bin/busybox" },
] as const;

/** Puts a program before the machine's own on the test host's PATH, as a link. */
export function shadow(host: TestHost, name: string, target: string): void {
  symlinkSync(target, join(host.home, "..", "bin", name));
}

export async function makeTestHost(
  shell: string,
  makeTransport: MakeTransport,
  changes: Partial<HostDefinition> = {},
  surroundings: { readonly recorderSeconds?: number } = {},
): Promise<TestHost> {
  const root = mkdtempSync(join(tmpdir(), "mls-host-"));
  const [home, bin, work, state] = ["home", "bin", "work", "state"].map((name) => {
    mkdirSync(join(root, name), { mode: 0o700 });
    return join(root, name);
  }) as [string, string, string, string];
  symlinkSync(shell, join(bin, "sh"));
  const warnings: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => warnings.push(message),
    error: (message) => warnings.push(message),
  };
  const definition: HostDefinition = {
    name: "here",
    address: { kind: "local" },
    ...hostDefaults,
    stateDir: state,
    ...changes,
  };
  const open: HostOps[] = [];
  const connect = async (more: Partial<HostDefinition> = {}): Promise<HostOps> => {
    const ops = await openHost(
      await makeTransport({ home, bin }),
      { ...definition, ...more },
      { clock: realClock, logger, ...surroundings },
    );
    open.push(ops);
    return ops;
  };
  return {
    ops: await connect(),
    home,
    work,
    state,
    warnings,
    connect,
    request: (more = {}) => ({
      session: "night",
      stage: "download",
      member: "0",
      command: "true",
      cwd: work,
      env: {},
      launchedFrom: "tester@laptop",
      ...more,
    }),
    dispose: () => {
      for (const ops of open) ops.dispose();
      killMarked(root);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Ends what jobs of the test may have left: processes whose environment names the test's own folder. */
function killMarked(root: string): void {
  for (const pid of processesWith(root)) kill(pid);
}

/** Ends one process of a test; one that ended by itself meanwhile is as good. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Living processes, other than ours, whose environment or command line holds the text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        if (/\) [ZX] /.test(stat)) return false;
        return [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`].some((file) =>
          readFileSync(file, "utf8").includes(text),
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Waits for a condition that some process brings about. */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not within ${seconds} s: ${typeof what === "string" ? what : what()}`);
    await sleep(20);
  }
}

/** Whether a program is on this machine; tests of what is not there are skipped with that reason. */
export function has(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Whether it is what remembers the night as long as a job runs, or was started by that. */
export function isOfRecorder(pid: number): boolean {
  return commandOf(leaderOf(pid)).includes("/.recorder/recorder.sh");
}

/** The process that leads the session of another. */
function leaderOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
  } catch {
    return 0; // it has ended
  }
}

/** Its command line; empty for one that has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
