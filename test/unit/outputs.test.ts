import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OutputWatch } from "../../src/core/outputWatch";
import type { Clock, HostOps, OutputCheck, OutputReport } from "../../src/core/ports";
import { applyEvent } from "../../src/core/session/apply";
import type { StageDefinition } from "../../src/core/session/definition";
import type { SessionEvent } from "../../src/core/session/events";
import { membersOn } from "../../src/core/session/membersOn";
import type { Session } from "../../src/core/session/model";
import { uncheckable, verdictCheck, watchedOutputs } from "../../src/core/session/outputChecks";
import { outputsText } from "../../src/core/session/outputWords";
import { stateText } from "../../src/core/session/stateWords";
import { SessionStore } from "../../src/core/session/store";
import type { OutputLook } from "../../src/core/session/written";
import { outputReport } from "../../src/ssh/outputAnswer";
import { definition, ended, identity, member, ofStage, play, progress, record, records, stage } from "./sessions";

const minute = 60_000;
const lines = { files: ["out/*.jsonl"], count: "lines" } as const;
const writes = (more: Partial<StageDefinition> = {}): StageDefinition => stage("infer", { outputs: lines, ...more });

function look(at: number, done: number, more: Partial<OutputLook> = {}): SessionEvent {
  return { type: "written", ...ofStage("infer"), run: "r1", at, unit: "lines", done, bytes: done * 10, ...more };
}

function counted(at: number, done: number, total = 25_000): SessionEvent {
  return { type: "progress", at, ...ofStage("infer"), reading: progress(done, total) };
}

function grown(at: number): SessionEvent {
  return { type: "log", at, ...ofStage("infer"), offset: at, modifiedAt: at, caughtUp: true };
}

const stateOf = (session: Session): string => member(session, "infer").state.kind;
const running = records(1, record("infer"));
const every = <T>(from: number, to: number, make: (at: number) => T): T[] => {
  const all: T[] = [];
  for (let at = from; at <= to; at += minute) all.push(make(at));
  return all;
};

test("a log that prints on over the same outputs is a stall, and says so", () => {
  const early = every(minute, 10 * minute, (at) => look(at, at / 1000));
  const late = every(11 * minute, 26 * minute, (at) => [look(at, 600), counted(at, at / 1000), grown(at)]).flat();
  const session = play(definition(writes()), running, ...early, ...late);
  const { state } = member(session, "infer");
  assert.deepEqual(state, { kind: "stalled", since: 10 * minute, why: "it prints on, but writes nothing new" });
  assert.equal(stateOf(applyEvent(session, look(27 * minute, 601))), "running");
});

test("work that is done again adds nothing from the start, and is a stall as well", () => {
  const all = every(minute, 20 * minute, (at) => [look(at, 18_000), counted(at, at / 1000), grown(at)]).flat();
  assert.equal(stateOf(play(definition(writes()), running, ...all)), "stalled");
  // A model that is loaded prints, too: without progress the first output has an hour.
  const warming = every(minute, 50 * minute, (at) => [look(at, 18_000), grown(at)]).flat();
  assert.equal(stateOf(play(definition(writes()), running, ...warming)), "running");
});

test("outputs that grow are life, whatever progress, log and GPUs say", () => {
  const all = every(minute, 60 * minute, (at) => [look(at, at / 1000), counted(at, 7)]).flat();
  assert.equal(stateOf(play(definition(writes()), running, ...all)), "running");
});

test("a stage has its own rate: five of its longest gaps, and checkpoints that come by the hour", () => {
  const files = { files: ["ckpt/*.pt"], count: "files" } as const;
  const at = (hours: number, done: number): SessionEvent => look(hours * 60 * minute, done, { unit: "files" });
  const begun = play(definition(writes({ outputs: files })), running, at(0.01, 0), at(1, 1), at(2, 2));
  assert.equal(stateOf(applyEvent(begun, at(6.9, 2))), "running");
  assert.equal(stateOf(applyEvent(begun, at(7.1, 2))), "stalled");
});

test("what nobody has counted since is no stall, and neither is the rest of a run whose outputs are all there", () => {
  const session = play(definition(writes()), running, look(minute, 5), look(2 * minute, 6));
  assert.equal(stateOf(applyEvent(session, { type: "tick", at: 90 * minute })), "running");
  const whole = [look(minute, 1, { total: 2 }), look(2 * minute, 2, { total: 2 }), look(40 * minute, 2, { total: 2 })];
  const through = play(definition(writes()), running, ...whole, grown(39 * minute));
  assert.equal(stateOf(through), "running");
});

