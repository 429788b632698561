import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ExistingWork } from "../../src/core/existingWork";
import { noteOf, noteText, type LaunchNote } from "../../src/core/session/launchNote";
import { restartPlan } from "../../src/core/session/restartPlan";
import { resumeCommand } from "../../src/core/session/resumeCommand";
import { ofWholeStage } from "../../src/core/session/resumedProgress";
import { stopDetail } from "../../src/core/session/stopDetail";
import { definition, ended, member, ofStage, play, progress, record, records, stage } from "./sessions";

const minute = 60_000;
const now = 10_000_000;
const nothing: ExistingWork = { now, outputs: [], processes: [], gpuHolders: [] };
const lines: ExistingWork = {
  ...nothing,
  outputs: [
    {
      pattern: "synth/*.jsonl",
      files: 3,
      bytes: 1.2e9,
      lines: 18_000,
      newest: { path: "/data/synth/part-2.jsonl", at: now - 12 * minute },
    },
  ],
};
const inference = stage("inference", {
  kind: "inference",
  command: "python gen.py --out synth | tee gen.log",
  outputs: { files: ["synth/*.jsonl"], count: "lines" },
  doneWhen: { files: [], outputsAtLeast: 25_000 },
  resume: { args: "--skip-existing" },
});

test("what resumes goes to the program that writes, not to the pipe behind it", () => {
  const resumed = (command: string, args = "--resume"): string | undefined =>
    resumeCommand({ command, resume: { args } });
  assert.equal(resumed("python x.py"), "python x.py --resume");
  assert.equal(resumed("python x.py | tee a.log"), "python x.py --resume | tee a.log");
  assert.equal(resumed("cd /x && python x.py > a 2>&1"), "cd /x && python x.py > a 2>&1 --resume");
  assert.equal(resumed("source env; python x.py 'a | b' # note"), "source env; python x.py 'a | b' --resume # note");
  assert.equal(resumed("python x.py \\\n  --big\n"), "python x.py \\\n  --big --resume\n");
  assert.equal(resumed("python x.py --resume"), "python x.py --resume", "it stands there already");
  assert.equal(resumed("for i in 1 2; do python x.py $i; done"), undefined);
  assert.equal(resumed("(cd x; python x.py)"), undefined);
  assert.equal(resumed("python x.py <<END\nEND"), undefined);
});

test("commands that go on by themselves are known without `resume`", () => {
  for (const command of ["hf download a/b --local-dir x", "train --resume_from_checkpoint latest", "wget -c URL"]) {
    assert.equal(resumeCommand({ command }), command);
  }
  assert.equal(resumeCommand({ command: "python train.py" }), undefined);
  assert.equal(resumeCommand({}), undefined);
});

test("why a run was started is read back as it was written, whoever started it", () => {
  const count = fc.integer({ min: 0, max: 1e9 });
  const note: fc.Arbitrary<LaunchNote> = fc.record(
    {
      retry: fc.record(
        {
          attempt: fc.integer({ min: 1, max: 99 }),
          of: fc.integer({ min: 1, max: 99 }),
          after: fc.constant("20261201T220000Z-0a1b2c3d"),
        },
        { noNullPrototype: true },
      ),
      resume: fc.oneof(
        fc.constant({}),
        count.map((from) => ({ from })),
        fc.tuple(count, count).map(([from, total]) => ({ from, total })),
      ),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.string(), note, (by, given) => {
      const words = noteText(`${by}@laptop`, given);
      const { retry, resume } = noteOf(words);
      assert.deepEqual(retry, given.retry);
      assert.deepEqual(resume, given.resume);
    }),
  );
  assert.deepEqual(noteOf("me@laptop"), {});
  assert.deepEqual(noteOf("me@laptop (old)"), {});
});

test("a resumed run counts as a part of the whole, however its log counts", () => {
  const point = { from: 18_000, total: 25_000 };
  const shown = (done: number, total: number, of = point): string => {
    const reading = ofWholeStage(progress(done, total), of);
    return `${reading.done ?? ""}/${reading.total ?? ""}`;
  };
  assert.equal(shown(40, 7000), "18040/25000");
  assert.equal(shown(40, 7012), "18028/25000", "12 of the old ones are done again");
  assert.equal(shown(18_040, 25_000), "18040/25000");
  assert.equal(shown(0, 25_000), "0/25000", "it passes over what is there by itself");
  assert.equal(shown(40, 300), "40/300", "another counter");
  assert.equal(shown(10, 24_900, { from: 100, total: 25_000 }), "110/25000");
  assert.equal(shown(10, 25_000, { from: 100, total: 25_000 }), "10/25000");
  assert.deepEqual(ofWholeStage(progress(1, 7000), undefined), progress(1, 7000));
  const unknown = ofWholeStage(progress(40, 7000), { from: 18_000 });
  assert.deepEqual([unknown.done, unknown.total], [18_040, 25_000]);
});

test("a resumed run's finish is told by its own speed, and its count goes on", () => {
  const second = (at: number, done: number, total: number) =>
    ({ type: "progress", at, ...ofStage("inference"), reading: progress(done, total) }) as const;
  const slow = Array.from({ length: 20 }, (_, i) => second(1000 + i * 100_000, (i + 1) * 900, 25_000));
  const resumed = record("inference", {
    run: "r2",
    startedAt: 5_000_000,
    launchedFrom: noteText("me@laptop", { resume: { from: 18_000, total: 25_000 } }),
  });
  const fast = Array.from({ length: 20 }, (_, i) => second(5_001_000 + i * 1000, (i + 1) * 100, 7000));
  const session = play(
    definition(inference),
    records(0, record("inference", { startedAt: 0 })),
    ...slow,
    records(5_000_000, resumed),
    ...fast,
  );
  const { progress: shown, eta } = member(session, "inference");
  assert.deepEqual([shown?.done, shown?.total], [20_000, 25_000]);
  assert.ok(eta && eta.eta > 35 && eta.eta < 70, `5,000 at 100 a second: ${eta?.eta ?? "none"}`);
});

