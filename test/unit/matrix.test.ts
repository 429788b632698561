import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ofMember, type StageDefinition } from "../../src/core/session/definition";
import { parseSessionFile } from "../../src/core/session/sessionFile";

function read(...lines: readonly string[]): { stage: StageDefinition; said: readonly string[] } {
  const text = ["session: s", "hosts: { h: {} }", "stages:", "  a:", ...lines.map((line) => `    ${line}`), ""].join(
    "\n",
  );
  const { definition, problems } = parseSessionFile(text);
  const stage = definition?.stages.get("a");
  assert.ok(stage);
  return { stage, said: problems.map(({ range, message }) => `${text.slice(range.from, range.to)}: ${message}`) };
}

describe("a matrix", () => {
  test("makes a member of each value, with its own command, log, GPU, environment and outputs", () => {
    const { stage, said } = read(
      "command: extract --shard {{shard}} {{.Names}}",
      "log: /data/{{ shard }}.log",
      'gpus: ["{{shard}}"]',
      "env: { SHARD: '{{shard}}', ALL: 1 }",
      "outputs: { files: 'out/{{shard}}/*.pt' }",
      "done_when: { outputs_at_least: 3 }",
      "matrix: { shard: 0..7 }",
    );
    assert.deepEqual(said, []);
    assert.deepEqual(stage.members, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    const third = ofMember(stage, "3");
    assert.equal(third.command, "extract --shard 3 {{.Names}}");
    assert.equal(third.log, "/data/3.log");
    assert.deepEqual(third.gpus, [3]);
    assert.deepEqual(third.env, { SHARD: "3", ALL: "1" });
    assert.deepEqual(third.outputs, { files: ["out/3/*.pt"], count: "files" });
    assert.deepEqual(third.doneWhen, { files: [], outputsAtLeast: 3 });
    assert.equal(third.name, "a");
  });

  test("of two names makes every pair, the last changing fastest", () => {
    const { stage } = read("command: x {{seed}} {{size}}", "matrix: { seed: [1, 2], size: [small, 0.5] }");
    assert.deepEqual(stage.members, ["1-small", "1-0.5", "2-small", "2-0.5"]);
    assert.equal(ofMember(stage, "2-0.5").command, "x 2 0.5");
  });

  test("that is wrong is said at its place, and nothing of the stage is launched", () => {
    for (const [written, words] of [
      ["{ shard: 7..0 }", /`shard` must be a range/],
      ["{ shard: 0..999999999 }", /`shard` must be a range/],
      ["{ shard: [] }", /`shard` must be a range/],
      ["{ shard: 0..299 }", /more than 256/],
      ["{ a: 0..99, b: 0..99 }", /more than 256/],
      ["{ shard: [a/b] }", /cannot be a member's name/],
      ["{ shard: [1, '1'] }", /Two members would be called `1`/],
    ] as const) {
      const { stage, said } = read("command: x", `matrix: ${written}`);
      assert.match(said.join("\n"), words, written);
      assert.deepEqual(stage.members, ["0"], written);
      assert.deepEqual(stage.unsupported, ["`matrix` is wrong in the session file"], written);
    }
  });

  test("whose members would write to one log is warned of", () => {
    const { stage, said } = read("command: x {{shard}}", "log: /data/x.log", "matrix: { shard: 0..1 }");
    assert.match(said.join("\n"), /^log: Several members write to one log/);
    assert.deepEqual(stage.unsupported, []);
  });

  test("is not needed: one member is the stage as written", () => {
    const { stage } = read("command: x", "gpus: 2");
    assert.deepEqual(stage.members, ["0"]);
    assert.equal(ofMember(stage, "0"), stage);
  });
});

describe("what a stage writes and when it is done", () => {
  test("is read whole", () => {
    const { stage, said } = read(
      "command: x",
      "outputs: { files: [a.jsonl, b.jsonl], count: lines, token_field: usage.completion_tokens }",
      "done_when: { exists: [c], hf_snapshot: model, min_size: 1 GB, outputs_at_least: 5, command: test -e d, log_line: done$ }",
      "resume: { args: --skip-existing }",
      "retries: { max: 5, on: any, backoff: 1m }",
      "when_busy: refuse",
    );
    assert.deepEqual(said, []);
    const { outputs, doneWhen, resume, retries, whenBusy } = stage;
    assert.deepEqual(outputs, { files: ["a.jsonl", "b.jsonl"], count: "lines", tokenField: "usage.completion_tokens" });
    assert.deepEqual(doneWhen, {
      files: ["c"],
      minBytes: 1e9,
      hubSnapshot: "model",
      outputsAtLeast: 5,
      command: "test -e d",
      logLine: "done$",
    });
    for (const field of ["a..b", "", "a b", "$(x)", "a.", "ü", '"a"']) {
      const bad = read("command: x", `outputs: { files: [a], token_field: ${JSON.stringify(field)} }`);
      assert.match(bad.said.join(), /keys joined by dots/, field);
      assert.equal(bad.stage.outputs?.tokenField, undefined);
    }
    assert.deepEqual(resume, { args: "--skip-existing" });
    assert.deepEqual(retries, { max: 5, on: "any", backoffSeconds: 60 });
    assert.equal(whenBusy, "refuse");
    assert.deepEqual(read("command: x", "retries: 2").stage.retries, { max: 2, on: "transient", backoffSeconds: 30 });
    assert.deepEqual(read("command: x", "retries: {}").stage.retries.max, 3);
  });

  test("must say what it means", () => {
    const sizeOfWhat = read("command: x", "done_when: { min_size: 1 GB }");
    assert.match(sizeOfWhat.said.join("\n"), /min_size` needs `files` or `hf_snapshot`/);
    assert.match(read("command: x", "done_when: { outputs_at_least: 3 }").said.join("\n"), /needs `outputs`/);
    assert.match(read("command: x", "outputs: { count: lines }").said.join("\n"), /`outputs` needs `files`/);
  });
});