test("bytes of a download are its progress where its log counts files or nothing", () => {
  const bytes = (at: number, done: number): SessionEvent => look(at, done, { unit: "B", bytes: done, total: 25e9 });
  const def = definition(writes({ kind: "download" }));
  const session = play(def, running, bytes(minute, 1e9), bytes(2 * minute, 19.2e9));
  const one = member(session, "infer");
  assert.match(stateText(one.state, one, 2 * minute), /^19\.2 of 25 GB · 303 MB\/s · /);
  assert.equal(one.series.byName.get("outputBytes")?.length, 2);
  const files = counted(3 * minute, 3, 12);
  assert.equal(member(applyEvent(session, files), "infer").progress?.unit, "B");
  assert.equal(member(play(def, running, files, bytes(4 * minute, 2e9)), "infer").progress?.done, 2e9);
  const meter: SessionEvent = {
    ...files,
    reading: progress(20e9, 25e9, { unit: "B", format: "tqdm" }),
  } as SessionEvent;
  assert.equal(member(applyEvent(session, meter), "infer").progress?.format, "tqdm");
});

test("lines stand in the row where the log says nothing, and in the tooltip always", () => {
  const session = play(definition(writes()), running, look(minute, 18_204, { total: 25_000 }));
  const one = member(session, "infer");
  assert.equal(stateText(one.state, one, minute), "18,204 of 25,000 lines written");
  const printed = member(applyEvent(session, counted(2 * minute, 18_300)), "infer");
  assert.match(stateText(printed.state, printed, minute), /^18,300 \/ 25,000/);
  assert.match(outputsText(printed, minute) ?? "", /^18,204 of 25,000 lines written, 182 kB/);
});

test("nothing that needs a stage starts before its outputs were looked at", () => {
  const doneWhen = { files: ["x"] };
  const def = definition(writes({ doneWhen }), stage("train", { needs: ["infer"] }));
  const over = play(def, records(1, ended("infer", 0)));
  assert.deepEqual(member(over, "infer").state, { kind: "running", checking: true });
  assert.deepEqual(member(over, "train").state, { kind: "waiting", for: ["infer"] });
  const report = { ok: false, bytes: 0, files: 0, detail: "", unchecked: "it broke" };
  const failed = applyEvent(over, { type: "outputs", at: 2, ...ofStage("infer"), run: "r1", report });
  assert.equal(stateOf(failed), "finished-unchecked");
});

test("a check that asks for a secret is not run without it", () => {
  const secrets = ["HF_TOKEN"];
  const asks = (command: string): OutputCheck => ({ files: [], command });
  assert.match(uncheckable(asks('hf repo check --token "${HF_TOKEN}"'), { secrets }) ?? "", /asks for HF_TOKEN/);
  assert.match(uncheckable(asks("curl -u $HF_TOKEN: x"), { secrets }) ?? "", /env_file/);
  assert.equal(uncheckable(asks("curl -u $HF_TOKEN: x"), { secrets, envFile: "~/keys" }), undefined);
  assert.equal(uncheckable(asks("test -s $HF_TOKENS && echo HF_TOKEN"), { secrets }), undefined);
  assert.equal(uncheckable({ files: ["x"] }, { secrets }), undefined);
});

test("the checks of a stage: all of done_when at its end, what can be counted while it runs", () => {
  const doneWhen = { files: [], hubSnapshot: "/m", minBytes: 5, outputsAtLeast: 7, command: "v", logLine: "x" };
  const whole = stage("d", { kind: "download", doneWhen, outputs: { ...lines, tokenField: "t" }, env: { A: "1" } });
  const run = record("d");
  assert.deepEqual(verdictCheck(whole, run), { ...doneWhen, outputs: lines, env: { A: "1" }, log: run.log });
  assert.equal(verdictCheck(stage("d"), run), undefined);
  const watching = { maxAgeSeconds: 3 };
  assert.deepEqual(watchedOutputs(whole, 3), {
    check: { files: [], outputs: lines, watching },
    unit: "lines",
    total: 7,
  });
  const download = stage("d", { kind: "download", doneWhen: { files: [], hubSnapshot: "/m", minBytes: 5 } });
  assert.deepEqual(watchedOutputs(download, 3)?.check, { files: [], hubSnapshot: "/m", watching });
  assert.equal(watchedOutputs(stage("t", { kind: "training", doneWhen: { files: ["x"] } }), 3), undefined);
});

