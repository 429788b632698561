import assert from "node:assert/strict";
import { test } from "node:test";
import { isExpected } from "../../src/core/errors";
import { secretsOf, type SecretStore } from "../../src/core/launchSecrets";
import type { EnvFileReport, HostOps } from "../../src/core/ports";
import { hostDefaults } from "../../src/core/session/defaults";
import type { HostDefinition } from "../../src/core/session/definition";

const host: HostDefinition = {
  name: "gpu8",
  address: { kind: "alias", alias: "gpu8" },
  ...hostDefaults,
  secrets: ["HF_TOKEN", "WANDB_KEY"],
};

/** A host whose env_file is as told; nothing else of it is asked. */
function opsWith(report: EnvFileReport): HostOps {
  return { envFileNames: () => Promise.resolve(report) } as Partial<HostOps> as HostOps;
}

/** A safe store, a person who answers from a list, and what they were asked for. */
function storeOf(
  kept: Record<string, string>,
  answers: Record<string, string>,
): SecretStore & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    get: (_, name) => Promise.resolve(kept[name]),
    ask: (_, name) => {
      asked.push(name);
      return Promise.resolve(answers[name]);
    },
  };
}

test("a secret comes from the store, else from the person, and is asked for once", async () => {
  const store = storeOf({ HF_TOKEN: "kept" }, { WANDB_KEY: "typed" });
  const values = await secretsOf(store, { host, ops: opsWith({ kind: "none" }), env: {} }, true);
  assert.deepEqual(
    [...values],
    [
      ["HF_TOKEN", "kept"],
      ["WANDB_KEY", "typed"],
    ],
  );
  assert.deepEqual(store.asked, ["WANDB_KEY"]);
  assert.equal(JSON.stringify({ values }), '{"values":{}}');
});

test("what the env_file or env gives is not asked for", async () => {
  const store = storeOf({ HF_TOKEN: "kept" }, {});
  const place = { host, ops: opsWith({ kind: "read", names: ["HF_TOKEN"] }), env: { WANDB_KEY: "plain" } };
  assert.deepEqual([...(await secretsOf(store, place, true))], []);
  assert.deepEqual(store.asked, []);
});

test("a person who gives none is told which and how", async () => {
  const store = storeOf({ HF_TOKEN: "kept" }, {});
  const place = { host: { ...host, envFile: "~/job.env" }, ops: opsWith({ kind: "read", names: [] }), env: {} };
  await assert.rejects(secretsOf(store, place, true), (error) => {
    assert.ok(isExpected(error));
    assert.match(error.message, /secret WANDB_KEY has no value for gpu8.*Set Secret.*~\/job\.env/);
    return true;
  });
});

test("a refused env_file is told before anything is asked", async () => {
  const store = storeOf({}, {});
  const place = { host, ops: opsWith({ kind: "refused", reason: "others may read it" }), env: {} };
  await assert.rejects(secretsOf(store, place, true), /others may read it/);
  assert.deepEqual(store.asked, []);
});

test("with nobody there nothing is asked, and the host refuses what is missing", async () => {
  const store = storeOf({ HF_TOKEN: "kept" }, { WANDB_KEY: "typed" });
  const values = await secretsOf(store, { host, ops: opsWith({ kind: "none" }), env: {} }, false);
  assert.deepEqual([...values.keys()], ["HF_TOKEN"]);
  assert.deepEqual(store.asked, []);
});

test("a host without secrets is asked nothing", async () => {
  const silent = { host: { ...host, secrets: [] }, ops: {} as Partial<HostOps> as HostOps, env: {} };
  assert.equal((await secretsOf(storeOf({}, {}), silent, true)).size, 0);
});
