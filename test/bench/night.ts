import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { LogReader } from "../../src/core/log/reader";
import { storyId, type StoryWindow } from "../ssh/storyWindow";
import { startBenchHost, type BenchHost } from "./benchHost";
import { median, print } from "./figure";
import { processesWith, kill } from "../ssh/hostHarness";

const rounds = 3;
const hours = 12;
const gpus = 8;
const stages = ["one", "two", "three", "four"];
const fields = "index,uuid,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit";

/** Prints eight GPUs each interval, and stays open. */
const simulated = `#!/bin/sh
while :; do
  for gpu in 0 1 2 3 4 5 6 7; do
    printf '%s, GPU-0000000%s-aaaa-bbbb-cccc-121212121212, NVIDIA H200, 98, 131000, 143771, 71, 640.12, 700.00\\n' $gpu $gpu
  done
  sleep 2
done
`;

/** A line of a log, and when it was written. */
interface Line {
  readonly at: number;
  readonly end: number;
}

/** What a night of twelve hours has left on the host: eight GPUs each 10 s, four logs with a line each 4 s. */
interface Night {
  readonly lines: readonly Line[];
  readonly rounds: number;
  readonly bytes: number;
}

/**
 * From the click on Connect in the morning, in a window that saw nothing of the night, to twelve hours of eight GPUs and
 * four logs in the store; beside it, the same files by `ssh host cat`, read by the same reader. A real sshd, a real recorder.
 */
export async function measureNight(): Promise<void> {
  const bin = mkdtempSync(join(tmpdir(), "bench-bin-"));
  writeFileSync(join(bin, "nvidia-smi"), simulated);
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  const host = await startBenchHost({ bin });
  try {
    const evening = await host.window(fileFor(host));
    for (const stage of stages) await evening.launcher.launch(storyId, { stage, member: "0" });
    await evening.until("four runs", () => stages.every((stage) => evening.state(stage) === "running"), 60_000);
    const night = writeNight(host, evening);
    evening.close();
    const seconds: number[] = [];
    const cpu: number[] = [];
    const megabytes: number[] = [];
    let worst = 0;
    for (let i = 0; i < rounds; i++) {
      const [before, began, used] = [host.wire.bytes(), performance.now(), process.cpuUsage()];
      const morning = await host.window(fileFor(host));
      await morning.until("the night", () => isThere(morning, night), 120_000);
      seconds.push((performance.now() - began) / 1000);
      const { user, system } = process.cpuUsage(used);
      cpu.push((user + system) / 1e6);
      megabytes.push((host.wire.bytes() - before) / 1e6);
      worst = Math.max(worst, ...stages.map((stage) => worstDate(morning, stage, night)));
      morning.close();
    }
    const rival = await rivalOf(host);
    const value = median(seconds);
    const note = `${night.rounds} rounds of ${gpus} GPUs, ${stages.length} logs of ${night.lines.length} lines, ${(night.bytes / 1e6).toFixed(1)} MB on the host`;
    const cat = "ssh host cat of the same files, read by the same reader";
    print({
      name: "night",
      value,
      unit: "s",
      rival: cat,
      rival_value: rival.seconds,
      ratio: rival.seconds / value,
      bar: "<= 3 s",
      ok: value <= 3,
      n: rounds,
      note,
    });
    print({ name: "night-cpu", value: median(cpu), unit: "s of CPU here, with the relay that counts", n: rounds });
    const wire = median(megabytes);
    print({
      name: "night-wire",
      value: wire,
      unit: "MB",
      rival: cat,
      rival_value: rival.megabytes,
      ratio: rival.megabytes / wire,
    });
    print({
      name: "night-dates",
      value: worst,
      unit: "s off at most",
      bar: "<= 30 s",
      ok: worst <= 30,
      n: rounds * stages.length * night.lines.length,
    });
  } finally {
    for (const pid of processesWith(host.home)) kill(pid);
    await host.stop();
    rmSync(bin, { recursive: true, force: true });
  }
}

function fileFor({ home }: BenchHost): string {
  const entries = stages.map(
    (stage) =>
      `  ${stage}:\n    command: exec sleep 3600\n    log: ${home}/${stage}.log\n    progress: { total: 25000 }\n`,
  );
  return `session: bench\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${entries.join("")}`;
}

