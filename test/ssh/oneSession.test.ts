// A host that allows one session a connection (MaxSessions 1) and renews its keys all the time: everything works, by polling.
import assert from "node:assert/strict";
import { appendFileSync, chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lastSeen } from "../../src/core/session/judge";
import { processesWith, until } from "./hostHarness";
import { startStoryHost, windowOn } from "./storyHost";
import { storyId } from "./storyWindow";

const patience = 60_000;
const line = (n: number): string => `Progress: ${n}/25000 (0 errors), 3.1 req/s, elapsed: ${n}s\n`;

test("with one session: six logs, GPUs, a launch that fails with its cause, one that works, and a stop", async (t) => {
  const folder = { bin: "" };
  const host = await startStoryHost(t, { config: ["MaxSessions 1", "RekeyLimit 1M 30"] });
  const { home } = host;
  folder.bin = join(home, "bin");
  mkdirSync(folder.bin);
  writeFileSync(
    join(folder.bin, "nvidia-smi"),
    "#!/bin/sh\ncase \"$*\" in *-lms*) ;; *) exit 0 ;; esac\nwhile :; do echo '0, GPU-0, NVIDIA H200 (simulated), 98, 131000, 143771, 71, 640.12, 700.00'; sleep 0.5; done\n",
  );
  chmodSync(join(folder.bin, "nvidia-smi"), 0o755);
  const logs = [1, 2, 3, 4, 5, 6].map((n) => ({ name: `log${n}`, path: join(home, `log${n}.log`) }));
  for (const { path } of logs) writeFileSync(path, line(1));
  const watched = logs.map(({ name, path }) => `  ${name}:\n    log: ${path}\n`).join("");
  const window = await windowOn(
    t,
    host,
    `session: one
hosts:
  gpu8:
    ssh: gpu8
    path: [${folder.bin}]
    state_dir: ${home}/state
stages:
${watched}  missing:
    command: nohup no-such-tool x
    cwd: ${home}
  job:
    command: 'n=0; while :; do n=$((n + 1)); echo "Progress: $n/25000 (0 errors), 1.5 req/s, elapsed: \${n}s"; sleep 0.2; done'
    cwd: ${home}
  quick:
    command: echo x > ${home}/made
    cwd: ${home}
    done_when: { files: ${home}/made }
`,
  );
  await window.until("the GPU", () => window.session().hosts.get("gpu8")?.gpus.length === 1, patience);
  const all = (holds: (name: string) => boolean) => (): boolean => logs.every(({ name }) => holds(name));
  await window.until(
    "all logs",
    all((name) => window.member(name).log?.state === "following"),
    patience,
  );
  // More than the limit of a key's life, so that keys are renewed while all of this goes on.
  for (const { path } of logs) appendFileSync(path, `${"y".repeat(99)}\n`.repeat(5000));

  await window.launcher.launch(storyId, { stage: "job", member: "0" });
  await window.launcher.launch(storyId, { stage: "missing", member: "0" });
  await window.until(
    "red with its cause",
    () => {
      const state = lastSeen(window.member("missing").state);
      return state.kind === "failed" && state.failure?.failure === "command-not-found";
    },
    patience,
  );
  await window.launcher.launch(storyId, { stage: "quick", member: "0" });
  await window.until("what it made is seen", () => window.state("quick") === "finished", patience);
  for (const { path } of logs) appendFileSync(path, line(77));
  await window.until(
    "all logs are read on",
    all((name) => window.member(name).progress?.done === 77),
    patience,
  );
  for (const { name, path } of logs) assert.equal(window.member(name).log?.offset, statSync(path).size);
  await window.until("the job's own log", () => (window.member("job").progress?.done ?? 0) > 2, patience);

  // The link is cut; all of it comes back by itself over one session again.
  host.relay.cut();
  await window.until("away", () => window.session().hosts.get("gpu8")?.connection.kind !== "connected", patience);
  for (const { path } of logs) appendFileSync(path, line(78));
  await window.until(
    "back, and read on",
    all((name) => window.member(name).progress?.done === 78),
    patience,
  );
  await window.launcher.stop(storyId, { stage: "job", member: "0" });
  await window.until("it is stopped", () => window.state("job") === "stopped", patience);
  window.close();
  await until("nothing of ours is left on the host", () => processesWith(host.sshd.folder).length <= 1);
});
