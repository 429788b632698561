import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLaunches, type CheckedLaunch } from "../../src/core/launchCheck";
import type { OutputCheck, OutputReport } from "../../src/core/ports";
import type { PreflightFacts, PreflightQuery } from "../../src/core/preflight";
import { ofMember, type StageDefinition } from "../../src/core/session/definition";
import type { Session } from "../../src/core/session/model";
import { inputCheck } from "../../src/core/session/preflightInputs";
import { checkSections, checkSum, type CheckSection } from "../../src/core/session/preflightSections";
import { definition, ended, play, record, records, stage } from "./sessions";

const facts: PreflightFacts = {
  cwd: { path: "/data", state: "ok" },
  log: { path: "/data/x.log", state: "ok" },
  stateWritable: true,
  shell: "bash",
  shellStarts: true,
  program: { word: "python", path: "/venv/bin/python" },
  space: [],
  quotas: [],
  envFile: { kind: "none" },
};

/** A stage of three members, which differ in their arguments, their log and their GPU, and one in its environment. */
function shards(envOfLast: Readonly<Record<string, string>> = {}): StageDefinition {
  const members = ["0", "1", "2"];
  const memberParts = new Map(
    members.map((shard, index) => [
      shard,
      {
        command: `python extract.py ${shard}`,
        log: `extract-${shard}.log`,
        gpus: [index],
        env: shard === "2" ? envOfLast : {},
      },
    ]),
  );
  return stage("extract", { command: "python extract.py", members, memberParts });
}

interface Asked {
  readonly queries: PreflightQuery[];
  readonly checks: OutputCheck[];
}

/** Checks the stages, all members of each, on a host that answers as told. */
async function checked(
  session: Session,
  stages: readonly string[],
  answer: { readonly facts?: Partial<PreflightFacts>; readonly report?: OutputReport } = {},
): Promise<Asked & { readonly sections: readonly CheckSection[]; readonly lines: readonly string[] }> {
  const asked: Asked = { queries: [], checks: [] };
  const host = session.hosts.get("gpu8")?.definition;
  assert.ok(host);
  const preflight = (query: PreflightQuery): Promise<PreflightFacts> => {
    asked.queries.push(query);
    const moreLogs = (query.moreLogs ?? []).map((path) => ({
      path,
      state: path.includes("2") ? ("closed" as const) : ("ok" as const),
    }));
    return Promise.resolve({ ...facts, ...answer.facts, moreLogs });
  };
  const checkOutputs = (check: OutputCheck): Promise<OutputReport> => {
    asked.checks.push(check);
    return Promise.resolve(answer.report ?? { ok: true, bytes: 1, files: 1, detail: "1 file, 1 B" });
  };
  const launches = stages.flatMap((name) => {
    const known = session.stages.get(name);
    assert.ok(known);
    return known.members.map((member): CheckedLaunch => {
      const own = ofMember(known.definition, member.name);
      const { command = "", log, gpus, env } = own;
      const ref = { stage: name, member: member.name };
      const request = {
        session: "night",
        ...ref,
        command,
        ...(log === undefined ? {} : { log }),
        ...(gpus === undefined ? {} : { gpus }),
        env,
        launchedFrom: "me@laptop",
      };
      const ops = { preflight, findTools: () => Promise.resolve([]) };
      return { ref, definition: own, host, ops, request, withSetup: true };
    });
  });
  const secrets = { get: () => Promise.resolve(undefined), ask: () => Promise.resolve(undefined) };
  const found = await checkLaunches(launches, { session, secrets, opsOf: () => ({ checkOutputs }) });
  const sections = checkSections(session, found);
  const lines = sections.flatMap(({ title, rows }) => [
    `[${title}]`,
    ...rows.filter(({ level }) => level !== "ok").map(({ level, name, says }) => `${level} ${name}: ${says}`),
  ]);
  return { ...asked, sections, lines };
}

test("members that share an environment are looked at once, each with its own log", async () => {
  const { queries, lines, sections } = await checked(play(definition(shards())), ["extract"]);
  assert.equal(queries.length, 1);
  assert.deepEqual(queries[0]?.moreLogs, ["extract-1.log", "extract-2.log"]);
  assert.deepEqual(lines, [
    "[GPUs and ports]",
    "error GPUs: the host has no nvidia-smi that answers",
    "[files]",
    "error Log: extract-2.log cannot be entered or written (member 2)",
    "[command]",
  ]);
  const logs = sections.flatMap(({ rows }) => rows.filter(({ name, level }) => name === "Log" && level === "ok"));
  assert.deepEqual(
    logs.map(({ says }) => says),
    ["/data/x.log, and 1 more"],
  );
  const own = await checked(play(definition(shards({ SHARD: "2" }))), ["extract"]);
  assert.equal(own.queries.length, 2, "another environment may find another program");
});

