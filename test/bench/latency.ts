import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { SessionStore } from "../../src/core/session/store";
import { startBenchHost, watching, type BenchHost } from "./benchHost";
import { median, pause, print, quantile, setting } from "./figure";

const line = (n: number): string =>
  `Progress: ${n}/25000 (0 errors), 3.1 req/s, avg completion: 412 tokens, elapsed: ${n}s\n`;

/** How often the rival asks that does not stay. */
const pollEveryMs = 5000;

/**
 * From a line's write on the host to its event in the store: beside `ssh gpu8 tail -F` and beside a loop that asks each
 * 5 s, and once more on a host that allows one session, where our logs are polled too.
 */
export async function measureLatency(): Promise<void> {
  const followed = await measureFollowed();
  const seconds = setting("BENCH_SECONDS", 60);
  const polling = await measurePolling(seconds);
  const oneSession = await measureOneSession(seconds);
  const rival = "ssh over a ControlMaster each 5 s: tail -c +N";
  report("latency", followed.ours, { rival: "ssh gpu8 tail -F", times: followed.theirs }, true);
  report("latency-beside-polling", followed.ours, { rival, times: polling });
  report("latency-one-session", oneSession, { rival, times: polling });
}

/** In turns over the same wire. */
async function measureFollowed(): Promise<Readonly<Record<"ours" | "theirs", readonly number[]>>> {
  const host = await startBenchHost();
  const rounds = setting("BENCH_ROUNDS", 300);
  const ours = join(host.home, "ours.log");
  const theirs = join(host.home, "theirs.log");
  writeFileSync(ours, line(1));
  writeFileSync(theirs, line(1));
  const heard = new Waiter();
  const unhear = onProgress((done) => {
    heard.tell(done);
  });
  const tail = spawn("ssh", ["-F", host.configFile, "gpu8", `tail -n0 -F ${theirs}`], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const said = new Waiter();
  createInterface({ input: tail.stdout }).on("line", (text) => {
    said.tell(Number(/Progress: (\d+)/.exec(text)?.[1]));
  });
  try {
    const window = await host.window(watching(host.home, { job: ours }));
    await window.until("the log is followed", () => window.member("job").log?.state === "following");
    await answered(said, theirs);
    const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
    for (let n = 100; n < 100 + rounds; n++) {
      times.ours.push(await latency(heard, ours, n));
      times.theirs.push(await latency(said, theirs, n));
    }
    return times;
  } finally {
    unhear();
    tail.kill();
    await host.stop();
  }
}

/** What a person's script does: a master connection, and a question for what is new each 5 s. */
async function measurePolling(seconds: number): Promise<readonly number[]> {
  const host = await startBenchHost();
  const file = join(host.home, "theirs.log");
  writeFileSync(file, line(1));
  const ssh = ["-F", host.configFile, "-o", `ControlPath=${join(host.home, "..", "cm")}`];
  const master = spawn("ssh", [...ssh, "-M", "-N", "gpu8"], { stdio: "ignore" });
  const lines = new TimedLines(file);
  try {
    let at = 1;
    const ask = async (): Promise<void> => {
      const text = await outputOf("ssh", [...ssh, "gpu8", `tail -c +${at} ${file}`]);
      at += Buffer.byteLength(text);
      for (const [, n] of text.matchAll(/Progress: (\d+)/g)) lines.seen(Number(n));
    };
    // The master is there, and what was written before is read.
    await ask();
    const written = lines.write(seconds);
    while (!lines.over) {
      const next = pause(pollEveryMs);
      await ask();
      await next;
    }
    await written;
    await ask();
    return lines.times();
  } finally {
    master.kill();
    await host.stop();
  }
}

/** Ours where the server allows one session a connection. */
async function measureOneSession(seconds: number): Promise<readonly number[]> {
  const host = await startBenchHost({ config: ["MaxSessions 1"] });
  const file = join(host.home, "ours.log");
  writeFileSync(file, line(1));
  const lines = new TimedLines(file);
  const unhear = onProgress((done) => {
    lines.seen(done);
  });
  try {
    await watchOne(host, file);
    await lines.write(seconds);
    for (let tries = 0; !lines.allSeen && tries < 100; tries++) await pause(100);
    return lines.times();
  } finally {
    unhear();
    await host.stop();
  }
}

async function watchOne(host: BenchHost, file: string): Promise<void> {
  const window = await host.window(watching(host.home, { job: file }));
  await window.until("the log is read", () => window.member("job").log?.state === "following", 60_000);
}

/** Tells of each count that comes into any store, until it is called. */
function onProgress(tell: (done: number) => void): () => void {
  const apply = Object.getOwnPropertyDescriptor(SessionStore.prototype, "apply")?.value as SessionStore["apply"];
  SessionStore.prototype.apply = function (this: SessionStore, id, event) {
    apply.call(this, id, event);
    if (event.type !== "log") return;
    for (const reading of event.readings ?? [])
      if (reading.kind === "progress" && reading.done !== undefined) tell(reading.done);
  };
  return () => {
    SessionStore.prototype.apply = apply;
  };
}

function report(
  name: string,
  ours: readonly number[],
  { rival, times }: { readonly rival: string; readonly times: readonly number[] },
  held = false,
): void {
  const common = { unit: "ms", rival, n: ours.length };
  const [p50, rival50] = [median(ours), median(times)];
  const bar = { bar: "<= 5 ms and <= 1.5 x the rival", ok: p50 <= 5 && p50 <= 1.5 * rival50 };
  print({ ...common, name: `${name}-p50`, value: p50, rival_value: rival50, ratio: rival50 / p50, ...(held && bar) });
  const [p99, rival99] = [quantile(ours, 0.99), quantile(times, 0.99)];
  print({ ...common, name: `${name}-p99`, value: p99, rival_value: rival99, ratio: rival99 / p99 });
}

function outputOf(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((resolve) => {
    child.on("close", () => {
      resolve(said);
    });
  });
}

/** Lines that are written without waiting for the one before, and when each was seen. */
class TimedLines {
  readonly #file: string;
  readonly #written = new Map<number, number>();
  readonly #times: number[] = [];
  #over = false;

  constructor(file: string) {
    this.#file = file;
  }

  get over(): boolean {
    return this.#over;
  }

  get allSeen(): boolean {
    return this.#written.size === 0;
  }

  /** Not in step with anybody's timer. */
  async write(seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1000;
    for (let n = 100; performance.now() < end; n++) {
      this.#written.set(n, performance.now());
      appendFileSync(this.#file, line(n));
      await pause(50 + Math.random() * 100);
    }
    this.#over = true;
  }

  seen(n: number): void {
    const at = this.#written.get(n);
    if (at === undefined) return;
    this.#written.delete(n);
    this.#times.push(performance.now() - at);
  }

  /** From write to sight, ms. */
  times(): readonly number[] {
    if (!this.allSeen) throw new Error(`${this.#written.size} lines were never seen`);
    return this.#times;
  }
}

/** `tail` is following once it has given a line. */
async function answered(said: Waiter, file: string): Promise<void> {
  for (let n = 2; n < 50; n++) {
    const here = said.when(n);
    appendFileSync(file, line(n));
    if (await Promise.race([here.then(() => true), pause(300).then(() => false)])) return;
  }
  throw new Error("ssh gpu8 tail -F gives nothing");
}

async function latency(waiter: Waiter, file: string, n: number): Promise<number> {
  // Not in step with anybody's timer.
  await pause(5 + Math.random() * 20);
  const here = waiter.when(n);
  const began = performance.now();
  appendFileSync(file, line(n));
  await here;
  return performance.now() - began;
}

/** Hears of numbers as they come. */
class Waiter {
  #wanted: number | undefined;
  #resolve: () => void = () => undefined;

  when(n: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = n;
      this.#resolve = resolve;
    });
  }

  tell(n: number): void {
    if (n === this.#wanted) this.#resolve();
  }
}
