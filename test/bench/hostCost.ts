import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { startBenchHost, watching, type BenchHost } from "./benchHost";
import { pause, print, setting } from "./figure";
import { cpuBelow, serverOf } from "./hostProcesses";
import { simulatedGpus } from "./simulatedGpus";

const query =
  "nvidia-smi --query-gpu=index,utilization.gpu,memory.used,temperature.gpu,power.draw --format=csv,noheader";
const names = ["job1", "job2", "job3", "job4"];

/** What a way of watching costs: per cent of one core of the host, and what goes over the wire. */
interface Cost {
  readonly percent: number;
  readonly kilobytesAMinute: number;
}

/** What watching eight GPUs and four quiet logs costs the host, and what goes over the wire meanwhile; four ways. */
export async function measureHostCost(): Promise<void> {
  const bin = mkdtempSync(join(tmpdir(), "bench-bin-"));
  writeFileSync(join(bin, "nvidia-smi"), simulatedGpus);
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  const seconds = setting("BENCH_SECONDS", 60);
  try {
    const ours = await on({ bin }, (host) => ourCost(host, seconds));
    const oneSession = await on({ bin, config: ["MaxSessions 1"] }, (host) => ourCost(host, seconds));
    const tails = await on({ bin }, (host) => tailsCost(host, seconds));
    const polling = await on({ bin }, (host) => pollingCost(host, seconds));
    const note = `over ${seconds} s, 8 simulated GPUs, 4 quiet logs, without the time of an nvidia-smi that stays open`;
    report("host", ours, { rival: "a new ssh each 5 s: nvidia-smi and four tails", cost: polling }, note);
    report("host-tail", ours, { rival: "5 ssh that stay: tail -F, nvidia-smi -lms", cost: tails }, note);
    report("host-one-session", oneSession, { rival: "a new ssh each 5 s", cost: polling }, note);
  } finally {
    rmSync(bin, { recursive: true, force: true });
  }
}

function report(
  name: string,
  { percent, kilobytesAMinute }: Cost,
  { rival, cost }: { readonly rival: string; readonly cost: Cost },
  note: string,
): void {
  const wire = { value: kilobytesAMinute, unit: "kB/min idle", bar: "<= 20 kB/min", ok: kilobytesAMinute <= 20 };
  print({
    name: `${name}-cost`,
    value: percent,
    unit: "% of one core",
    rival,
    rival_value: cost.percent,
    ratio: cost.percent / percent,
    bar: "<= 0.3 %",
    ok: percent <= 0.3,
    note,
  });
  const ratio = cost.kilobytesAMinute / kilobytesAMinute;
  print({ name: `${name}-wire`, ...wire, rival, rival_value: cost.kilobytesAMinute, ratio });
}

/** Each way has a server of its own, so that none counts what another leaves. */
async function on(
  options: Parameters<typeof startBenchHost>[0],
  measure: (host: BenchHost) => Promise<Cost>,
): Promise<Cost> {
  const host = await startBenchHost(options);
  try {
    for (const log of logsOf(host)) writeFileSync(log, "Progress: 10/100 (0 errors), 1.0 req/s\n");
    return await measure(host);
  } finally {
    await host.stop();
  }
}

const logsOf = ({ home }: BenchHost): readonly string[] => names.map((name) => join(home, `${name}.log`));

async function ourCost(host: BenchHost, seconds: number): Promise<Cost> {
  const logs = Object.fromEntries(names.map((name) => [name, join(host.home, `${name}.log`)]));
  const window = await host.window(watching(host.home, logs));
  await window.until("eight GPUs", () => window.session().hosts.get("gpu8")?.gpus.length === 8, 120_000);
  const all = (): boolean => names.every((name) => window.member(name).log?.state === "following");
  await window.until("four logs", all, 120_000);
  return costOf(host, seconds);
}

/** What a person may leave open instead. */
async function tailsCost(host: BenchHost, seconds: number): Promise<Cost> {
  const commands = [...logsOf(host).map((log) => `tail -n 10 -F ${log}`), `${query} -lms 2000`];
  const open = commands.map((command) => ssh(host, command));
  try {
    return await costOf(host, seconds);
  } finally {
    for (const one of open) one.kill();
  }
}

/** What a script does that asks again and again. */
async function pollingCost(host: BenchHost, seconds: number): Promise<Cost> {
  const polling = new AbortController();
  const command = `${query}; tail -qn 10 ${logsOf(host).join(" ")}`;
  const loop = (async (): Promise<void> => {
    while (!polling.signal.aborted) {
      const next = pause(5000);
      await ended(ssh(host, command));
      await next;
    }
  })();
  try {
    return await costOf(host, seconds);
  } finally {
    polling.abort();
    await loop;
  }
}

/** What is done once: start-up files of the login shell for each channel, and searches for who writes the logs. */
const settleMs = 30_000;

async function costOf(host: BenchHost, seconds: number): Promise<Cost> {
  await pause(settleMs);
  const server = serverOf(host.folder);
  const [before, bytes, began] = [cpuBelow(server), host.wire.bytes(), performance.now()];
  await pause(seconds * 1000);
  const [after, sent, ms] = [cpuBelow(server), host.wire.bytes() - bytes, performance.now() - began];
  // One that has ended meanwhile is counted by who waited for it.
  const took = [...after].map(([pid, { name, cpuMs }]) => ({ name, ms: cpuMs - (before.get(pid)?.cpuMs ?? 0) }));
  const most = took.sort((a, b) => b.ms - a.ms).filter((one) => one.ms >= 1);
  process.stderr.write(
    `${most.map((one) => `${one.name} ${one.ms.toFixed(0)} ms`).join(", ")}; load ${loadavg()[0]}\n`,
  );
  const used = took.reduce((sum, one) => sum + one.ms, 0);
  return { percent: (100 * used) / ms, kilobytesAMinute: sent / 1000 / (ms / 60_000) };
}

function ssh(host: BenchHost, command: string): ChildProcess {
  return spawn("ssh", ["-F", host.configFile, "gpu8", command], { stdio: "ignore" });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) =>
    child.once("exit", () => {
      resolve();
    }),
  );
}
