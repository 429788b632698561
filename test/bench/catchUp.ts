import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { startBenchHost, watching } from "./benchHost";
import { median, print } from "./figure";
import { writeMix } from "./mix";

const rounds = 3;

/** From the click on Connect to progress and a followed log, for a log of 1 GB: nulls, and 16 MB of a night at its end. */
export async function measureCatchUp(): Promise<void> {
  const host = await startBenchHost();
  try {
    const log = join(host.home, "long.log");
    const end = join(host.home, "end.log");
    writeMix(end, "typical", 16e6);
    writeFileSync(log, "started\n");
    truncateSync(log, 1e9 - 16e6);
    appendFileSync(log, "\n");
    appendFileSync(log, readFileSync(end));
    rmSync(end);
    const times: number[] = [];
    const bytes: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const before = host.wire.bytes();
      const began = performance.now();
      const window = await host.window(watching(host.home, { job: log }));
      await window.until(
        "progress",
        () => {
          const { progress, log: state } = window.member("job");
          return progress?.done !== undefined && state?.state === "following";
        },
        120_000,
      );
      times.push(performance.now() - began);
      bytes.push(host.wire.bytes() - before);
      window.close();
    }
    const seconds = median(times) / 1000;
    const megabytes = median(bytes) / 1e6;
    print({ name: "catch-up", value: seconds, unit: "s", bar: "<= 3 s", ok: seconds <= 3, n: rounds });
    print({ name: "catch-up-bytes", value: megabytes, unit: "MB", bar: "<= 5 MB", ok: megabytes <= 5, n: rounds });
  } finally {
    await host.stop();
  }
}
