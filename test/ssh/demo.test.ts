import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock, HostOps, LaunchRequest, Logger, RunRecord } from "../../src/core/ports";
import { parseSessionFile } from "../../src/core/session/sessionFile";
import type { HostDefinition, SessionDefinition, StageDefinition } from "../../src/core/session/definition";
import { createDemo, type DemoSession } from "../../src/demo/demo";
import { processesOf } from "../../src/demo/ssh/leftovers";
import { eveningLaunches, hostDefinition, hostName, placesIn } from "../../src/demo/story";

const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};
const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const modes = process.platform === "linux" ? (["ssh", "memory"] as const) : (["memory"] as const);

interface Opened {
  readonly demo: DemoSession;
  readonly definition: SessionDefinition;
  readonly host: HostDefinition;
}

async function open(t: TestContext, mode: "ssh" | "memory", speed: number): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "demo-night-"));
  const demo = await createDemo({ mode, folder, clock, logger: quiet, isTrusted: () => true, speed });
  t.after(async () => {
    demo.dispose();
    if (process.platform === "linux")
      await until(() => Promise.resolve(processesOf(join(folder, hostName)).length === 0));
    await rm(folder, { recursive: true, force: true });
  });
  assert.equal(demo.mode, mode);
  const { definition, problems } = parseSessionFile(await readFile(demo.sessionFile, "utf8"));
  assert.deepEqual(problems, []);
  const host = definition?.hosts.get(hostName);
  assert.ok(definition !== undefined && host !== undefined);
  return { demo, definition, host };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(50);
}

function stageOf({ definition }: Opened, name: string): StageDefinition {
  const stage = definition.stages.get(name);
  assert.ok(stage);
  return stage;
}

/** The launch of a stage as its definition has it. */
function requestOf(opened: Opened, name: string): LaunchRequest & { command: string; log: string } {
  const { command = "", cwd, log = "", gpus } = stageOf(opened, name);
  const request = {
    session: opened.definition.name,
    stage: name,
    member: "0",
    command,
    log,
    env: {},
    launchedFrom: "me@laptop",
  };
  return { ...request, ...(cwd === undefined ? {} : { cwd }), ...(gpus === undefined ? {} : { gpus }) };
}

async function connect({ demo, host }: Opened, path: readonly string[] = []): Promise<HostOps> {
  return demo.connector.connect({ ...host, path }, false, new AbortController().signal);
}

async function ended(ops: HostOps, session: string, stage: string): Promise<RunRecord> {
  const stop = new AbortController();
  for await (const records of ops.watchRecords(session, stop.signal)) {
    // The first answer holds older runs too: only the newest counts.
    const newest = records.filter((record) => record.stage === stage).at(-1);
    if (newest?.end !== undefined) return newest;
  }
  return assert.fail("the watch ended");
}

async function textOf(ops: HostOps, path: string): Promise<string> {
  return new TextDecoder().decode(await ops.read(path, 0, 1e6));
}