test("nothing there: a restart asks nothing", () => {
  const session = play(definition(inference), records(2000, ended("inference", 1)));
  const plan = restartPlan(session, ofStage("inference"), nothing, now);
  assert.equal(plan.asks, false);
  assert.deepEqual(
    plan.choices.map(({ way }) => way),
    ["again"],
  );
});

test("the plan says what is there, what changed, what must be run again, and offers three ways", () => {
  const train = stage("train", { needs: ["inference"] });
  const later = stage("later", { needs: ["train"] });
  const session = play(
    definition(inference, train, later),
    records(2000, ended("inference", 0, { command: "python old.py" }), ended("train", 0)),
    { type: "tick", at: 60_000 },
  );
  const plan = restartPlan(session, ofStage("inference"), lines, now);
  assert.deepEqual([plan.asks, plan.stopsRun], [true, false]);
  const text = plan.rows.join("\n");
  assert.match(text, /18,000 lines \(1\.2 GB in 3 files\), part-2\.jsonl changed 12 min ago/);
  assert.match(text, /Changed since the last run: command python old\.py → python gen\.py/);
  assert.match(text, /train has used/);
  assert.doesNotMatch(text, /later/);
  assert.deepEqual(
    plan.choices.map(({ way, label }) => `${label} ${way}`),
    ["Resume resume", "Start Over over", "Move Aside aside"],
  );
  assert.match(plan.choices[0]?.detail ?? "", /--out synth --skip-existing \| tee/);
  assert.match(plan.choices[1]?.detail ?? "", /may write over 18,000 lines.*no copy is kept/);
  assert.deepEqual(plan.resume, { from: 18_000, total: 25_000 });
  const small = { ...lines, outputs: lines.outputs.map((one) => ({ ...one, bytes: 1e6 })) };
  const [, over] = restartPlan(session, ofStage("inference"), small, now).choices;
  assert.equal(over?.way, "copy");
  assert.match(over.detail, /copy of 18,000 lines .* is kept/);
});

test("without `resume` there is no Resume; with a checkpoint alone nothing can be moved aside", () => {
  const { resume, ...plain } = inference;
  const session = play(definition(plain), records(2000, ended("inference", 1)));
  const ways = (work: ExistingWork): readonly string[] =>
    restartPlan(session, ofStage("inference"), work, now).choices.map(({ label }) => label);
  assert.deepEqual(ways(lines), ["Start Over", "Move Aside"]);
  const checkpoint = { path: "/data/out/checkpoint-1500", at: now - 12 * minute };
  assert.deepEqual(ways({ ...nothing, checkpoint }), ["Start Over"]);
  const plan = restartPlan(session, ofStage("inference"), { ...nothing, checkpoint }, now);
  assert.match(plan.rows.join(), /checkpoint-1500 of 12 min ago/);
});

test("what is left of older runs is named with the memory it holds, and others are left alone", () => {
  const gpuStage = { ...inference, gpus: [3] };
  const session = play(definition(gpuStage), records(2000, ended("inference", 1)));
  const work: ExistingWork = {
    ...nothing,
    processes: [{ run: "r0", pid: 42, name: "python3", live: false }],
    gpuHolders: [
      { pid: 42, name: "python3", user: "me", own: true, gpu: 3, memoryMib: 71_680, run: "r0" },
      { pid: 43, name: "vllm", user: "bob", own: false, gpu: 3, memoryMib: 6144 },
      { pid: 44, name: "vllm", user: "bob", own: false, gpu: 4, memoryMib: 6144 },
    ],
  };
  const plan = restartPlan(session, ofStage("inference"), work, now);
  assert.ok(plan.asks);
  assert.deepEqual(plan.orphanRuns, ["r0"]);
  assert.match(plan.rows.join("\n"), /ended first: python3 \(42, 70 GB of GPU 3\)/);
  assert.match(plan.rows.join("\n"), /left alone: GPU 3: vllm of bob, 6 GB\.$/m);
  assert.doesNotMatch(plan.rows.join("\n"), /GPU 4/);
});

test("a host that does not answer is said, and asked about", () => {
  const session = play(definition(inference), records(2000, ended("inference", 1)));
  const plan = restartPlan(session, ofStage("inference"), undefined, now);
  assert.ok(plan.asks);
  assert.match(plan.rows.join(), /could not be looked at/);
});

test("a stop says how long it ran, how far it is, its checkpoint, and what needs it", () => {
  const train = stage("train", { kind: "training" });
  const evaluate = stage("evaluate", { needs: ["train"] });
  const session = play(definition(train, evaluate), records(1000, record("train", { startedAt: 0 })), {
    type: "progress",
    at: 2000,
    ...ofStage("train"),
    reading: progress(71, 100),
  });
  const checkpoint = { path: "/data/out/checkpoint-1500", at: now - 12 * minute };
  const said = (work: ExistingWork | undefined): string =>
    stopDetail(session, ofStage("train"), work, 5 * 3_600_000 + 12 * minute).join("\n");
  assert.match(said({ ...nothing, checkpoint }), /running for 5 h 12 min, 71 %/);
  assert.match(said({ ...nothing, checkpoint }), /newest checkpoint is checkpoint-1500 of 12 min ago/);
  assert.match(said(nothing), /No checkpoint of it was found/);
  assert.match(said(undefined), /evaluate needs it\.\nIts processes get SIGTERM/);
});
