import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { lastSeen } from "../../src/core/session/judge";
import { replaceProgram } from "../../src/core/session/sessionEdit";
import { definitionOf, startStoryHost, windowOn, type StoryHost } from "./storyHost";
import { storyId } from "./storyWindow";

/** A host with the seed's tools: the renamed stub and its successor in a virtualenv that no PATH names. */
async function hostWithTools(t: TestContext): Promise<StoryHost & { readonly bin: string }> {
  const host = await startStoryHost(t);
  const { home } = host;
  const bin = join(home, "ml-env", "bin");
  await mkdir(bin, { recursive: true });
  await mkdir(join(home, "data"), { recursive: true });
  const stub =
    'printf "Warning: \\`huggingface-cli\\` is deprecated and no longer works. Use \\`hf\\` instead.\\n"; exit 1';
  await script(join(bin, "huggingface-cli"), stub);
  await script(
    join(bin, "hf"),
    `[ "$1" = --help ] && exit 0; echo fetched > "${home}/data/model.safetensors"; echo done`,
  );
  return { ...host, bin };
}

async function script(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}

function fileFor(home: string): string {
  return `session: story
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
stages:
  download:
    kind: download
    command: nohup huggingface-cli download x/y --local-dir ${home}/data
    cwd: ${home}
    log: ${home}/data/download.log
    done_when: { files: ${home}/data/model.safetensors }
  inference:
    kind: inference
    command: 'echo Model: x; for n in 10 20 30 40 50 60 70 80 90; do echo "Progress: $n/25000 (0 errors), 1.5 req/s, avg completion: 400 tokens, elapsed: $((n/10))s"; sleep 0.3; done; sleep 600'
    cwd: ${home}
    log: ${home}/data/inference.log
  piped:
    command: missing-tool | tee ${home}/data/piped.out
    cwd: ${home}
`;
}

const download = { stage: "download", member: "0" };
const inference = { stage: "inference", member: "0" };

test("the night against OpenSSH: launch, fail, mend, restart, disconnect, and the job is found again", async (t) => {
  const host = await hostWithTools(t);
  const { home, bin } = host;
  const text = fileFor(home);
  const window = await windowOn(t, host, text);

  await window.launcher.launch(storyId, inference);
  await window.launcher.launch(storyId, download);
  await window.until("the download is red with its cause", () => {
    const state = lastSeen(window.member("download").state);
    return state.kind === "failed" && state.failure?.failure === "command-not-found";
  });
  const startedAt = window.member("download").run?.startedAt ?? 0;
  t.diagnostic(`launched to red with its cause: ${Date.now() - startedAt} ms`);
  await window.until("progress", () => (window.member("inference").progress?.done ?? 0) >= 30);
  assert.equal(window.state("inference"), "running");

  // What the host offers as a cure is found by looking where nobody put it on a PATH.
  await window.until("a cure", () => window.member("download").cures.length > 0);
  const [cure] = window.member("download").cures;
  assert.equal(cure?.replacement, join(bin, "hf"));
  const mended = replaceProgram(text, "download", cure.program, cure.replacement);
  assert.ok(mended);
  window.open.open(storyId, definitionOf(mended), { connect: () => Promise.reject(new Error("already connected")) });
  await window.launcher.restart(storyId, download);
  await window.until("the download is green", () => window.state("download") === "finished");
  assert.match(await readFile(join(home, "data", "download.log"), "utf8"), /failed to run command/);

  // The pipe must not hide the death.
  await window.launcher.launch(storyId, { stage: "piped", member: "0" });
  await window.until("the piped death is red", () => window.state("piped") === "failed");
  const piped = lastSeen(window.member("piped").state);
  assert.equal(piped.kind === "failed" && piped.failure?.failure, "command-not-found");

  // The job outlives the connection, and a new window finds it.
  window.open.disconnect(storyId, undefined);
  assert.equal(window.state("inference"), "unknown");
  window.close();
  const again = await windowOn(t, host, text);
  await again.until("the job is found again", () => again.state("inference") === "running");
  await again.until("and read again", () => (again.member("inference").progress?.done ?? 0) >= 90);
  await again.until("what it made is there", () => again.state("download") === "finished");
  await assert.rejects(() => again.launcher.launch(storyId, inference), /already running/);
  await again.launcher.stop(storyId, inference);
  await again.until("it is stopped", () => again.state("inference") === "stopped");
});

test("a job somebody started by hand is watched without a session file: red with its cause when it is dead", async (t) => {
  const host = await hostWithTools(t);
  const { home } = host;
  const log = join(home, "data", "download.log");
  // The seed's very line: nohup in a shell that has another PATH. No record, nobody to ask for an exit code.
  spawnSyncShell(`cd '${home}' && nohup huggingface-cli download x/y > '${log}' 2>&1 < /dev/null &`);
  const file = `session: watch\nhosts:\n  gpu8:\n    ssh: gpu8\nstages:\n  watched:\n    log: ${log}\n`;
  const began = Date.now();
  const window = await windowOn(t, host, file);
  await window.until("red", () => window.state("watched") === "failed", 10_000);
  t.diagnostic(`connect to red: ${Date.now() - began} ms`);
  const state = lastSeen(window.member("watched").state);
  assert.ok(state.kind === "failed" && state.failure?.failure === "command-not-found" && state.remedy !== "");
});

test("a live job by hand is running while somebody writes its log, and no more when that one is gone", async (t) => {
  const host = await hostWithTools(t);
  const { home } = host;
  const log = join(home, "data", "run.log");
  const job = spawn(
    "sh",
    [
      "-c",
      `exec >> '${log}'; echo 'Progress: 10/100 (0 errors), 1.0 req/s, avg completion: 5 tokens, elapsed: 10s'; sleep 100`,
    ],
    { detached: true, stdio: "ignore" },
  );
  t.after(() => {
    killGroup(job.pid);
  });
  const file = `session: watch\nhosts:\n  gpu8:\n    ssh: gpu8\nstages:\n  watched:\n    log: ${log}\n`;
  const window = await windowOn(t, host, file);
  await window.until("running", () => window.state("watched") === "running", 15_000);
  killGroup(job.pid);
  await window.until("ended", () => window.state("watched") === "ended-unknown", 15_000);
  await appendFile(log, "Progress: 20/100 (0 errors), 1.0 req/s, avg completion: 5 tokens, elapsed: 20s\n");
  await window.until("read on", () => window.member("watched").progress?.done === 20);
});

test("the link is cut and comes back: no click, nothing lost, nothing twice", async (t) => {
  const host = await hostWithTools(t);
  const { home } = host;
  const window = await windowOn(t, host, fileFor(home));
  await window.launcher.launch(storyId, inference);
  await window.until("progress", () => (window.member("inference").progress?.done ?? 0) >= 20);
  host.relay.cut();
  await window.until("unknown while away", () => window.state("inference") === "unknown");
  await window.until("back by itself", () => window.state("inference") === "running");
  await window.until("all of it", () => (window.member("inference").progress?.done ?? 0) >= 90);
  const text = window.logs.text(storyId, "inference", "0")?.text ?? "";
  for (const n of [10, 20, 30, 40, 50, 60, 70, 80, 90]) {
    assert.equal(text.split(`Progress: ${n}/`).length - 1, 1, `line ${n} once`);
  }
  await window.launcher.stop(storyId, inference);
});

function spawnSyncShell(command: string): void {
  spawn("sh", ["-c", command], { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
