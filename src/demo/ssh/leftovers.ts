import { readdirSync, readFileSync } from "node:fs";

/**
 * Kills what was started on the demo host and has left its channel, as launched stages do on purpose. They are told by
 * their HOME, a folder that nothing else on this machine has as its home. Linux only.
 */
export function killAllOf(home: string): void {
  // Some may be starting others at this moment.
  for (let pass = 0; pass < 5; pass += 1) {
    const found = processesOf(home);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

/** Processes whose home is this folder. */
export function processesOf(home: string): readonly number[] {
  const mark = `\0HOME=${home}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`;
  } catch {
    return ""; // it ended, or is somebody else's
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}
