import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { FollowEvent } from "../../src/core/following";
import type { Clock, HostOps, Logger, RunRecord } from "../../src/core/ports";
import { isConnectError } from "../../src/core/errors";
import { createDemo, type DemoSession } from "../../src/demo/demo";
import { checkpointBytes } from "../../src/demo/night";
import { parseCommand } from "../../src/demo/memory/commandLine";
import { eveningLaunches, hostDefinition, placesIn, sessionName } from "../../src/demo/story";

/** A clock that stands still until it is moved; sleepers wake in the order of their times. */
class StillClock implements Clock {
  #now = Date.UTC(2026, 0, 2, 22);
  readonly #sleepers = new Set<{ at: number; wake: () => void }>();

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
      };
      const wake = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      if (signal?.aborted === true) {
        abort();
        return;
      }
      signal?.addEventListener("abort", abort, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  get sleeping(): number {
    return this.#sleepers.size;
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const next = [...this.#sleepers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.#sleepers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = until;
    await settled();
  }
}

/** All microtasks have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message, error) => {
    assert.fail(`${message} ${String(error)}`);
  },
};
const places = placesIn("/home/demo");

async function demo(
  t: TestContext,
  options: { trusted?: boolean; speed?: number } = {},
): Promise<[DemoSession, StillClock]> {
  const folder = await mkdtemp(join(tmpdir(), "demo-"));
  const clock = new StillClock();
  const isTrusted = (): boolean => options.trusted ?? true;
  const made = await createDemo({
    mode: "memory",
    folder,
    clock,
    logger: quiet,
    isTrusted,
    speed: options.speed ?? 10,
  });
  t.after(async () => {
    made.dispose();
    await settled();
    assert.equal(clock.sleeping, 0, "no timer survives the demo");
    await rm(folder, { recursive: true });
  });
  return [made, clock];
}

async function during<T>(clock: StillClock, ms: number, promise: Promise<T>): Promise<T> {
  await clock.pass(ms);
  return promise;
}

async function connect(made: DemoSession, clock: StillClock, path: string[] = []): Promise<HostOps> {
  const { signal } = new AbortController();
  return during(clock, 5, made.connector.connect({ ...hostDefinition, path }, false, signal));
}

const newest = (records: readonly RunRecord[], stage: string): RunRecord | undefined =>
  records.filter((record) => record.stage === stage).at(-1);

async function textOf(ops: HostOps, path: string): Promise<string> {
  return new TextDecoder().decode(await ops.read(path, 0, 1e7));
}

test("the evening: inference runs, the download dies with the words of nohup", async (t) => {
  const [made, clock] = await demo(t);
  assert.equal(made.mode, "memory");
  assert.match(await readFile(made.sessionFile, "utf8"), /^session: eagle3-night$/m);
  await during(clock, 2000, made.start());
  const ops = await connect(made, clock);
  const records = await ops.records(sessionName);
  assert.equal(newest(records, "inference")?.liveness, "running");
  const download = newest(records, "download");
  assert.deepEqual(download?.end?.exit, { kind: "code", code: 127 });
  assert.equal(download.binary, "/usr/bin/nohup");
  assert.equal(
    await textOf(ops, download.log.path),
    "nohup: failed to run command 'huggingface-cli': No such file or directory\n",
  );
  assert.match(await textOf(ops, `${places.data}/synth_25k/inference.log`), /^Model: \/shared\/kimi-k2.5-int4\n/);
  assert.match(
    await textOf(ops, `${places.data}/vllm.log`),
    /Running: \d+ reqs, Waiting: \d+ reqs, GPU KV cache usage/,
  );
  assert.deepEqual(await ops.logWriter(download.log.path), { open: false });
  assert.equal((await ops.logWriter(`${places.data}/synth_25k/inference.log`)).open, true);
});

test("only PATH mended leads to the tool that no longer works; its successor finishes the download", async (t) => {
  const [made, clock] = await demo(t);
  const { download } = eveningLaunches(places);
  const mended = await connect(made, clock, ["/home/demo/ml-env/bin"]);
  await mended.launch(download);
  await clock.pass(100);
  const stub = newest(await mended.records(sessionName), "download");
  assert.deepEqual(stub?.end?.exit, { kind: "code", code: 1 });
  assert.match(await textOf(mended, download.log ?? ""), /`huggingface-cli` is deprecated and no longer works/);

  const ops = await connect(made, clock);
  const tools = await ops.findTools(["hf", "huggingface-cli"], places.data);
  assert.deepEqual(
    tools.map(({ name, path, onPath, works }) => ({ name, path, onPath, works })),
    [
      { name: "hf", path: "/home/demo/ml-env/bin/hf", onPath: false, works: true },
      { name: "huggingface-cli", path: "/home/demo/ml-env/bin/huggingface-cli", onPath: false, works: false },
    ],
  );
  const check = { files: ["aq-medai-k2-drafter/model.safetensors"], minBytes: 20_000_000 };
  assert.equal((await ops.checkOutputs(check, places.data)).ok, false);
  const cured = { ...download, command: download.command.replace("huggingface-cli", "/home/demo/ml-env/bin/hf") };
  const outcome = await ops.launch(cured);
  assert.equal(outcome.kind, "launched");
  assert.equal((await ops.launch(cured)).kind, "already-running");
  await clock.pass(1000);
  const done = newest(await ops.records(sessionName), "download");
  assert.deepEqual(done?.end?.exit, { kind: "code", code: 0 });
  assert.equal(done.log.start.offset > 0, true, "the second run appends");
  assert.deepEqual(await ops.checkOutputs(check, places.data), {
    ok: true,
    bytes: checkpointBytes,
    files: 1,
    detail: "",
  });
  assert.match(
    await textOf(ops, download.log ?? ""),
    /\rmodel.safetensors: 100%\|█{10}\|.*\n\/home\/demo\/eagle3\/aq-medai-k2-drafter\n$/,
  );
});

test("the inference takes the night, with rates and elapsed times that agree", async (t) => {
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const { inference } = eveningLaunches(places);
  await ops.launch(inference);
  await clock.pass(61_000);
  const log = await textOf(ops, inference.log ?? "");
  const lines = [
    ...log.matchAll(
      /^Progress: (\d+)\/25000 \((\d+) errors\), ([\d.]+) req\/s, avg completion: (\d+) tokens, elapsed: (\d+)s$/gm,
    ),
  ];
  assert.equal(lines.length > 50, true);
  assert.equal(log.split("\n").length, lines.length + 2, "nothing but these lines, the model and the last newline");
  for (const [line, done, errors, rate, tokens, elapsed] of lines) {
    assert.equal(Math.abs(Number(rate) * Number(elapsed) - Number(done)) <= Number(rate) * 0.5 + 5, true, line);
    assert.equal(Number(tokens) >= 360 && Number(tokens) <= 430 && Number(errors) < 10, true, line);
  }
  assert.equal(lines.at(-1)?.[1], "25000");
  assert.deepEqual(newest(await ops.records(sessionName), "inference")?.end?.exit, { kind: "code", code: 0 });
  assert.equal((await ops.checkOutputs({ files: ["~/eagle3/synth_25k/*.json"] }, undefined)).ok, true);
});

test("a followed log gives every byte once, whenever one comes to it", async (t) => {
  const [made, clock] = await demo(t, { speed: 100 });
  const ops = await connect(made, clock);
  const { inference } = eveningLaunches(places);
  const stop = new AbortController();
  const follow = async (bytes: number, seen: FollowEvent[]): Promise<void> => {
    for await (const event of ops.follow(inference.log ?? "", { kind: "end", bytes }, stop.signal)) seen.push(event);
  };
  const first: FollowEvent[] = [];
  const late: FollowEvent[] = [];
  const following = follow(1e6, first);
  await ops.launch(inference);
  await clock.pass(3000);
  const followingLate = follow(500, late);
  await clock.pass(4000);
  stop.abort();
  await Promise.all([following, followingLate]);
  const whole = await ops.read(inference.log ?? "", 0, 1e7);
  for (const events of [first, late]) {
    const data = events.filter((event) => event.kind === "data");
    const start = data[0]?.offset ?? 0;
    let next = start;
    for (const { offset, data: bytes } of data) {
      assert.equal(offset, next);
      next += bytes.length;
    }
    assert.deepEqual(Buffer.concat(data.map((event) => event.data)), Buffer.from(whole.subarray(start)));
    assert.equal(events.filter((event) => event.kind === "caught-up").length, 1);
  }
  assert.deepEqual(
    first.slice(0, 2).map((event) => event.kind),
    ["missing", "opened"],
  );
  assert.equal((late[0]?.kind === "opened" ? late[0].size : 0) > 500, true);
});

test("records are told once, and again when they change", async (t) => {
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const { download, inference } = eveningLaunches(places);
  await ops.launch(inference);
  const seen: string[][] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const records of ops.watchRecords(sessionName, stop.signal))
      seen.push(records.map((record) => `${record.stage} ${record.liveness}`));
  })();
  await settled();
  await ops.launch(download);
  await clock.pass(200);
  const run = newest(await ops.records(sessionName), "inference")?.run ?? "";
  const stopped = await ops.stop(sessionName, run, { signal: "TERM", graceSeconds: 5, requestedBy: "me@laptop" });
  assert.deepEqual(stopped, { kind: "stopped", forced: false });
  assert.deepEqual(await ops.stop(sessionName, run, { signal: "TERM", graceSeconds: 5, requestedBy: "me" }), {
    kind: "not-running",
  });
  await settled();
  stop.abort();
  await watching;
  assert.deepEqual(seen[0], ["inference running"]);
  assert.deepEqual(seen.slice(1).flat(), [
    "download running",
    "download ended",
    "inference running",
    "inference ended",
  ]);
  const last = newest(await ops.records(sessionName), "inference");
  assert.deepEqual(last?.end?.exit, { kind: "signal", signal: "SIGTERM" });
  assert.equal(last.stopRequestedBy, "me@laptop");
});

test("eight GPUs, at work while the inference runs", async (t) => {
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const stop = new AbortController();
  const utilisations: (number | undefined)[][] = [];
  const sampling = (async () => {
    for await (const report of ops.gpus(2, stop.signal))
      if (report.kind === "samples") utilisations.push(report.samples.map((sample) => sample.utilisation));
  })();
  await clock.pass(100);
  await ops.launch(eveningLaunches(places).inference);
  await clock.pass(2000);
  stop.abort();
  await sampling;
  assert.deepEqual(
    utilisations[0],
    Array.from({ length: 8 }, () => 0),
  );
  assert.equal(utilisations[1]?.length, 8);
  assert.equal(
    utilisations[1].every((value) => value !== undefined && value >= 94 && value <= 99),
    true,
  );
});

test("extraction and training play to their end", async (t) => {
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const common = { session: sessionName, member: "0", cwd: places.data, env: {}, launchedFrom: "me" };
  await ops.launch({
    ...common,
    stage: "extract",
    command: "python 02_extract_hidden_states.py --out hidden",
    log: "extract.log",
  });
  await ops.launch({ ...common, stage: "train", command: "python 03_train_eagle3.py", log: "train.log" });
  await clock.pass(10_000);
  for (const record of await ops.records(sessionName))
    assert.deepEqual(record.end?.exit, { kind: "code", code: 0 }, record.stage);
  assert.match(
    await textOf(ops, `${places.data}/extract.log`),
    /\rExtracting hidden states: 100%\|█{10}\| 25000\/25000 \[00:06<00:00, [\d.]+it\/s\]\n$/,
  );
  assert.match(
    await textOf(ops, `${places.data}/train.log`),
    /100%\|█{10}\| 1500\/1500 .*\n\{'loss': '1\.\d+', 'grad_norm': '[\d.]+', 'learning_rate': '0.000e\+0', 'epoch': '2.00'\}\n$/,
  );
  assert.equal((await ops.checkOutputs({ files: ["hidden/shard-*.safetensors", "draft/"] }, places.data)).files, 9);
});

test("Restricted Mode neither connects nor launches; a closed connection says so", async (t) => {
  const [untrusted] = await demo(t, { trusted: false });
  const { signal } = new AbortController();
  await assert.rejects(
    untrusted.connector.connect(hostDefinition, true, signal),
    (error) => isConnectError(error) && error.reason === "untrusted",
  );
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const causes: string[] = [];
  ops.onDidClose((cause) => causes.push(cause));
  const following = (async () => {
    for await (const event of ops.follow("nowhere", { kind: "end", bytes: 1 }, signal))
      assert.equal(event.kind, "missing");
  })();
  await settled();
  made.dispose();
  await assert.rejects(following, /closed/);
  await assert.rejects(ops.records(sessionName), /closed/);
  assert.deepEqual(causes, ["the demo has ended"]);
});

test("a command that needs a shell is refused, and quotes are understood", async (t) => {
  const [made, clock] = await demo(t);
  const ops = await connect(made, clock);
  const refused = await ops.launch({
    session: "s",
    stage: "x",
    member: "0",
    command: "hf download x | tee log",
    env: {},
    launchedFrom: "me",
  });
  assert.equal(refused.kind, "refused");
  assert.deepEqual(parseCommand(`A=1 exec nohup 'my tool' "a b"c  -x`), {
    nohup: true,
    program: "my tool",
    args: ["a bc", "-x"],
  });
  assert.equal(parseCommand("echo $HOME"), undefined);
});
