import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { lastSeen } from "../../src/core/session/judge";
import { storyId, type StoryWindow } from "../ssh/storyWindow";
import { startBenchHost } from "./benchHost";
import { median, print, setting } from "./figure";

/** From the launch of a command that no PATH has to red with kind, cause and remedy, and to the cure that works. */
export async function measureLaunchToRed(): Promise<void> {
  const host = await startBenchHost();
  const rounds = Math.max(5, setting("BENCH_ROUNDS", 7));
  try {
    const bin = join(host.home, "ml-env", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "hf"), "#!/bin/sh\nexit 0\n");
    chmodSync(join(bin, "hf"), 0o755);
    const red: number[] = [];
    const cured: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const window = await host.window(sessionFile(host.home, i));
      const began = performance.now();
      await window.launcher.launch(storyId, { stage: "download", member: "0" });
      await window.until("it is red", () => isRed(window), 60_000);
      red.push(performance.now() - began);
      await window.until("there is a cure", () => window.member("download").cures.length > 0, 60_000);
      cured.push(performance.now() - began);
      window.close();
    }
    const seconds = median(red) / 1000;
    print({ name: "launch-to-red", value: seconds, unit: "s", bar: "<= 2 s", ok: seconds <= 2, n: rounds });
    print({ name: "launch-to-cure", value: median(cured) / 1000, unit: "s", n: rounds });
  } finally {
    await host.stop();
  }
}

function sessionFile(home: string, round: number): string {
  const host = `hosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\n`;
  const download = `  download:\n    kind: download\n    command: nohup hf download x/y\n    cwd: ${home}\n    log: ${home}/download${round}.log\n`;
  return `session: bench${round}\n${host}stages:\n${download}`;
}

function isRed(window: StoryWindow): boolean {
  const state = lastSeen(window.member("download").state);
  return (
    state.kind === "failed" &&
    state.failure?.failure === "command-not-found" &&
    state.cause !== "" &&
    state.remedy !== ""
  );
}
