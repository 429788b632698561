import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lastSeen } from "../../src/core/session/judge";
import { replaceProgram } from "../../src/core/session/sessionEdit";
import { parseSessionFile } from "../../src/core/session/sessionFile";
import { createClock } from "../../src/core/systemClock";
import { createDemo } from "../../src/demo/demo";
import { openStory, storyId } from "./storyWindow";

const nothing = (): void => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const clock = createClock({
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => {
      clearTimeout(timer);
    };
  },
});

for (const mode of ["memory", "ssh"] as const) {
  test(`the demo night (${mode}): the dead download is seen with its cause, mended, and finishes`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "story-"));
    const demo = await createDemo({ mode, folder, clock, logger, isTrusted: () => true });
    assert.equal(demo.mode, mode);
    const text = await readFile(demo.sessionFile, "utf8");
    const { definition, problems } = parseSessionFile(text);
    assert.deepEqual(problems, []);
    assert.ok(definition);
    const window = openStory(definition, demo.connector);
    t.after(async () => {
      window.close();
      demo.dispose();
      await rm(folder, { recursive: true, force: true });
    });
    await window.open.connect(storyId, undefined, true);
    await demo.start();

    await window.until("the download is red", () => window.state("download") === "failed");
    t.diagnostic(`red ${Date.now() - (window.member("download").run?.startedAt ?? 0)} ms after its start`);
    const dead = window.member("download");
    assert.equal(dead.failures[0]?.failure, "command-not-found");
    const state = lastSeen(dead.state);
    assert.ok(state.kind === "failed" && state.cause !== "" && state.remedy !== "");
    assert.equal(window.session().alerts.length, 1);
    assert.equal(lastSeen(window.member("train").state).kind, "blocked");

    await window.until("eight GPUs", () => window.session().hosts.get("gpu8")?.gpus.length === 8);
    assert.match(window.session().hosts.get("gpu8")?.gpus[0]?.name ?? "", /simulated/);
    await window.until("an ETA with a range", () => window.member("inference").eta !== undefined, 60_000);
    const eta = window.member("inference").eta;
    assert.ok(eta && eta.lo < eta.eta && eta.eta < eta.hi);
    assert.ok(window.session().eta.eta);

    await window.until("a cure", () => window.member("download").cures.length > 0);
    const [cure] = window.member("download").cures;
    assert.ok(cure);
    assert.match(cure.replacement, /ml-env\/bin\/hf$/);
    const stub = cure.replacement.replace(/hf$/, "huggingface-cli");

    // A cure that only mends PATH fails again, and is told apart.
    const half = replaceProgram(text, "download", cure.program, stub);
    assert.ok(half);
    open(half);
    await window.launcher.restart(storyId, { stage: "download", member: "0" });
    await window.until(
      "the stub is told apart",
      () => window.member("download").failures[0]?.failure === "deprecated-command",
    );
    await window.until("its cure", () => window.member("download").cures.length > 0);
    const [second] = window.member("download").cures;
    assert.ok(second);
    assert.equal(second.replacement, cure.replacement);

    const mended = replaceProgram(half, "download", second.program, second.replacement);
    assert.ok(mended);
    await writeFile(demo.sessionFile, mended);
    open(mended);
    await window.launcher.restart(storyId, { stage: "download", member: "0" });
    await window.until("the download is green", () => window.state("download") === "finished", 40_000);
    assert.deepEqual(window.session().alerts, []);
    assert.match(window.logs.text(storyId, "download", "0")?.text ?? "", /failed to run command 'huggingface-cli'/);

    function open(changed: string): void {
      const parsed = parseSessionFile(changed).definition;
      assert.ok(parsed);
      window.open.open(storyId, parsed, demo.connector);
    }
  });
}
