import assert from "node:assert/strict";
import { test } from "node:test";
import { curesFor, helpOf, namesToFind } from "../../src/core/session/cure";
import { failure } from "./sessions";

const missing = failure({ subject: { program: "huggingface-cli" } });
const tool = (name: string, path: string, works: boolean, onPath = false) => ({ name, path, works, onPath, says: "" });

test("a renamed tool is looked for under both names", () => {
  assert.deepEqual(namesToFind(missing), ["huggingface-cli", "hf"]);
});

test("the stub that only says it was renamed is no cure; its successor is", () => {
  const cures = curesFor(missing, [
    tool("huggingface-cli", "/root/ml-env/bin/huggingface-cli", false),
    tool("hf", "/root/ml-env/bin/hf", true),
  ]);
  assert.deepEqual(
    cures.map((cure) => [cure.title, cure.program, cure.replacement]),
    [["Restart with /root/ml-env/bin/hf", "huggingface-cli", "/root/ml-env/bin/hf"]],
  );
  assert.match(cures[0]?.detail ?? "", /ml-env\/bin\/huggingface-cli only says that it no longer works/);
});

test("an old name that still works goes before its successor", () => {
  const cures = curesFor(missing, [tool("hf", "/a/hf", true), tool("huggingface-cli", "/a/huggingface-cli", true)]);
  assert.equal(cures[0]?.replacement, "/a/huggingface-cli");
});

test("nothing is looked for where no program was named, or its name could be more than a name", () => {
  assert.deepEqual(namesToFind(failure({ subject: {} })), []);
  assert.deepEqual(namesToFind(failure({ subject: { program: "x; rm -rf /" } })), []);
  assert.deepEqual(namesToFind(failure({ failure: "cuda-oom", subject: { program: "hf" } })), []);
});

test("a path that failed is not offered again", () => {
  const broken = failure({ failure: "deprecated-command", subject: { program: "/a/huggingface-cli" } });
  assert.deepEqual(curesFor(broken, [tool("huggingface-cli", "/a/huggingface-cli", true)]), []);
});

test("what helps tells a program that a launch does not reach from one that goes by another name", () => {
  const help = (...found: readonly ReturnType<typeof tool>[]) => helpOf(missing, curesFor(missing, found));
  assert.equal(
    help(tool("huggingface-cli", "/a/huggingface-cli", true)),
    "Restart with /a/huggingface-cli: huggingface-cli works there; it is not on the PATH of a launch. Its folder in `path` of the host does as well.",
  );
  assert.equal(
    help(tool("hf", "/a/hf", true)),
    "Restart with /a/hf: huggingface-cli is the old name; hf works; it is not on the PATH of a launch.",
  );
  assert.equal(
    help(tool("huggingface-cli", "/a/huggingface-cli", false), tool("hf", "/a/hf", true)),
    "Restart with /a/hf: /a/huggingface-cli only says that it no longer works; hf works; it is not on the PATH of a launch.",
  );
  assert.equal(help(), undefined);
  assert.equal(
    helpOf(failure({ subject: { program: "other" } }), curesFor(missing, [tool("hf", "/a/hf", true)])),
    undefined,
  );
});