for (const mode of modes) {
  test(`${mode}: the night is told from its session file`, { timeout: 120_000 }, async (t) => {
    const opened = await open(t, mode, 50);
    const { demo, definition } = opened;
    const session = definition.name;
    await demo.start();
    const ops = await connect(opened);

    // The download has died, and its log says why.
    const download = requestOf(opened, "download");
    const died = await ended(ops, session, "download");
    assert.deepEqual(died.end?.exit, { kind: "code", code: 127 });
    assert.match(
      await textOf(ops, download.log),
      /^nohup: failed to run command 'huggingface-cli': No such file or directory\n$/,
    );

    // The inference runs, and its log grows.
    const inference = requestOf(opened, "inference");
    const running = (await ops.records(session)).find((record) => record.stage === "inference");
    assert.equal(running?.liveness, "running");
    assert.equal((await ops.logWriter(inference.log)).open, true);

    // PATH alone does not cure it.
    const mended = await connect(opened, [join(ops.identity.home, "ml-env/bin")]);
    assert.equal((await mended.launch(download)).kind, "launched");
    assert.deepEqual((await ended(mended, session, "download")).end?.exit, { kind: "code", code: 1 });
    assert.match(await textOf(mended, download.log), /deprecated and no longer works/);
    mended.dispose();

    // What is found does.
    const tools = await ops.findTools(["hf", "huggingface-cli"], download.cwd);
    const home = ops.identity.home;
    const stub = tools.find((tool) => tool.path === `${home}/ml-env/bin/huggingface-cli`);
    assert.deepEqual([stub?.works, stub?.onPath], [false, false]);
    const hf = tools.find((tool) => tool.path === `${home}/ml-env/bin/hf`);
    assert.deepEqual([hf?.works, hf?.onPath], [true, false]);
    const cured = { ...download, command: download.command.replace("huggingface-cli", hf?.path ?? "") };
    assert.equal((await ops.launch(cured)).kind, "launched");
    assert.deepEqual((await ended(ops, session, "download")).end?.exit, { kind: "code", code: 0 });
    const { doneWhen } = stageOf(opened, "download");
    assert.ok(doneWhen);
    const outputs = await ops.checkOutputs(doneWhen, download.cwd);
    assert.deepEqual([outputs.ok, outputs.files], [true, 1]);

    // The inference ends by itself, then what waited for it plays to its end.
    assert.deepEqual((await ended(ops, session, "inference")).end?.exit, { kind: "code", code: 0 });
    assert.match(
      await textOf(ops, inference.log),
      /\nProgress: 25000\/25000 \(\d errors\), [\d.]+ req\/s, avg completion: \d+ tokens, elapsed: 1\ds\n$/,
    );
    for (const name of ["extract", "train"]) {
      assert.equal((await ops.launch(requestOf(opened, name))).kind, "launched");
      assert.deepEqual((await ended(ops, session, name)).end?.exit, { kind: "code", code: 0 });
      const { doneWhen: done } = stageOf(opened, name);
      assert.ok(done);
      assert.equal((await ops.checkOutputs(done, download.cwd)).ok, true);
    }
  });

  test(`${mode}: eight GPUs, and the server's log, which is followed to the byte`, { timeout: 60_000 }, async (t) => {
    const opened = await open(t, mode, 20);
    const vllm = opened.definition.services.get("vllm")?.log;
    assert.ok(vllm !== undefined);
    await opened.demo.start();
    const ops = await connect(opened);
    const stop = new AbortController();
    let rounds = 0;
    for await (const report of ops.gpus(1, stop.signal)) {
      assert.equal(report.kind, "samples", JSON.stringify(report));
      assert.deepEqual(
        report.samples.map((sample) => sample.index),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
      for (const sample of report.samples) {
        assert.equal(sample.name, "NVIDIA H200 (simulated)");
        assert.equal(
          (sample.utilisation ?? 0) >= 94 && (sample.memoryUsedMib ?? 0) > 134_000 && (sample.powerW ?? 0) > 600,
          true,
        );
        assert.equal(Math.abs(sample.at - Date.now()) < 60_000, true);
      }
      rounds += 1;
      if (rounds === 2) break;
    }
    let text = "";
    for await (const event of ops.follow(vllm, { kind: "end", bytes: 1e6 }, stop.signal)) {
      if (event.kind !== "data") continue;
      assert.equal(event.offset, Buffer.byteLength(text));
      text += Buffer.from(event.data).toString();
      if (text.split("\n").length > 30) break;
    }
    assert.match(
      text,
      /^INFO .*Starting vLLM API server.*\n(?:INFO \d\d-\d\d \d\d:\d\d:\d\d \[loggers.py:127\] Engine 000: Avg .*\n)+/,
    );
    assert.match(text, /Running: \d\d+ reqs, Waiting: \d+ reqs, GPU KV cache usage: \d+\.\d%/);
  });

  test(`${mode}: a stage is stopped, and everything ends with the demo`, { timeout: 60_000 }, async (t) => {
    const opened = await open(t, mode, 1);
    await opened.demo.start();
    const ops = await connect(opened);
    const lost = new Promise<string>((resolve) => ops.onDidClose(resolve));
    const session = opened.definition.name;
    const run = (await ops.records(session)).find((record) => record.stage === "inference");
    const stopped = await ops.stop(session, run?.run ?? "", {
      signal: "TERM",
      graceSeconds: 5,
      requestedBy: "me@laptop",
    });
    assert.deepEqual(stopped, { kind: "stopped", forced: false });
    const end = await ended(ops, session, "inference");
    assert.deepEqual([end.end?.exit, end.stopRequestedBy], [{ kind: "signal", signal: "SIGTERM" }, "me@laptop"]);
    await ops.launch(requestOf(opened, "inference"));
    opened.demo.dispose();
    assert.notEqual(await lost, "");
    await assert.rejects(ops.records(session));
    await assert.rejects(connect(opened), /has ended/);
    if (mode === "ssh") await until(() => Promise.resolve(processesOf(ops.identity.home).length === 0));
  });

  test(`${mode}: the session file says what the evening's launches said`, async (t) => {
    const opened = await open(t, mode, 100);
    const places = placesIn(mode === "ssh" ? join(opened.demo.folder, hostName) : "/home/demo");
    const evening = eveningLaunches(places);
    for (const launch of [evening.inference, evening.download]) {
      const { command, cwd, log } = stageOf(opened, launch.stage);
      assert.deepEqual({ command, cwd, log }, { command: launch.command, cwd: launch.cwd, log: launch.log });
    }
    assert.deepEqual(opened.host, hostDefinition);
    const { signal } = new AbortController();
    for (const address of [{ kind: "local" }, { kind: "alias", alias: "other" }] as const)
      await assert.rejects(opened.demo.connector.connect({ ...opened.host, address }, true, signal), /no other/);
  });
}

test("where no real host can be played, memory steps in and the log says why", async (t) => {
  const parent = await mkdtemp(join(tmpdir(), "demo-"));
  const said: string[] = [];
  const logger = { ...quiet, info: (message: string) => said.push(message) };
  const demo = await createDemo({
    mode: "ssh",
    folder: join(parent, "a folder"),
    clock,
    logger,
    isTrusted: () => true,
  });
  t.after(async () => {
    demo.dispose();
    await rm(parent, { recursive: true });
  });
  assert.equal(demo.mode, "memory");
  assert.match(said.join("\n"), /played in memory/);
});