test("a look takes a hundredth of the time at most, and never begins while another goes on", async () => {
  let now = 0;
  const asked: number[] = [];
  let answer: (report: Partial<OutputReport> | Error) => void = () => undefined;
  const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
  const ops = {
    identity,
    checkOutputs: () =>
      new Promise<OutputReport>((resolve, reject) => {
        asked.push(now);
        answer = (report) => {
          if (report instanceof Error) reject(report);
          else resolve({ ok: true, bytes: 1, files: 1, detail: "", ...report });
        };
      }),
  } as unknown as HostOps;
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  store.open("s", definition(writes()), 0);
  store.apply("s", { type: "connected", at: 0, host: "gpu8", identity });
  store.apply("s", running);
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const watch = new OutputWatch({ store, clock, logger }, "s", "gpu8");
  const { signal } = new AbortController();
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const at = async (moment: number): Promise<void> => {
    await settled();
    now = moment;
    const session = store.sessions.get("s");
    if (session) watch.look(membersOn(session, "gpu8"), ops, signal);
    await settled();
  };
  await at(0);
  await at(100_000);
  assert.deepEqual(asked, [0]);
  answer({ tookMs: 600, count: 5 });
  await at(159_999);
  await at(160_000);
  assert.deepEqual(asked, [0, 160_000]);
  answer({ tookMs: 1, count: 6 });
  await at(165_000);
  await at(170_000);
  assert.deepEqual(asked, [0, 160_000, 170_000]);
  answer({ tookMs: 3_600_000, count: 7 });
  await at(170_001);
  await at(470_000);
  assert.deepEqual(asked.at(-1), 470_000);
  answer(new Error("the link broke"));
  await at(470_001);
  await at(530_000);
  assert.equal(asked.length, 5);
  // A run that has ended is not looked at any more.
  answer({ tookMs: 1, count: 8 });
  store.apply("s", records(600_000, ended("infer", 1)));
  await at(700_000);
  assert.equal(asked.length, 5);
  const session = store.sessions.get("s");
  assert.equal(session && member(session, "infer").written?.done, 8);
});

test("an answer of the host is understood or refused, whatever it is", () => {
  const check: OutputCheck = { files: ["*.bin"], outputs: lines, command: "v" };
  const words = [
    "none",
    "size",
    "count",
    "folder",
    "index",
    "shard missing",
    "shards",
    "incomplete",
    "command",
    "odd",
    "",
  ];
  const line = fc.oneof(
    fc.string(),
    fc.tuple(fc.constantFrom(...words), fc.string()).map(([word, text]) => `@ fault ${word} ${text}`),
    fc
      .tuple(fc.constantFrom("files", "outputs", "total", "took"), fc.array(fc.nat(), { maxLength: 5 }))
      .map(([word, numbers]) => `@ ${word} ${numbers.join(" ")}`),
    fc.string().map((text) => `: ${text}`),
  );
  fc.assert(
    fc.property(fc.array(line), (answer) => {
      const faults = answer.filter((one) => /^@ fault .*$/.test(one)).length;
      const report = outputReport([...answer, "@ took 5"], check);
      assert.equal(report.ok, faults === 0);
      assert.ok(report.bytes >= 0 && report.files >= 0 && Number.isFinite(report.newestAt ?? 0));
      assert.ok(report.ok || report.detail !== "");
    }),
  );
  assert.throws(() => outputReport(["@ files 1 2 3"], check), /cannot be understood/);
});

test("what is missing is said in plain words", () => {
  const said = (...faults: string[]): string =>
    outputReport([...faults.map((fault) => `@ fault ${fault}`), "@ took 1"], { files: [], outputs: lines }).detail;
  assert.equal(said("count 24990 25000"), "24,990 of 25,000 lines are there");
  assert.equal(said("size 19200000000 25000000000"), "19.2 of 25 GB are there");
  assert.equal(
    said("shard missing 3 5 a b.safetensors", "shards 12", "dangling a b.safetensors"),
    "shard 3 of 5 (a b.safetensors) is missing; 12 more shards are missing",
  );
});
