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
    const names = Array.from({ length: rounds }, (_, i) => `download${i}`);
    const stage = (name: string): string =>
      `  ${name}:\n    kind: download\n    command: nohup hf download x/y\n    cwd: ${host.home}\n    log: ${host.home}/${name}.log\n`;
    const head = `session: bench\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${host.home}/state\nstages:\n`;
    const window = await host.window(head + names.map(stage).join(""));
    const red: number[] = [];
    const cured: number[] = [];
    for (const name of names) {
      const began = performance.now();
      await window.launcher.launch(storyId, { stage: name, member: "0" });
      await window.until(`${name} is red`, () => isRed(window, name));
      red.push(performance.now() - began);
      await window.until(`${name} has a cure`, () => window.member(name).cures.length > 0, 30_000);
      cured.push(performance.now() - began);
    }
    const seconds = median(red) / 1000;
    print({ name: "launch-to-red", value: seconds, unit: "s", bar: "<= 2 s", ok: seconds <= 2, n: rounds });
    print({ name: "launch-to-cure", value: median(cured) / 1000, unit: "s", n: rounds });
  } finally {
    await host.stop();
  }
}

function isRed(window: StoryWindow, name: string): boolean {
  const state = lastSeen(window.member(name).state);
  return (
    state.kind === "failed" &&
    state.failure?.failure === "command-not-found" &&
    state.cause !== "" &&
    state.remedy !== ""
  );
}
