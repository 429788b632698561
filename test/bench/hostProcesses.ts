import { readdirSync, readFileSync } from "node:fs";

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** CPU time, own and of the children it has waited for, ms. */
  readonly cpuMs: number;
  readonly arguments: string;
}

/** Clock ticks of /proc are 1/100 s on every Linux that has sysconf(_SC_CLK_TCK) = 100, which is all of the common ones. */
const tickMs = 10;

/** The listening sshd whose configuration lies in the folder. */
export function serverOf(folder: string): number {
  const own = processes().filter(({ arguments: words }) => words.includes(`${folder}/sshd_config`));
  const [server] = own;
  if (server === undefined) throw new Error("sshd is not there");
  return server.pid;
}

/**
 * CPU milliseconds of a process and of each below it, by process id, without nvidia-smi and what it started; what children
 * took that have ended is their parent's. proc(5): schedstat has a living process's own time in ns, fields 16 and 17 of stat
 * what its children took. What left its parent (setsid and a double fork) is not counted.
 */
export function cpuBelow(root: number): ReadonlyMap<number, { readonly name: string; readonly cpuMs: number }> {
  const all = processes();
  const found = new Map<number, { name: string; cpuMs: number }>();
  const note = (pid: number): void => {
    const own = all.find((process) => process.pid === pid);
    if (own === undefined || /(^|\/)nvidia-smi(\0|$)/.test(own.arguments.split("\0").slice(0, 2).join("\0"))) return;
    found.set(pid, { name: own.arguments.split("\0")[0] ?? "", cpuMs: own.cpuMs });
    for (const child of all) if (child.parent === pid) note(child.pid);
  };
  note(root);
  return found;
}

/** The sum of `cpuBelow`. */
export function cpuMsBelow(root: number): number {
  return [...cpuBelow(root).values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Sessions that a server has open: what its processes run that are sshd themselves. */
export function channelsOf(server: number): number {
  const all = processes();
  const isServer = (words: string): boolean => /^(\S*\/)?sshd(:|\0|-session)/.test(words);
  const below = (pid: number): number =>
    all
      .filter(({ parent }) => parent === pid)
      .reduce((sum, child) => sum + (isServer(child.arguments) ? below(child.pid) : 1), 0);
  return below(server);
}

function processes(): readonly Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        // The name, in brackets, may hold anything; what follows it is numbers.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const number = (index: number): number => Number(fields[index - 3]);
        const own = Number(readFileSync(`/proc/${name}/schedstat`, "utf8").split(" ")[0]) / 1e6;
        const cpuMs = own + (number(16) + number(17)) * tickMs;
        const words = readFileSync(`/proc/${name}/cmdline`, "utf8");
        return [{ pid: Number(name), parent: number(4), cpuMs, arguments: words }];
      } catch {
        return []; // It has ended.
      }
    });
}
