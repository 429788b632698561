import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { startBenchHost, watching, type BenchHost } from "./benchHost";
import { median, print } from "./figure";
import { cpuMsBelow, serverOf } from "./hostProcesses";
import { writeMix } from "./mix";

const rounds = 3;

interface Look {
  readonly seconds: number;
  readonly megabytes: number;
  readonly cpuSeconds: number;
}

/** From Connect to progress and a followed log of 10 GB: a hole, and 16 MB of a night at its end; beside what a person does. */
export async function measureFirstPicture(): Promise<void> {
  const host = await startBenchHost();
  try {
    const log = join(host.home, "long.log");
    const end = join(host.home, "end.log");
    writeMix(end, "typical", 16e6);
    writeFileSync(log, "started\n");
    truncateSync(log, 10e9 - 16e6);
    appendFileSync(log, "\n");
    appendFileSync(log, readFileSync(end));
    rmSync(end);
    const ours: Look[] = [];
    const tail: Look[] = [];
    for (let n = 0; n < rounds; n++) {
      ours.push(await looked(host, () => ourLook(host, log)));
      tail.push(await looked(host, () => ssh(host, `tail -n 10000 ${log}`)));
    }
    // It reads all of the file; once is enough.
    const wc = await looked(host, () => ssh(host, `wc -l ${log}`));
    report(ours, tail, wc);
  } finally {
    await host.stop();
  }
}

function report(ours: readonly Look[], tail: readonly Look[], wc: Look): void {
  const of = (looks: readonly Look[], key: keyof Look): number => median(looks.map((look) => look[key]));
  const common = { rival: "ssh gpu8 tail -n 10000", n: ours.length };
  const note = `ssh gpu8 wc -l over all of it: ${wc.seconds.toFixed(1)} s, ${wc.cpuSeconds.toFixed(1)} s of CPU`;
  const [seconds, megabytes, cpu] = [of(ours, "seconds"), of(ours, "megabytes"), of(ours, "cpuSeconds")];
  const rival = { s: of(tail, "seconds"), mb: of(tail, "megabytes"), cpu: of(tail, "cpuSeconds") };
  const time = { value: seconds, unit: "s", rival_value: rival.s, ratio: rival.s / seconds };
  print({ ...common, name: "first-picture", ...time, bar: "<= 3 s", ok: seconds <= 3, note });
  const wire = { value: megabytes, unit: "MB", rival_value: rival.mb, ratio: rival.mb / megabytes };
  print({ ...common, name: "first-picture-bytes", ...wire, bar: "<= 5 MB", ok: megabytes <= 5 });
  const host = { value: cpu, unit: "s of CPU on the host", rival_value: rival.cpu, ratio: rival.cpu / cpu };
  print({ ...common, name: "first-picture-cpu", ...host });
}

async function looked(host: BenchHost, look: () => Promise<void>): Promise<Look> {
  const server = serverOf(host.folder);
  const [cpu, bytes, began] = [cpuMsBelow(server), host.wire.bytes(), performance.now()];
  await look();
  const seconds = (performance.now() - began) / 1000;
  return { seconds, megabytes: (host.wire.bytes() - bytes) / 1e6, cpuSeconds: (cpuMsBelow(server) - cpu) / 1000 };
}

async function ourLook(host: BenchHost, log: string): Promise<void> {
  const window = await host.window(watching(host.home, { job: log }));
  const holds = (): boolean => {
    const { progress, log: state } = window.member("job");
    return progress?.done !== undefined && state?.state === "following";
  };
  await window.until("progress", holds, 120_000);
  window.close();
}

function ssh(host: BenchHost, command: string): Promise<void> {
  const child = spawn("ssh", ["-F", host.configFile, "gpu8", command], { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  return new Promise((resolve) => {
    child.once("close", () => {
      resolve();
    });
  });
}
