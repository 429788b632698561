import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { PipelineRunner } from "../../src/core/pipelineRunner";
import type { PipelinePlan, Session, Stage } from "../../src/core/session/model";
import { planOf, planOfMembers, stagesFrom } from "../../src/core/session/pipelinePlan";
import { stageText } from "../../src/core/session/stageText";
import { createClock } from "../../src/core/systemClock";
import { startStoryHost, windowOn, type StoryHost } from "./storyHost";
import { storyId, type StoryWindow } from "./storyWindow";

/** How long a step may take on a machine that is ten times slower than usual, ms. */
const patience = 60_000;

const quiet = { debug: noWord, info: noWord, warn: noWord, error: noWord };

function noWord(): void {
  // Nobody listens to the log in these tests.
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => {
    clearTimeout(timer);
  };
}

interface PipelineWindow {
  readonly window: StoryWindow;
  readonly runner: PipelineRunner;
  readonly kept: Map<string, PipelinePlan>;
  readonly stage: (name: string) => Stage;
}

/** A window with the runner of pipelines, as the extension wires it. */
async function pipelineWindow(t: TestContext, host: StoryHost, file: string): Promise<PipelineWindow> {
  const window = await windowOn(t, host, file);
  const kept = new Map<string, PipelinePlan>();
  const memory = {
    read: (session: string): PipelinePlan | undefined => kept.get(session),
    write: (session: string, plan: PipelinePlan | undefined): void => {
      if (plan) kept.set(session, plan);
      else kept.delete(session);
    },
  };
  const { store, launcher } = window;
  const clock = createClock({ now: () => Date.now(), after });
  const runner = new PipelineRunner({ store, launcher, memory, isTrusted: () => true, clock, logger: quiet });
  t.after(() => {
    runner.dispose();
  });
  const read = (): boolean => [...window.session().hosts.values()].every((one) => one.recordsAt !== undefined);
  await window.until("the records are read", read, patience);
  const stage = (name: string): Stage => {
    const found = window.session().stages.get(name);
    assert.ok(found, name);
    return found;
  };
  return { window, runner, kept, stage };
}

function standing(session: Session): string | undefined {
  return session.pipeline?.standing;
}

test("three stages: the middle one fails, is mended and restarted, and the third goes on by itself", async (t) => {
  const host = await startStoryHost(t);
  const { home } = host;
  const file = `session: chain
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
defaults: { cwd: ${home} }
stages:
  prepare:
    command: echo prepare >> ${home}/order
    done_when: { files: ${home}/order }
  extract:
    command: test -e ${home}/mended && echo extract >> ${home}/order
    needs: [prepare]
  train:
    command: echo train >> ${home}/order
    needs: [extract]
`;
  const { window, runner, kept, stage } = await pipelineWindow(t, host, file);
  runner.start(storyId, planOf(window.session(), stagesFrom(window.session().definition, "prepare")));
  await window.until("the middle stage has failed", () => stage("extract").state.kind === "failed", patience);
  await window.until("the pipeline cannot go on", () => standing(window.session()) === "stuck", patience);
  assert.equal(stageText(stage("train"), Date.now()), "blocked by extract: failed");
  assert.equal(stage("train").members[0]?.run, undefined);

  await writeFile(join(home, "mended"), "");
  await window.launcher.restart(storyId, { stage: "extract", member: "0" });
  await window.until("the pipeline is through", () => standing(window.session()) === "through", patience);
  assert.equal(await readFile(join(home, "order"), "utf8"), "prepare\nextract\ntrain\n");
  assert.equal(kept.size, 0);
});

test("two windows with one plan start each stage once, also where it has ended at once", async (t) => {
  const host = await startStoryHost(t);
  const { home } = host;
  const names = ["a", "b", "c"];
  const stages = names.map((name, i) => {
    const needs = i === 0 ? "" : `, needs: [${names[i - 1] ?? ""}]`;
    return `  ${name}: { command: "echo ${name} >> ${home}/order", done_when: { command: "true" }${needs} }`;
  });
  const file = `session: twice
hosts: { gpu8: { ssh: gpu8, state_dir: ${home}/state } }
stages:
${stages.join("\n")}
`;
  const [one, other] = [await pipelineWindow(t, host, file), await pipelineWindow(t, host, file)];
  for (const { runner, window } of [one, other]) runner.start(storyId, planOf(window.session(), names));
  for (const { window } of [one, other])
    await window.until("the pipeline is through", () => standing(window.session()) === "through", patience);
  assert.equal(await readFile(join(home, "order"), "utf8"), "a\nb\nc\n");
});

test("eight members of which one fails: that one is restarted alone", async (t) => {
  const host = await startStoryHost(t);
  const { home } = host;
  const file = `session: shards
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
stages:
  extract:
    matrix: { shard: 0..7 }
    command: echo {{shard}} >> ${home}/starts && { test {{shard}} != 3 || test -e ${home}/mended; } && echo shard {{shard}} is done > ${home}/out-{{shard}}
    log: ${home}/extract-{{shard}}.log
    cwd: ${home}
`;
  const { window, runner, stage } = await pipelineWindow(t, host, file);
  const names = stage("extract").members.map(({ name }) => name);
  runner.start(storyId, planOfMembers(window.session(), "extract", names));
  const settled = (): boolean =>
    stage("extract").members.every(({ state }) => state.kind === "finished-unchecked" || state.kind === "failed");
  await window.until("all eight have ended", settled, patience);
  assert.match(stageText(stage("extract"), Date.now()), /^7\/8 finished, 1 failed, 7 not checked · 3: /);
  const starts = async (): Promise<readonly string[]> =>
    (await readFile(join(home, "starts"), "utf8")).trim().split("\n").sort();
  assert.deepEqual(await starts(), names);
  await window.until("the pipeline cannot go on", () => standing(window.session()) === "stuck", patience);

  await writeFile(join(home, "mended"), "");
  runner.start(storyId, planOfMembers(window.session(), "extract", ["3"]));
  await window.until("the pipeline is through", () => standing(window.session()) === "through", patience);
  assert.deepEqual(await starts(), [...names, "3"].sort());
  assert.equal(await readFile(join(home, "out-3"), "utf8"), "shard 3 is done\n");
});
