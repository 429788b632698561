import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { Retries } from "../../src/core/retries";
import { sha256 } from "../../src/commands/shared/sha256";
import type { RunRecord } from "../../src/core/ports";
import { declaredDifference } from "../../src/core/session/declaredEnvironment";
import { createClock } from "../../src/core/systemClock";
import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { HostDefinition, SessionDefinition, StageDefinition } from "../../src/core/session/definition";
import { restartPlan, type RestartPlan } from "../../src/core/session/restartPlan";
import { makeTestHost, shells, until, type TestHost } from "./hostHarness";
import { makeLocal } from "./localHost";
import { openStory, storyId, type StoryWindow } from "./storyWindow";

const patience = 60_000;
const lines = Array.from({ length: 18_000 }, (_, i) => `{"id": ${i}}`);
const finished = `${lines.join("\n")}\n`;

function definitionOf(host: TestHost, stages: readonly Partial<StageDefinition>[]): SessionDefinition {
  const all = stages.map((stage): StageDefinition => ({
    name: "inference",
    ...stageDefaults,
    host: "here",
    kind: "inference",
    cwd: host.work,
    ...stage,
  }));
  return {
    name: "night",
    hosts: new Map([["here", { name: "here", address: { kind: "local" }, ...hostDefaults, stateDir: host.state }]]),
    services: new Map(),
    stages: new Map(all.map((stage) => [stage.name, stage])),
  };
}

async function planFor(window: StoryWindow, stage: string): Promise<RestartPlan> {
  const ref = { stage, member: "0" };
  const work = await window.launcher.existing(storyId, ref);
  return restartPlan(window.session(), ref, work, Date.now());
}

/** Lines of all files of a folder, hidden ones too. */
function linesBelow(folder: string): Set<string> {
  const found = new Set<string>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) for (const line of linesBelow(path)) found.add(line);
    else if (entry.isFile()) for (const line of readFileSync(path, "utf8").split("\n")) found.add(line);
  }
  return found;
}

