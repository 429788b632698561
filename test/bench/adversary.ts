import { endlessStages, readEndlessLine } from "../ssh/endlessLine";
import { startBenchHost } from "./benchHost";
import { median, print, quantile, setting } from "./figure";

/** A gigabyte without a line feed (`BENCH_MB`) in one log, while another one goes on: time, memory, and the other's delay. */
export async function measureAdversary(): Promise<void> {
  const megabytes = setting("BENCH_MB", 1024);
  const host = await startBenchHost();
  try {
    const hosts = `hosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${host.home}/state\n`;
    const window = await host.window(`session: bench\n${hosts}stages:\n${endlessStages(host.home)}`);
    const report = await readEndlessLine(window, host.home, megabytes << 20);
    const { keptBytes, peakBytes, peakRssBytes, seconds, otherMs, frozenMs } = report;
    const note = `${megabytes} MB without a line feed, read in ${seconds.toFixed(1)} s while ${otherMs.length} lines of another log came`;
    const mega = (bytes: number): number => bytes / 1e6;
    const bar = (name: string, value: number, most: number): void => {
      print({ name, value, unit: "MB", bar: `<= ${most} MB`, ok: value <= most, note });
    };
    bar("adversary-kept", mega(keptBytes), 32);
    bar("adversary-peak", mega(peakBytes), 128);
    bar("adversary-peak-rss", mega(peakRssBytes), 256);
    const unit = "ms";
    print({ name: "adversary-other-p50", value: median(otherMs), unit, n: otherMs.length, note });
    print({ name: "adversary-other-max", value: quantile(otherMs, 1), unit, n: otherMs.length, note });
    print({ name: "adversary-frozen", value: frozenMs, unit, bar: "<= 1000 ms", ok: frozenMs <= 1000, note });
  } finally {
    await host.stop();
  }
}
