import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runDifferences } from "../../src/core/session/runDifference";
import type { RunRecord } from "../../src/core/ports";
import { stageRows } from "../../src/core/session/stageRows";
import { definition, ended, play, record, records, stage } from "./sessions";

const base = record("train", {
  command: "python train.py",
  binary: "/usr/bin/python",
  git: { commit: "a1b2c3d".padEnd(40, "0"), dirty: false },
  effectivePath: "/usr/local/bin:/usr/bin",
  environment: { CUDA_VISIBLE_DEVICES: "1111", HF_TOKEN: "2222", LANG: "3333" },
  environmentSalt: "s",
});

test("a run does not differ from itself", () => {
  assert.deepEqual(runDifferences(base, base), []);
});

test("each thing that differs is said in words", () => {
  const after = record("train", {
    ...base,
    command: "python train.py --lr 1e-4",
    cwd: "/data",
    binary: "/root/ml-env/bin/python",
    setup: ["module load cuda"],
    git: { commit: "d4e5f6a".padEnd(40, "0"), dirty: true },
    effectivePath: "/root/ml-env/bin:/usr/bin",
    environment: { CUDA_VISIBLE_DEVICES: "9999", HF_TOKEN: "2222", NCCL_DEBUG: "4444" },
  });
  assert.deepEqual(runDifferences(base, after), [
    "command python train.py → python train.py --lr 1e-4",
    "folder /root → /data",
    "binary /usr/bin/python → /root/ml-env/bin/python",
    "setup none → module load cuda",
    "commit a1b2c3d → d4e5f6a, dirty",
    "PATH with /root/ml-env/bin, without /usr/local/bin",
    "CUDA_VISIBLE_DEVICES changed",
    "LANG removed",
    "NCCL_DEBUG added",
  ]);
});

test("what one of the two does not say is not compared", () => {
  const older = record("train", { command: "python train.py" });
  assert.deepEqual(runDifferences(older, base), []);
  assert.deepEqual(runDifferences(base, { command: "python train.py" }), []);
  const unhashed = record("train", { ...base, environment: { CUDA_VISIBLE_DEVICES: "", HF_TOKEN: "", LANG: "" } });
  assert.deepEqual(runDifferences(base, unhashed), []);
  const salted = record("train", {
    ...base,
    environmentSalt: "t",
    environment: { CUDA_VISIBLE_DEVICES: "7", LANG: "8" },
  });
  assert.deepEqual(runDifferences(base, salted), ["HF_TOKEN removed"]);
});

test("changes of code are told from its commit and from what is not committed", () => {
  const { commit = "" } = base.git ?? {};
  const dirty = record("train", { ...base, git: { commit, dirty: true } });
  assert.deepEqual(runDifferences(base, dirty), ["commit a1b2c3d clean → dirty"]);
  assert.deepEqual(runDifferences(dirty, base), ["commit a1b2c3d dirty → clean"]);
  assert.deepEqual(runDifferences(dirty, dirty), ["commit a1b2c3d, dirty both times"]);
  assert.deepEqual(runDifferences(base, record("train", { ...base, git: { commit } })), []);
});

test("folders of PATH in another order are told", () => {
  const after = record("train", { ...base, effectivePath: "/usr/bin:/usr/local/bin" });
  assert.deepEqual(runDifferences(base, after), ["PATH in another order"]);
});

test("a variable is said to have changed exactly when its hash did", () => {
  const hashes = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,6}$/), fc.constantFrom("a", "b"));
  fc.assert(
    fc.property(hashes, hashes, (before, after) => {
      const said = runDifferences({ ...base, environment: before }, { ...base, environment: after });
      const names = new Set([...Object.keys(before), ...Object.keys(after)]);
      const expected = [...names].filter((name) => before[name] !== after[name]);
      assert.deepEqual(said.map((line) => line.split(" ")[0]).sort(), expected.sort());
    }),
  );
});

test("a row's tooltip says how its run differs from the one before, without any value", () => {
  const before = record("train", {
    environment: { HF_HOME: "aaaa", OLD: "bbbb" },
    environmentSalt: "s",
    git: { commit: "a".repeat(40), dirty: false },
  });
  const after = ended("train", 0, {
    run: "r2",
    startedAt: 5000,
    command: "run --more",
    environment: { HF_HOME: "cccc", NEW: "dddd" },
    environmentSalt: "s",
    git: { commit: "b".repeat(40), dirty: true },
  });
  const tooltip = (...all: readonly RunRecord[]): string => {
    const session = play(definition(stage("train")), records(9000, ...all));
    return stageRows(session, 10_000)[0]?.children[0]?.children[0]?.tooltip ?? "";
  };
  const words = tooltip(before, after).replaceAll("\\", "");
  assert.match(
    words,
    /run before:\*\* command run → run --more; commit aaaaaaa → bbbbbbb, dirty; HF_HOME changed; NEW added; OLD removed\n/,
  );
  assert.doesNotMatch(words, /cccc|dddd/);
  assert.doesNotMatch(tooltip(after), /Changed since/);
  assert.doesNotMatch(tooltip(before, { ...before, run: "r2", startedAt: 5000 }), /Changed since/);
});
