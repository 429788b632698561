import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { startBenchHost, watching } from "./benchHost";
import { pause, print, setting } from "./figure";
import { cpuMsBelow, serverOf } from "./hostProcesses";

/** Stays open and prints eight GPUs each interval, as the real one does; its cost is not counted. */
const simulated = `#!/bin/sh
for word; do case $word in -lms) next=1 ;; *) [ "\${next-}" = 1 ] && every=$word; next= ;; esac; done
while :; do
  for gpu in 0 1 2 3 4 5 6 7; do
    printf '%s, GPU-0000000%s, NVIDIA H200 (simulated), 98, 131000, 143771, 71, 640.12, 700.00\\n' $gpu $gpu
  done
  sleep "$((every / 1000)).$((every % 1000 / 100))"
done
`;

/** What watching eight GPUs and four quiet logs costs the host, and what goes over the wire meanwhile. */
export async function measureHostCost(): Promise<void> {
  const bin = mkdtempSync(join(tmpdir(), "bench-bin-"));
  writeFileSync(join(bin, "nvidia-smi"), simulated);
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  const host = await startBenchHost(bin);
  const seconds = setting("BENCH_SECONDS", 60);
  try {
    const logs = Object.fromEntries([1, 2, 3, 4].map((n) => [`job${n}`, join(host.home, `job${n}.log`)]));
    for (const log of Object.values(logs)) writeFileSync(log, "Progress: 10/100 (0 errors), 1.0 req/s\n");
    const window = await host.window(watching(host.home, logs));
    await window.until("eight GPUs", () => window.session().hosts.get("gpu8")?.gpus.length === 8, 120_000);
    const following = Object.keys(logs).every.bind(Object.keys(logs));
    await window.until("four logs", () => following((name) => window.member(name).log?.state === "following"), 120_000);
    // What is done once, right after connecting, is not what a night costs.
    await pause(5000);
    const server = serverOf(host.folder);
    const cpu = cpuMsBelow(server);
    const bytes = host.wire.bytes();
    const began = performance.now();
    await pause(seconds * 1000);
    const minutes = (performance.now() - began) / 60_000;
    const used = cpuMsBelow(server) - cpu;
    const wire = (host.wire.bytes() - bytes) / minutes / 1000;
    window.close();
    await pause(1000);
    const polling = pollingCost(server, host.configFile);
    const share = (100 * used) / (minutes * 60_000);
    print({
      name: "host-cost",
      value: share,
      unit: "% of one core",
      rival: "ssh gpu8 true each 5 s",
      rival_value: polling,
      ratio: polling / share,
      bar: "<= 0.3 %",
      ok: share <= 0.3,
      note: `over ${(minutes * 60).toFixed(0)} s, 8 simulated GPUs, 4 quiet logs, without nvidia-smi itself; /proc counts in ticks of 10 ms`,
    });
    print({ name: "host-wire", value: wire, unit: "kB/min idle", bar: "<= 20 kB/min", ok: wire <= 20 });
  } finally {
    await host.stop();
    rmSync(bin, { recursive: true, force: true });
  }
}

/** Per cent of a core that a new connection each 5 s costs the host, whatever it then runs. */
function pollingCost(server: number, configFile: string): number {
  const polls = 10;
  const before = cpuMsBelow(server);
  for (let i = 0; i < polls; i++) spawnSync("ssh", ["-F", configFile, "gpu8", "true"], { stdio: "ignore" });
  return (100 * (cpuMsBelow(server) - before)) / polls / 5000;
}
