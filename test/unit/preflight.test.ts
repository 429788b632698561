import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PreflightFacts } from "../../src/core/preflight";
import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { HostDefinition, StageDefinition } from "../../src/core/session/definition";
import { preflightRows, type PreflightPicture, type PreflightRow } from "../../src/core/session/preflight";

const host: HostDefinition = { name: "gpu8", address: { kind: "alias", alias: "gpu8" }, ...hostDefaults };
const stage: StageDefinition = {
  ...stageDefaults,
  name: "download",
  kind: "download",
  host: "gpu8",
  command: "hf download x",
  range: { from: 0, to: 1 },
};
const good: PreflightFacts = {
  cwd: { path: "/data", state: "ok" },
  log: { path: "/data/x.log", state: "ok" },
  stateWritable: true,
  shell: "bash",
  shellStarts: true,
  program: { word: "hf", path: "/venv/bin/hf" },
  space: [{ holds: ["log", "outputs"], folder: "/data", freeBytes: 5e12, freeInodes: 1e9 }],
  quotas: [],
  envFile: { kind: "none" },
};

function rows(facts: Partial<PreflightFacts>, more: Partial<PreflightPicture> = {}): readonly PreflightRow[] {
  const picture = { stage, host, withSetup: true, keptSecrets: new Set<string>(), cures: [], ...more };
  return preflightRows({ ...picture, facts: { ...good, ...facts } });
}

/** What is not in order, as `level name: words`. */
function wrong(facts: Partial<PreflightFacts>, more: Partial<PreflightPicture> = {}): readonly string[] {
  return rows(facts, more)
    .filter(({ level }) => level !== "ok")
    .map(({ level, name, says }) => `${level} ${name}: ${says}`);
}

describe("the list before a launch", () => {
  test("is green where all is in order", () => {
    assert.deepEqual(wrong({}), []);
    assert.deepEqual(
      rows({}).map(({ name, says }) => `${name}: ${says}`),
      [
        "Program: hf is /venv/bin/hf",
        "Supervision: stays in the foreground, and its exit code is its own",
        "Folder: /data",
        "Log: /data/x.log",
        "Space for log and outputs: 5 TB free at /data",
      ],
    );
  });

  test("offers a cure for a program that is missing, and says where one was renamed", () => {
    const cure = { title: "", detail: "hf works there", program: "hf", replacement: "/root/ml-env/bin/hf" };
    const [row] = rows({ program: { word: "hf" } }, { cures: [cure] });
    assert.equal(row?.says, "hf is not on the PATH of a launch");
    assert.deepEqual(row.fix, { kind: "cure", cure });
    assert.equal(rows({ program: { word: "hf" } })[0]?.fix?.kind, "find");
    assert.deepEqual(wrong({}, { stub: "use hf" }), [
      "error Program: /venv/bin/hf only says that it was renamed: use hf",
    ]);
    assert.deepEqual(wrong({ program: { word: "hf", path: "/v/hf", missingInterpreter: "/old/python" } }), [
      "error Program: /v/hf names /old/python, which is not there (was its environment moved?)",
    ]);
  });

  test("tells of set-up and secrets by name", () => {
    const own = { ...host, setup: ["module load cuda"], secrets: ["HF_TOKEN"] };
    assert.deepEqual(wrong({ setupFailed: { line: 0, code: 1 } }, { host: own }), [
      "error Set-up: module load cuda failed with exit code 1",
      "error Secret HF_TOKEN: has no value for this host",
    ]);
    assert.deepEqual(wrong({}, { host: own, keptSecrets: new Set(["HF_TOKEN"]) }), []);
    assert.deepEqual(wrong({ envFile: { kind: "read", names: ["HF_TOKEN"] } }, { host: own }), []);
    assert.match(
      wrong({}, { host: own, withSetup: false })[0] ?? "",
      /^warning Set-up: not tried, since .* not approved/,
    );
  });

  test("weighs space and quota against what the stage must write", () => {
    const needs = { ...stage, doneWhen: { files: ["/data/*"], minBytes: 2e12 } };
    const space = (freeBytes: number, freeInodes = 1e9): Partial<PreflightFacts> => ({
      space: [{ holds: ["outputs"], folder: "/data", freeBytes, freeInodes }],
    });
    assert.deepEqual(wrong(space(5e8)), ["warning Space for outputs: only 500 MB free at /data"]);
    assert.deepEqual(wrong(space(1e12), { stage: needs }), [
      "warning Space for outputs: 1 TB free at /data, less than the 2 TB that `done_when` asks for",
    ]);
    assert.deepEqual(wrong(space(0)), ["error Space for outputs: the disk is full at /data"]);
    assert.deepEqual(wrong(space(1e12, 0)), ["error Space for outputs: room for 0 more files only at /data (inodes)"]);
    const quota = { fileSystem: "/dev/a", usedBytes: 9.5e9, limitBytes: 10e9, usedFiles: 0 };
    assert.deepEqual(wrong({ quotas: [quota] }), ["warning Quota on /dev/a: 500 MB left of 10 GB"]);
    assert.deepEqual(wrong({ quotas: [{ ...quota, usedBytes: 11e9 }] }), ["error Quota on /dev/a: 0 B left of 10 GB"]);
  });

  test("names who holds a GPU or a port", () => {
    const gpus = [
      { index: 0, usedMib: 3, totalMib: 81920, holders: [] },
      { index: 1, usedMib: 40960, totalMib: 81920, holders: [{ pid: 7, mib: 40960, user: "ann", name: "python" }] },
    ];
    assert.deepEqual(wrong({ gpus }, { stage: { ...stage, gpus: [0, 1, 2] } }), [
      "warning GPU 1: in use (40 / 80 GB) by python (pid 7, of ann, 40 GB)",
      "error GPU 2: is not there: the host has 2 GPUs",
    ]);
    assert.equal(wrong({}, { stage: { ...stage, gpus: "all" } }).length, 1);
    assert.deepEqual(wrong({ gpus }), []);
    assert.deepEqual(wrong({ port: { number: 8000, taken: true, by: "vllm (pid 9)" } }), [
      "error Port 8000: vllm (pid 9) listens there already",
    ]);
  });

  test("tells of places that are not as they must be", () => {
    const facts: Partial<PreflightFacts> = {
      cwd: { path: "/no", state: "missing" },
      log: { path: "/no/x.log", state: "no-folder" },
      stateWritable: false,
      shell: "no-bash",
    };
    assert.deepEqual(wrong(facts), [
      "error Shell: the host has no bash, which `shell` asks for",
      "error Folder: /no does not exist",
      "error Log: /no/x.log: its folder does not exist",
      "error State folder: cannot be written, so no run can be recorded",
    ]);
    const detached = { ...stage, command: "sbatch job.sh" };
    assert.match(wrong({}, { stage: detached })[0] ?? "", /^error Stays in the foreground: sbatch hands the job over/);
  });
});
