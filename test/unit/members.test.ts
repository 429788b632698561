import assert from "node:assert/strict";
import { test } from "node:test";
import { chartPlan } from "../../src/core/session/chartPlan";
import { applyEvent } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import { gpuRows } from "../../src/core/session/gpuRows";
import type { Member, PipelinePlan, Session } from "../../src/core/session/model";
import { slowest } from "../../src/core/session/pipelineEta";
import { planDetail, pipelineNotice } from "../../src/core/session/pipelineWords";
import { reportLines } from "../../src/core/session/report";
import { rowsById, type Row } from "../../src/core/session/rows";
import { stageRows } from "../../src/core/session/stageRows";
import { stageText } from "../../src/core/session/stageText";
import { summarise } from "../../src/core/session/summary";
import * as sample from "./sampleSession";
import { definition, ended, play, record, records, stage } from "./sessions";

process.env["TZ"] = "UTC";

const read: SessionEvent = { type: "records", at: 0, host: "gpu8", records: [], all: true };
const names = ["0", "1", "2", "3"];
const def = definition(
  stage("extract", {
    members: names,
    memberParts: new Map(names.map((name) => [name, { env: {}, command: `run ${name}`, gpus: [Number(name)] }])),
  }),
  stage("train", { needs: ["extract"] }),
);
const plan: PipelinePlan = {
  stages: ["extract", "train"],
  again: {},
  leftOut: [],
  givenUp: [],
  regardless: [],
  ways: {},
};

/** Two are finished, one failed, one runs. */
function session(): Session {
  const gpu = (index: number): object => ({ index, uuid: `g${index}`, name: "H200", at: 1000, memoryUsedMib: 4 });
  const samples = { type: "gpus", at: 1000, host: "gpu8", report: { kind: "samples", samples: [0, 1].map(gpu) } };
  return play(
    def,
    read,
    records(1000, ended("extract", 0, { member: "0", run: "a" }), ended("extract", 0, { member: "1", run: "b" })),
    records(1000, ended("extract", 1, { member: "2", run: "c" }), record("extract", { member: "3", run: "d" })),
    samples as SessionEvent,
    { type: "tick", at: 20_000 },
  );
}

function rowNamed(rows: readonly Row[], label: string): Row {
  const found = [...rowsById(rows).values()].find((row) => row.label === label);
  assert.ok(found, label);
  return found;
}

test("a stage of many members counts them, names the first failure, and has a row for each", () => {
  const rows = stageRows(session(), 20_000);
  const row = rowNamed(rows, "extract");
  assert.match(row.description, /^2\/4 finished, 1 failed, 1 running, 2 not checked · 2: .*exit/);
  assert.equal(row.contextValue, "stage.failed.launchable.many.active.broken.alert");
  assert.deepEqual(
    row.children.map(({ label, contextValue }) => `${label} ${contextValue}`),
    [
      "0 member.unchecked.launchable",
      "1 member.unchecked.launchable",
      "2 member.failed.launchable.alert",
      "3 member.running.launchable",
    ],
  );
  assert.match(rowNamed(rows, "train").description, /^blocked by extract: failed$/);
});

test("a pipeline's rows say what starts by itself, and its session how far it is", () => {
  const going = applyEvent(session(), { type: "pipeline", at: 20_000, pipeline: { plan, standing: "going" } });
  const rows = stageRows(going, 20_000);
  assert.match(
    rowNamed(rows, "train").description,
    /blocked by extract: failed · starts by itself once that is finished/,
  );
  assert.match(rowNamed(rows, "night").description, /1 failed · pipeline: 0 of 2 stages finished/);
  assert.equal(rowNamed(rows, "night").contextValue, "session.file.pipeline");
  const queued = applyEvent(going, {
    type: "queued",
    at: 1,
    stage: "extract",
    member: "2",
    for: "GPU 2 (48 GB in use)",
  });
  assert.equal(queued.stages.get("extract")?.members[2]?.queuedFor, "GPU 2 (48 GB in use)");
});

test("a GPU is used by the member that claims it, while it runs", () => {
  const usedBy = [...session().hosts.values()].flatMap(({ gpus }) => gpus.map((gpu) => gpu.usedBy));
  assert.deepEqual(usedBy, [["extract 0"], ["extract 1"]]);
  const quiet = rowNamed(gpuRows(session(), 20_000, true), "0");
  assert.doesNotMatch(quiet.description, /extract/);
});

