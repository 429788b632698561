import { runChaos, type ChaosReport } from "../ssh/chaos";
import { median, print, quantile, setting } from "./figure";

/** Random faults of the link while four logs take a million numbered lines; a seed repeats a run (`BENCH_SEED`). */
export async function measureChaos(): Promise<void> {
  const keepaliveMs = setting("BENCH_KEEPALIVE_MS", 2000);
  const report = await runChaos({
    seed: setting("BENCH_SEED", 1),
    faults: setting("BENCH_FAULTS", 100),
    lines: setting("BENCH_LINES", 1_000_000),
    faultMs: 3000,
    patientMs: 15_000,
    keepaliveMs,
    silenceSeconds: 30,
    say: (text) => {
      process.stderr.write(`${text}\n`);
    },
  });
  tell(report, keepaliveMs);
}

function tell(report: ChaosReport, keepaliveMs: number): void {
  for (const log of report.logs) process.stderr.write(`${JSON.stringify(log)}\n`);
  const { logs, backMs, connectedMs, faults, lines, seed } = report;
  const note = `seed ${seed}: ${faults} faults, ${lines} lines; a sign of life each ${keepaliveMs} ms`;
  const of = (names: readonly string[], count: (log: ChaosReport["logs"][number]) => number): number =>
    logs.filter(({ log }) => names.includes(log)).reduce((sum, log) => sum + count(log), 0);
  const none = (name: string, value: number, unit: string): void => {
    print({ name, value, unit, bar: "0", ok: value === 0, note });
  };
  none(
    "chaos-lost-renamed",
    of(["renamed", "dated"], ({ lost }) => lost),
    "lines",
  );
  const cut = ["copied", "cut"];
  const lost = of(cut, (log) => log.lost);
  const destroyed = of(cut, ({ destroyedUnread }) => destroyedUnread);
  print({ name: "chaos-lost-cut", value: lost, unit: "lines", bar: `= ${destroyed}`, ok: lost === destroyed, note });
  const all = logs.map(({ log }) => log);
  none(
    "chaos-missed",
    of(all, ({ missed }) => missed),
    "lines",
  );
  none(
    "chaos-doubled",
    of(all, ({ doubled }) => doubled),
    "lines",
  );
  none(
    "chaos-strange",
    of(all, ({ strange }) => strange.length),
    "lines",
  );
  print({ name: "chaos-back-p50", value: median(backMs), unit: "ms", n: backMs.length, note });
  print({ name: "chaos-back-p90", value: quantile(backMs, 0.9), unit: "ms", n: backMs.length, note });
  print({ name: "chaos-back-max", value: Math.max(...backMs), unit: "ms", n: backMs.length, note });
  print({ name: "chaos-connected-p50", value: median(connectedMs), unit: "ms", n: connectedMs.length, note });
  print({ name: "chaos-connected-max", value: Math.max(...connectedMs), unit: "ms", n: connectedMs.length, note });
  none("chaos-toasts", report.toasts, "");
  none("chaos-false-states", report.falseStates.length, "");
  none("chaos-rejections", report.rejections.length, "");
  none("chaos-left-processes", report.left.length, "");
  for (const text of report.rejections.slice(0, 3)) process.stderr.write(`${text}\n`);
}