function writeNight({ home }: BenchHost, window: StoryWindow): Night {
  const end = Math.floor(Date.now() / 1000) * 1000;
  const began = end - hours * 3_600_000;
  const text: string[] = [];
  const lines: Line[] = [];
  let offset = 0;
  for (let at = began + 500; at < end - 5000; at += 4000) {
    const line = `Progress: ${lines.length + 1}/25000 (0 errors), 0.3 req/s, avg completion: 812 tokens, elapsed: ${Math.floor((at - began) / 1000)}s\n`;
    offset += line.length;
    lines.push({ at, end: offset });
    text.push(line);
  }
  const runs = stages.map((stage) => window.member(stage).run?.run ?? "");
  for (const stage of stages) appendFileSync(join(home, `${stage}.log`), text.join(""));
  const state = join(home, "state", "v1");
  const [folder = ""] = readdirSync(state);
  for (const [index, run] of runs.entries())
    writeFileSync(join(state, folder, "bench", stages[index] ?? "", "0", run, "started"), `${began}\n`);
  const inodes = stages.map((stage) => statSync(join(home, `${stage}.log`)).ino);
  const spool = [
    "v 1",
    `f ${fields}`,
    ...Array.from({ length: gpus }, (_, gpu) => `G ${gpu}, GPU-0000000${gpu}-aaaa-bbbb-cccc-121212121212, NVIDIA H200`),
    ...runs.map((run, index) => `S ${index + 1} bench/${stages[index] ?? ""}/0/${run}`),
  ];
  let [next, size, moments] = [0, 0, 0];
  for (let at = began; at < end - 10_000; at += 10_000) {
    while ((lines[next]?.at ?? Infinity) <= at) size = lines[next++]?.end ?? size;
    spool.push(`t ${at / 1000}`, "h 31.02 812345678 2113000000");
    spool.push(...inodes.map((inode, index) => `s ${index + 1} ${inode} ${size}`));
    for (let gpu = 0; gpu < gpus; gpu++) spool.push(`d ${gpuLine(gpu, moments)}`);
    moments++;
  }
  const whole = `${spool.join("\n")}\n`;
  // What the evening's own recorder saw is not of this night.
  for (const pid of processesWith(`${join(state, folder)}/.recorder/recorder.sh`)) kill(pid);
  for (const file of readdirSync(join(state, folder, ".recorder")))
    if (file.startsWith("spool.")) rmSync(join(state, folder, ".recorder", file));
  writeFileSync(join(state, folder, ".recorder", `spool.${began / 1000}`), whole);
  return { lines, rounds: moments, bytes: whole.length + stages.length * offset };
}

function gpuLine(gpu: number, moment: number): string {
  const busy = (moment * 37 + gpu * 11) % 101;
  const numbers = [
    busy,
    120_000 + ((moment * 13) % 9000),
    143_771,
    60 + (busy % 20),
    `${300 + busy * 4}.${busy % 90}`,
    "700.00",
  ];
  return `${gpu}, ${numbers.join(", ")}`;
}

function isThere(window: StoryWindow, night: Night): boolean {
  const seen = window.session().hosts.get("gpu8")?.gpus ?? [];
  const full = (length: number | undefined, least: number): boolean => (length ?? 0) >= least;
  return (
    seen.length === gpus &&
    seen.every(({ series }) => full(series.byName.get("utilisation")?.length, night.rounds)) &&
    stages.every((stage) => {
      const { log, series } = window.member(stage);
      return log?.state === "following" && full(series.byName.get("done")?.length, night.lines.length);
    })
  );
}

/** By how many seconds the line that is dated worst is dated wrong. */
function worstDate(window: StoryWindow, stage: string, { lines }: Night): number {
  const done = window.member(stage).series.byName.get("done");
  if (!done) return Infinity;
  const off = [...done.times].map((at, index) => Math.abs(at - (lines[(done.values[index] ?? 0) - 1]?.at ?? Infinity)));
  return Math.max(...off) / 1000;
}

async function rivalOf(host: BenchHost): Promise<{ readonly seconds: number; readonly megabytes: number }> {
  const seconds: number[] = [];
  const before = host.wire.bytes();
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    const reader = new LogReader({ offset: 0 });
    const files = `${stages.map((stage) => `${host.home}/${stage}.log`).join(" ")} ${host.home}/state/v1/*/.recorder/spool.*`;
    const child = spawn("ssh", ["-F", host.configFile, "gpu8", `cat ${files}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    for await (const chunk of child.stdout) reader.push(chunk as Uint8Array);
    reader.flush();
    seconds.push((performance.now() - began) / 1000);
  }
  return { seconds: median(seconds), megabytes: (host.wire.bytes() - before) / rounds / 1e6 };
}