test("what stages of a host share stands once, under the host, and the gravest first", async () => {
  const session = play(definition(stage("extract"), stage("train", { needs: ["extract"], gpus: [0] }), stage("eval")));
  const { sections, lines } = await checked(session, ["extract", "train", "eval"], {
    facts: { stateWritable: false, program: { word: "python" } },
  });
  const missing = "error Program: python is not on the PATH of a launch";
  assert.deepEqual(lines, [
    "[gpu8]",
    "error State folder: cannot be written, so no run can be recorded",
    "[extract on gpu8]",
    missing,
    "[train on gpu8]",
    missing,
    "error GPUs: the host has no nvidia-smi that answers",
    "[eval on gpu8]",
    missing,
  ]);
  assert.equal(checkSum(sections), "5 errors");
  assert.equal(sections[2]?.rows[0]?.ref.stage, "train", "a fix is applied to the stage it stands under");
  const two = await checked(session, ["extract", "train", "eval"], {
    facts: { gpus: [{ index: 0, usedMib: 9000, totalMib: 81920, holders: [] }] },
  });
  assert.deepEqual(two.lines.slice(0, 3), ["[gpu8]", "[extract on gpu8]", "[train on gpu8]"]);
  assert.match(two.lines[3] ?? "", /^warning GPU 0: in use/);
});

const download = stage("download", {
  kind: "download",
  doneWhen: { files: ["model/*.safetensors"], minBytes: 1e9, command: "exit 1", logLine: "done" },
});
const train = stage("train", { needs: ["download"] });
const gone: OutputReport = { ok: false, bytes: 0, files: 0, detail: "nothing matches model/*.safetensors" };

test("what the stages that it needs are to have written is looked at, unless they are in the same launch", async () => {
  const session = play(definition(download, train), records(3000, ended("download", 1)));
  const alone = await checked(session, ["train"], { report: gone });
  assert.deepEqual(
    alone.checks,
    [{ files: ["model/*.safetensors"], minBytes: 1e9, fresh: true }],
    "nothing is run for it",
  );
  const failed = "error From download: nothing matches model/*.safetensors; download has failed";
  const late = play(definition(download, train), records(3000, ended("download", 1)), { type: "tick", at: 60_000 });
  assert.deepEqual((await checked(late, ["train"], { report: gone })).lines, [
    "[inputs]",
    failed,
    "[command]",
    "[files]",
  ]);
  const row = (await checked(late, ["train"], { report: gone })).sections[0]?.rows[0];
  assert.deepEqual(row?.fix, { kind: "launch", stage: "download" });
  const both = await checked(session, ["download", "train"], { report: gone });
  assert.deepEqual(both.checks, []);
  assert.equal(both.lines.join().includes("From download"), false);
});

test("an input that is still being written is no error; one that nobody declared is told by its stage's state", async () => {
  const running = play(definition(download, train), records(3000, record("download")));
  assert.deepEqual((await checked(running, ["train"], { report: gone })).lines.slice(0, 2), [
    "[inputs]",
    "warning From download: nothing matches model/*.safetensors; download still runs",
  ]);
  const silent = play(definition(stage("download"), train));
  assert.deepEqual((await checked(silent, ["train"])).lines.slice(0, 2), [
    "[inputs]",
    "warning From download: nothing is declared that it writes; download has not run",
  ]);
  const there = play(definition(stage("download", { outputs: { files: ["a"], count: "files" } }), train));
  const { checks, lines } = await checked(there, ["train"]);
  assert.deepEqual(checks, [{ files: ["a"], fresh: true }]);
  assert.deepEqual(lines.slice(0, 2), ["[inputs]", "warning From download: 1 file, 1 B; download has not run"]);
  assert.equal(inputCheck(stage("x", { doneWhen: { files: [], command: "true" } })), undefined);
  assert.deepEqual(
    inputCheck(stage("x", { outputs: { files: ["o"], count: "lines" }, doneWhen: { files: [], outputsAtLeast: 5 } })),
    { files: [], outputs: { files: ["o"], count: "lines" }, outputsAtLeast: 5 },
  );
});