for (const { name, path } of shells) {
  describe(`restarting under ${name}`, () => {
    let host: TestHost;
    let count = 0;
    before(async () => {
      host = await makeTestHost(path, makeLocal());
    });
    const windows: StoryWindow[] = [];
    afterEach(() => {
      for (const window of windows.splice(0)) window.close();
    });
    after(() => {
      host.dispose();
    });
    const openWindow = async (stages: readonly Partial<StageDefinition>[]): Promise<StoryWindow> => {
      const window = openStory(definitionOf(host, stages), { connect: () => host.connect() });
      windows.push(window);
      await window.open.connect(storyId, undefined, true);
      return window;
    };
    /** A folder of its own, with a name that quoting must survive, and 18,000 finished lines in it. */
    const folderWithLines = (): string => {
      const folder = join(host.work, `-${count++} it's "$(touch pwned)" é`);
      mkdirSync(join(folder, "synth"), { recursive: true });
      writeFileSync(join(folder, "synth", "out 1.jsonl"), finished);
      return folder;
    };
    // Writes over what is there, unless it is told to go on.
    const command = `case "$*" in *--skip*) out='>>' ;; *) out='>' ;; esac
eval "echo fresh $out 'synth/out 1.jsonl'"`;
    const script = `#!/bin/sh\n${command}\n`;
    const stageIn = (cwd: string, more: Partial<StageDefinition> = {}): Partial<StageDefinition> => ({
      cwd,
      command: "sh ./generate.sh",
      outputs: { files: ["synth/*.jsonl"], count: "lines" },
      doneWhen: { files: [], outputsAtLeast: 25_000 },
      resume: { args: "--skip-existing" },
      ...more,
    });

    it("tells before a start what is declared otherwise than the last run got it, by names alone", async () => {
      const env = { PLAIN: 'it\'s "$HOME" é', COUNT: "1", GONE: "x" };
      const window = await openWindow([{ name: "declared", command: "true", env, gpus: [0, 3] }]);
      const ref = { stage: "declared", member: "0" };
      await window.launcher.restart(storyId, ref);
      const run = (): RunRecord | undefined => window.member("declared").run;
      await window.until("what it got", () => run()?.environment !== undefined, patience);
      const got = run();
      assert.ok(got);
      const differs = (stage: Partial<StageDefinition>, here: Partial<HostDefinition> = {}) =>
        declaredDifference(
          got,
          { ...stageDefaults, env, gpus: [0, 3], ...stage },
          { ...hostDefaults, ...here },
          sha256,
        );
      assert.equal(await differs({}), undefined);
      const words = await differs(
        { env: { PLAIN: env.PLAIN, COUNT: "canary" }, gpus: [0, 1] },
        { env: { CACHE: "/c" }, path: ["/opt/new/bin", "~/new/bin"], secrets: ["HF_TOKEN"] },
      );
      assert.equal(
        words,
        "Of what the session file declares, against what the last run got: CACHE is new, COUNT has another value, CUDA_VISIBLE_DEVICES has another value, the secret HF_TOKEN is new, /opt/new/bin is new on PATH and ~/new/bin is new on PATH.",
      );
    });

    for (const label of ["Resume", "Start Over", "Move Aside"]) {
      it(`loses none of 18,000 finished lines: ${label}`, async () => {
        const cwd = folderWithLines();
        writeFileSync(join(cwd, "generate.sh"), script);
        const window = await openWindow([{ ...stageIn(cwd), name: `s${count}` }]);
        const plan = await planFor(window, `s${count}`);
        assert.deepEqual(
          plan.choices.map((choice) => choice.label),
          ["Resume", "Start Over", "Move Aside"],
        );
        assert.ok(plan.asks);
        assert.match(plan.rows.join(), /18,000 lines/);
        const choice = plan.choices.find((one) => one.label === label);
        assert.ok(choice);
        const chosen = { way: choice.way, orphanRuns: plan.orphanRuns, resume: plan.resume };
        const { launched, kept } = await window.launcher.restart(storyId, { stage: `s${count}`, member: "0" }, chosen);
        assert.ok(launched);
        await window.until("the end", () => window.member(`s${count}`).run?.end !== undefined, patience);
        const there = linesBelow(join(cwd, "synth"));
        assert.ok(there.has("fresh"));
        assert.ok(lines.every((line) => there.has(line)));
        assert.equal(kept.length, label === "Resume" ? 0 : 1);
        const run = window.member(`s${count}`).run;
        if (label === "Resume") assert.match(run?.launchedFrom ?? "", /\(resumes from 18000\/25000\)$/);
        assert.equal(run?.command.includes("--skip-existing"), label === "Resume");
        assert.ok(!readdirSync(cwd).includes("pwned"));
      });
    }

    it("keeps folders and what links name, counts what was kept no more, and writes over nothing", async () => {
      const cwd = folderWithLines();
      writeFileSync(join(cwd, "real.jsonl"), finished);
      symlinkSync(join(cwd, "real.jsonl"), join(cwd, "link.jsonl"));
      const query = {
        session: "night",
        stage: "kept",
        member: "0",
        cwd,
        outputs: ["synth", "synth/*.jsonl", "link.jsonl", "*"],
        countLines: true,
        checkpointsInCwd: false,
      };
      const copied = await host.ops.setAside({ ...query, outputs: ["link.jsonl"] }, "copy");
      assert.equal(readFileSync(copied[0]?.to ?? "", "utf8"), finished);
      writeFileSync(join(cwd, "link.jsonl"), "over");
      assert.equal(readFileSync(copied[0]?.to ?? "", "utf8"), finished);
      const moved = await host.ops.setAside(query, "move");
      assert.ok(moved.some(({ from }) => from.endsWith("/synth")));
      const again = await host.ops.existing({ ...query, outputs: ["synth", "*"] });
      assert.deepEqual(
        again.outputs.filter(({ files }) => files > 0),
        [],
      );
      const there = linesBelow(cwd);
      assert.ok(lines.every((line) => there.has(line)));
    });

    it("sets nothing aside while a run of the stage is alive", async () => {
      const cwd = folderWithLines();
      const request = host.request({ stage: "alive", command: "sleep 300", cwd });
      const outcome = await host.ops.launch(request);
      assert.equal(outcome.kind, "launched");
      const query = {
        session: "night",
        stage: "alive",
        member: "0",
        cwd,
        outputs: ["synth"],
        countLines: false,
        checkpointsInCwd: false,
      };
      await assert.rejects(host.ops.setAside(query, "move"), /is alive/);
      await until("its process", async () => (await host.ops.existing(query)).processes.length > 0);
      const { processes } = await host.ops.existing(query);
      assert.ok(
        processes.every(({ live }) => live),
        "no rest of an older run",
      );
      assert.ok("record" in outcome);
      await host.ops.stop("night", outcome.record.run, { signal: "TERM", graceSeconds: 9, requestedBy: "t" });
    });

    it("restarts the one failed member of eight alone", async () => {
      const members = Array.from({ length: 8 }, (_, i) => String(i));
      const parts = new Map(
        members.map((member) => [
          member,
          { env: {}, command: `echo ${member} >> shard-${member}; exit ${member === "5" ? "3" : "0"}` },
        ]),
      );
      const cwd = folderWithLines();
      const stage = { name: "extract", cwd, members, memberParts: parts, command: "true" };
      const window = await openWindow([stage]);
      for (const member of members) await window.launcher.launch(storyId, { stage: "extract", member });
      const memberOf = (member: string) =>
        window
          .session()
          .stages.get("extract")
          ?.members.find((m) => m.name === member);
      await window.until("all to end", () => members.every((one) => memberOf(one)?.run?.end !== undefined), patience);
      const runs = members.map((one) => memberOf(one)?.run?.run);
      const failed = members.filter((one) => memberOf(one)?.run?.end?.exit.kind === "code" && exitOf(one) !== 0);
      function exitOf(one: string): number {
        const exit = memberOf(one)?.run?.end?.exit;
        return exit?.kind === "code" ? exit.code : -1;
      }
      assert.deepEqual(failed, ["5"]);
      await window.launcher.restart(storyId, { stage: "extract", member: "5" });
      await window.until(
        "the second end",
        () => memberOf("5")?.run?.run !== runs[5] && memberOf("5")?.run?.end !== undefined,
        patience,
      );
      const now = members.map((one) => memberOf(one)?.run?.run);
      assert.deepEqual(now.filter((run, i) => run === runs[i]).length, 7);
      assert.deepEqual(
        members.map((one) => readFileSync(join(cwd, `shard-${one}`), "utf8").split("\n").length - 1),
        members.map((one) => (one === "5" ? 2 : 1)),
      );
    });

    it("starts a failed stage again by itself, as often as it may, once over two windows", async () => {
      const cwd = folderWithLines();
      const stage: Partial<StageDefinition> = {
        name: "flaky",
        cwd,
        command: "echo x >> tries; echo 'requests.exceptions.ConnectionError: Connection reset by peer' >&2; exit 1",
        retries: { max: 2, on: "any", backoffSeconds: 0.2 },
      };
      const both = [await openWindow([stage]), await openWindow([stage])];
      const clock = createClock({ now: () => Date.now(), after: afterMs });
      const retries = both.map(
        ({ store, launcher }) => new Retries({ store, launcher, isTrusted: () => true, clock, logger: quiet }),
      );
      const [first] = both;
      assert.ok(first);
      await first.launcher.launch(storyId, { stage: "flaky", member: "0" });
      const state = () => first.member("flaky").state;
      const spent = (): boolean => {
        const now = state();
        return now.kind === "failed" && now.again?.kind === "spent";
      };
      await first.until("all retries to be used up", spent, patience);
      assert.equal(readFileSync(join(cwd, "tries"), "utf8"), "x\n".repeat(3));
      const records = (await host.ops.records("night")).filter((one) => one.stage === "flaky");
      assert.deepEqual(
        records.map(({ launchedFrom }) => /\(retry \d\/\d of /.exec(launchedFrom)?.[0] ?? ""),
        ["", "(retry 1/2 of ", "(retry 2/2 of "],
      );
      for (const one of retries) one.dispose();
    });

    it("starts nothing again over what is there without `resume`, and says so; nor what a person gave up", async () => {
      const cwd = folderWithLines();
      const base: Partial<StageDefinition> = {
        cwd,
        command: "echo x >> tries; exit 1",
        retries: { max: 2, on: "any", backoffSeconds: 3600 },
      };
      const window = await openWindow([
        { ...base, name: "over", outputs: { files: ["synth/*.jsonl"], count: "lines" } },
        { ...base, name: "given", outputs: { files: ["none"], count: "files" } },
      ]);
      const clock = createClock({ now: () => Date.now(), after: afterMs });
      const retries = new Retries({ ...window, isTrusted: () => true, clock, logger: quiet });
      const again = (stage: string): string | undefined => {
        const { state } = window.member(stage);
        return state.kind === "failed" ? state.again?.kind : undefined;
      };
      await window.launcher.launch(storyId, { stage: "over", member: "0" });
      await window.until("it to be held", () => again("over") === "held", patience);
      await window.launcher.launch(storyId, { stage: "given", member: "0" });
      await window.until("it to wait", () => again("given") === "due", patience);
      await window.launcher.giveUpRetries(storyId, { stage: "given", member: "0" });
      await window.until("it to be given up", () => again("given") === "stopped", patience);
      const run = window.member("given").run?.run ?? "";
      const late = await host.ops.launch(host.request({ stage: "given", command: "touch started", cwd, after: run }));
      assert.equal(late.kind, "superseded");
      assert.ok(!readdirSync(cwd).includes("started"));
      retries.dispose();
    });

    it("starts one retry of a run, however many ask", async () => {
      const cwd = folderWithLines();
      const failed = await host.ops.launch(host.request({ stage: "many", command: "exit 1", cwd }));
      assert.ok("record" in failed);
      const { run } = failed.record;
      await until("the end", async () => {
        const all = await host.ops.records("night");
        return all.find((one) => one.run === run)?.end !== undefined;
      });
      const request = host.request({ stage: "many", command: "echo x >> once", cwd, after: run });
      const outcomes = await Promise.all([0, 1, 2, 3].map(() => host.ops.launch(request)));
      assert.equal(outcomes.filter(({ kind }) => kind === "launched").length, 1, JSON.stringify(outcomes));
      await until("its line", () => readdirSync(cwd).includes("once"));
      assert.equal((await host.ops.launch(request)).kind, "superseded");
      assert.equal(readFileSync(join(cwd, "once"), "utf8"), "x\n");
    });
  });
}

function afterMs(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => {
    clearTimeout(timer);
  };
}

const nothing = (): void => undefined;
const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing };
