import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { SessionStore } from "../../src/core/session/store";
import { startBenchHost, watching } from "./benchHost";
import { median, pause, print, quantile, setting } from "./figure";

const line = (n: number): string =>
  `Progress: ${n}/25000 (0 errors), 3.1 req/s, avg completion: 412 tokens, elapsed: ${n}s\n`;

/** From a line's write on the host to its event in the store, and to `ssh gpu8 tail -F`, in turns over the same wire. */
export async function measureLatency(): Promise<void> {
  const host = await startBenchHost();
  const rounds = setting("BENCH_ROUNDS", 300);
  const ours = join(host.home, "ours.log");
  const theirs = join(host.home, "theirs.log");
  writeFileSync(ours, line(1));
  writeFileSync(theirs, line(1));
  const heard = new Waiter();
  const apply = Object.getOwnPropertyDescriptor(SessionStore.prototype, "apply")?.value as SessionStore["apply"];
  SessionStore.prototype.apply = function (this: SessionStore, id, event) {
    apply.call(this, id, event);
    if (event.type === "progress" && event.reading.done !== undefined) heard.tell(event.reading.done);
  };
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
    report(times);
  } finally {
    SessionStore.prototype.apply = apply;
    tail.kill();
    await host.stop();
  }
}

function report(times: { readonly ours: readonly number[]; readonly theirs: readonly number[] }): void {
  const p50 = median(times.ours);
  const rival50 = median(times.theirs);
  const common = { unit: "ms", rival: "ssh gpu8 tail -F", n: times.ours.length };
  print({
    ...common,
    name: "latency-p50",
    value: p50,
    rival_value: rival50,
    ratio: rival50 / p50,
    bar: "<= 5 ms and <= 1.5 x the rival",
    ok: p50 <= 5 && p50 <= 1.5 * rival50,
  });
  const p99 = quantile(times.ours, 0.99);
  const rival99 = quantile(times.theirs, 0.99);
  print({ ...common, name: "latency-p99", value: p99, rival_value: rival99, ratio: rival99 / p99 });
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
