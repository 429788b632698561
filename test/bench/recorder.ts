import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { kill, processesWith } from "../ssh/hostHarness";
import { storyId } from "../ssh/storyWindow";
import { startBenchHost, type BenchHost } from "./benchHost";
import { pause, print, setting } from "./figure";
import { cpuMsBelow } from "./hostProcesses";

/** Eight GPUs each interval, whose values change, as the real one prints them; nothing for a question of another kind. */
const simulated = `#!/bin/sh
every=
for word; do case $word in -lms) next=1 ;; *) [ "\${next-}" = 1 ] && every=$word; next= ;; esac; done
[ -n "$every" ] || exit 0
round=0
while :; do
  round=$(((round + 7) % 90))
  for gpu in 0 1 2 3 4 5 6 7; do
    printf '%s, GPU-0000000%s-aaaa-bbbb-cccc-121212121212, NVIDIA H200, %s, 131000, 143771, 71, 6%s.12, 700.00\\n' $gpu $gpu $((round + gpu)) $((10 + round))
  done
  sleep "$((every / 1000))"
done
`;
const stages = ["one", "two", "three", "four"];
/** What a start costs is over by then. */
const settleMs = 20_000;
const twelveHours = 12 * 3600;

/**
 * What remembering the night costs a host on which nobody looks: eight GPUs and four runs whose logs and outputs grow each
 * second; first without outputs, then with them. nvidia-smi is not counted.
 */
export async function measureRecorder(): Promise<void> {
  const seconds = setting("BENCH_SECONDS", 60);
  for (const withOutputs of [false, true]) {
    const bin = mkdtempSync(join(tmpdir(), "bench-bin-"));
    writeFileSync(join(bin, "nvidia-smi"), simulated);
    chmodSync(join(bin, "nvidia-smi"), 0o755);
    const host = await startBenchHost({ bin });
    try {
      const { percent, bytes } = await costOf(host, withOutputs, seconds);
      const name = withOutputs ? "recorder-outputs" : "recorder";
      const what = withOutputs ? "logs and JSON lines that grow" : "logs that grow";
      const note = `over ${seconds} s, 8 simulated GPUs, 4 runs with ${what}, without nvidia-smi`;
      print({ name, value: percent, unit: "% of one core", bar: "<= 0.3 %", ok: percent <= 0.3, note });
      print({ name: `${name}-disk`, value: bytes / 1e6, unit: "MB in 12 h", bar: "<= 8 MB", ok: bytes <= 8e6 });
    } finally {
      for (const pid of processesWith(host.home)) kill(pid);
      await host.stop();
      rmSync(bin, { recursive: true, force: true });
    }
  }
}

async function costOf(
  host: BenchHost,
  withOutputs: boolean,
  seconds: number,
): Promise<{ percent: number; bytes: number }> {
  for (const stage of stages) mkdirSync(join(host.home, stage));
  const window = await host.window(fileFor(host, withOutputs));
  for (const stage of stages) await window.launcher.launch(storyId, { stage, member: "0" });
  await window.until("four runs", () => stages.every((stage) => window.state(stage) === "running"), 120_000);
  window.close();
  const grow = setInterval(() => {
    for (const stage of stages) {
      appendFileSync(join(host.home, `${stage}.log`), "Progress: 10/100 (0 errors), 1.0 req/s\n");
      appendFileSync(join(host.home, stage, "a.jsonl"), '{"usage":{"completion_tokens":812}}\n');
    }
  }, 1000);
  try {
    await pause(settleMs);
    const recorder = recorderOf(host);
    const [cpu, size, began] = [cpuMsBelow(recorder), spoolOf(host), performance.now()];
    await pause(seconds * 1000);
    const ms = performance.now() - began;
    const percent = (100 * (cpuMsBelow(recorder) - cpu)) / ms;
    return { percent, bytes: ((spoolOf(host) - size) / (ms / 1000)) * twelveHours };
  } finally {
    clearInterval(grow);
  }
}

function fileFor({ home }: BenchHost, withOutputs: boolean): string {
  const outputs = (stage: string): string =>
    withOutputs ? `    outputs: { files: "${home}/${stage}/*.jsonl", count: lines }\n` : "";
  const entries = stages.map(
    (stage) => `  ${stage}:\n    command: exec sleep 3600\n    log: ${home}/${stage}.log\n${outputs(stage)}`,
  );
  return `session: bench\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${entries.join("")}`;
}

function flightOf({ home }: BenchHost): string {
  const state = join(home, "state", "v1");
  const [folder = ""] = readdirSync(state).filter((name) => !name.startsWith("."));
  return join(state, folder, ".recorder");
}

function recorderOf(host: BenchHost): number {
  const lock = execFileSync("cat", [join(flightOf(host), "lock")], { encoding: "utf8" });
  return Number(lock.split(" ")[0]);
}

function spoolOf(host: BenchHost): number {
  const flight = flightOf(host);
  const spools = readdirSync(flight).filter((name) => name.startsWith("spool."));
  return spools.reduce((sum, name) => sum + statSync(join(flight, name)).size, 0);
}
