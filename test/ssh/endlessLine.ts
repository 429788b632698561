import { spawn } from "node:child_process";
import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { StoryWindow } from "./storyWindow";

/** What reading a log without a line feed took, while another log went on. */
export interface EndlessLineReport {
  readonly bytes: number;
  /** The most that lived at any look, over what lived before, bytes: heap and what hangs on it. */
  readonly peakBytes: number;
  /** The same at the end, after all that nobody needs was let go. */
  readonly keptBytes: number;
  /** The most that the process held, over what it held before, bytes. */
  readonly peakRssBytes: number;
  /** How long each line of the other log took to be shown, ms. */
  readonly otherMs: readonly number[];
  readonly seconds: number;
  /** The longest time in which the event loop did not turn, ms. */
  readonly frozenMs: number;
}

const patience = 120_000;
const line = (n: number): string => `Progress: ${n}/1000000 (0 errors), 3.1 req/s, elapsed: ${n}s\n`;

/** Bytes that live after everything else was let go. What was freed outside of the heap shows only at the next look. */
export async function kept(): Promise<number> {
  setFlagsFromString("--expose_gc");
  const gc: unknown = runInNewContext("gc");
  for (let n = 0; n < 3; n++) {
    if (typeof gc === "function") Reflect.apply(gc, undefined, []);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The session file's stages that `readEndlessLine` needs; both logs are made. */
export function endlessStages(home: string): string {
  for (const name of ["flood", "other"]) writeFileSync(join(home, `${name}.log`), line(1));
  return ["flood", "other"].map((name) => `  ${name}:\n    log: ${join(home, `${name}.log`)}\n`).join("");
}

/**
 * Writes so many bytes of one letter to `flood.log`, as fast as the machine can, and lines to `other.log` all the while;
 * returns when all of it was read.
 * @throws Error when one of them is not read within two minutes of the last byte
 */
export async function readEndlessLine(window: StoryWindow, home: string, bytes: number): Promise<EndlessLineReport> {
  const [flood, other] = [join(home, "flood.log"), join(home, "other.log")];
  const followed = (): boolean => ["flood", "other"].every((name) => window.member(name).log?.state === "following");
  await window.until("both are followed", followed, patience);
  const before = await kept();
  const look = startLooking(before);
  const began = performance.now();
  const end = statSync(flood).size + bytes;
  const written = flooded(flood, bytes);
  const otherMs: number[] = [];
  const isRead = (): boolean => (window.member("flood").log?.offset ?? 0) >= end;
  for (let n = 2; n < 4 || !isRead(); n++) {
    const sent = performance.now();
    appendFileSync(other, line(n));
    await window.until(`line ${n} of the other log`, () => window.member("other").progress?.done === n, patience);
    otherMs.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (performance.now() - began > 10 * patience) throw new Error("The line without end is not read.");
  }
  await written;
  const seconds = (performance.now() - began) / 1000;
  const seen = look();
  const keptBytes = (await kept()) - before;
  appendFileSync(flood, `\n${line(77)}`);
  await window.until("the line after it", () => window.member("flood").progress?.done === 77, patience);
  if (window.session().hosts.get("gpu8")?.connection.kind !== "connected") throw new Error("The link is gone.");
  return { bytes, keptBytes, otherMs, seconds, ...seen };
}

function startLooking(before: number): () => Pick<EndlessLineReport, "peakBytes" | "peakRssBytes" | "frozenMs"> {
  const rssBefore = process.memoryUsage.rss();
  let [peak, peakRss, frozenMs, last] = [0, 0, 0, performance.now()];
  const timer = setInterval(() => {
    const { heapUsed, external, rss } = process.memoryUsage();
    peak = Math.max(peak, heapUsed + external - before);
    peakRss = Math.max(peakRss, rss - rssBefore);
    const now = performance.now();
    frozenMs = Math.max(frozenMs, now - last);
    last = now;
  }, 10);
  return () => {
    clearInterval(timer);
    return { peakBytes: peak, peakRssBytes: peakRss, frozenMs };
  };
}

/** By processes of its own: what makes the bytes must take no time of the one that reads them. */
function flooded(file: string, bytes: number): Promise<void> {
  const command = 'head -c "$1" /dev/zero | LC_ALL=C tr "\\0" x >>"$2"';
  const child = spawn("sh", ["-c", command, "sh", `${bytes}`, file], { stdio: "ignore" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`The flood ended with ${code ?? "a signal"}.`));
    });
  });
}
