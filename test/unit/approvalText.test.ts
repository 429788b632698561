import assert from "node:assert/strict";
import { test } from "node:test";
import { approvalText, everythingOf } from "../../src/core/approvalText";
import type { LaunchQuestion } from "../../src/core/launchApproval";
import { hostDefaults } from "../../src/core/session/defaults";
import type { HostDefinition } from "../../src/core/session/definition";
import { memberTitle } from "../../src/core/session/memberTitle";
import { stage } from "./sessions";

const host: HostDefinition = { name: "gpu8", address: { kind: "alias", alias: "gpu8" }, ...hostDefaults };

function question(name: string, command: string, more: Partial<HostDefinition> = {}): LaunchQuestion {
  const request = { stage: "shards", member: "0", command } as LaunchQuestion["request"];
  return { session: "s", name, host: { ...host, ...more }, request };
}

test("a member of a matrix is called with its member, also the one called 0; a stage without one by its name", () => {
  const members = { members: ["0", "1"], memberParts: new Map([["0", {}]]) };
  assert.equal(memberTitle({ definition: stage("shards", members as never) }, "0"), "shards 0");
  assert.equal(memberTitle({ definition: stage("shards", { ...members, members: ["7"] } as never) }, "7"), "shards 7");
  assert.equal(memberTitle({ definition: stage("train") }, "0"), "train");
});

test("what all launches have in common is said once, and what nobody set is not said", () => {
  const text = approvalText([question("shards 0", "run 0"), question("shards 1", "run 1")], true);
  assert.match(text, /^For all of them\n {2}host: ssh gpu8\n/);
  assert.match(text, /\n\nshards 0\n {2}command: run 0\n\nshards 1\n {2}command: run 1$/);
  assert.doesNotMatch(text, /shell/);
  assert.match(approvalText([question("train", "run", { shell: "bash" })], false), /^shell: bash$/m);
});

test("each line of a command is further in than the names of the parts", () => {
  const text = approvalText([question("train", "python x.py \\\n  --steps 5\nhost: other")], true);
  assert.match(text, /\n {2}command:\n {4}python x\.py \\\n {6}--steps 5\n {4}host: other$/);
  assert.match(approvalText([question("train", "a\nb")], false), /\ncommand:\n {2}a\n {2}b$/);
});

test("an answer is remembered by the same text as ever", () => {
  const text = everythingOf(question("train", "a\nb", { setup: ["x", "y"] }));
  assert.equal(
    text,
    `host: ssh gpu8\nfolder: ~\nlog: in the state folder\nsetup: x\ny\nshell: auto\nstate folder: ${host.stateDir}\ncommand: a\nb`,
  );
});