test("the status bar names a stage once, however many of its members failed; tables count members", () => {
  const failed = applyEvent(session(), records(30_000, ended("extract", 1, { member: "3", run: "d" })));
  const late = applyEvent(failed, { type: "tick", at: 60_000 });
  const summary = summarise([late], 60_000);
  assert.match(summary?.text ?? "", /extract failed/);
  assert.match(summary?.tooltip ?? "", /2 \\\/ 4/);
  const lines = reportLines([late], "test", 60_000).map(({ line }) => line["member"] ?? line["stage"]);
  assert.deepEqual(lines.slice(0, 6), ["extract", "0", "1", "2", "3", "train"]);
});

test("charts of one member say which", () => {
  const { title } = chartPlan(session(), { kind: "stage", session: "s", stage: "extract", member: "3" });
  assert.equal(title, "night · extract 3");
});

test("the finish of a stage counts the turns of members that wait", () => {
  const minutes = (value: number): number => value * 60;
  const eta = { at: sample.now, eta: minutes(10), lo: minutes(8), hi: minutes(12) };
  const running = sample.member({ kind: "running" }, { eta });
  const waiting = sample.member({ kind: "waiting", for: [] });
  const done = (took: number): Member => {
    const end = { exit: { kind: "code", code: 0 }, at: sample.now + took * 1000 } as const;
    return sample.member({ kind: "finished" }, { run: sample.run({ startedAt: sample.now, end }) });
  };
  assert.equal(slowest([running, done(minutes(20))], undefined), eta);
  const turns = slowest([running, waiting, waiting, done(minutes(20)), done(minutes(30))], undefined);
  assert.equal(turns?.eta, minutes(10 + 2 * 25));
  assert.equal(slowest([running, waiting, waiting, done(minutes(20)), done(minutes(30))], turns), turns);
  assert.equal(slowest([waiting, done(1)], undefined), undefined);
});

test("a plan is told in its order, with what is not checked and what it waits for", () => {
  const all = definition(
    stage("download"),
    stage("prepare", { doneWhen: { files: ["x"] } }),
    stage("extract", { needs: ["prepare"] }),
    stage("train", { needs: ["extract", "download"] }),
  );
  const detail = planDetail(play(all, read), {
    ...plan,
    stages: ["prepare", "extract", "train"],
    ways: { extract: "aside" },
  });
  assert.match(detail, /^1\. prepare\n2\. extract, after what is there was renamed\n3\. train\n/);
  assert.match(detail, /train waits for download, which this does not launch/);
  assert.match(detail, /declared to check of extract \(done_when\)/);
});

test("one notice when a pipeline is through; none where an alert tells what keeps it; else what does", () => {
  const with_ = (from: Session, standing: "going" | "stuck" | "through"): Session =>
    applyEvent(from, { type: "pipeline", at: 30_000, pipeline: { plan, standing } });
  assert.equal(pipelineNotice(with_(session(), "going"), "me@laptop"), undefined);
  const chain = definition(stage("extract"), stage("train", { needs: ["extract"] }));
  const done = play(chain, read, records(1000, ended("extract", 0), ended("train", 0)));
  const through = pipelineNotice(with_(done, "through"), "me@laptop");
  assert.equal(through?.message, "night: extract and train are finished. Not checked: extract and train.");
  const failed = play(chain, read, records(1000, ended("extract", 1)), { type: "tick", at: 20_000 });
  assert.equal(pipelineNotice(with_(failed, "stuck"), "me@laptop"), undefined);
  const seen = applyEvent(failed, { type: "acknowledged", at: 21_000, stage: "extract", member: "0" });
  assert.match(
    pipelineNotice(with_(seen, "stuck"), "me@laptop")?.message ?? "",
    /cannot go on. extract has failed. It goes on by itself/,
  );
  const stopped = play(chain, read, records(1000, ended("extract", 143, { stopRequestedBy: "me@laptop" })));
  assert.equal(pipelineNotice(with_(stopped, "stuck"), "me@laptop"), undefined);
  assert.match(pipelineNotice(with_(stopped, "stuck"), "you@laptop")?.message ?? "", /extract is stopped/);
  const refused = play(chain, read, {
    type: "launch-refused",
    at: 1,
    stage: "extract",
    member: "0",
    reason: "no folder",
  });
  assert.match(
    pipelineNotice(with_(refused, "stuck"), "me@laptop")?.message ?? "",
    /extract was not started: no folder/,
  );
});

test("all members that wait for one thing say it once", () => {
  const waiting = play(definition(stage("before"), stage("extract", { members: names, needs: ["before"] })), read);
  const found = waiting.stages.get("extract");
  assert.ok(found);
  assert.equal(stageText(found, 1), "waits for before");
});
