// The demo without a person: the real editor and the real extension, driven as a person would, in both modes.
// Prints one JSON line a stage and GPU as the product sees them at the end; steps go to stderr. Started by demo.mjs.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedEditor, withEditor } from "../test/rig/servedEditor";
import { type StageLine, newestLines, readReport, stageLines } from "./demoReport";

/** A failing command is to be seen this soon after its launch. */
const failureSeenWithin = 2000;

interface Demo {
  readonly mode: string;
  readonly editor: ServedEditor;
  readonly report: string;
}

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

async function step(demo: Demo, what: string, body: () => Promise<string | undefined>): Promise<void> {
  const note = await body();
  say(`${demo.mode}: ok: ${what}${note === undefined ? "" : ` (${note})`}`);
}

const newestOf = (demo: Demo, stage: string): StageLine | undefined => stageLines(demo.report, stage).at(-1);

async function inferenceRuns(demo: Demo): Promise<string> {
  const line = await demo.editor.waitFor(
    () =>
      stageLines(demo.report, "inference").find(
        ({ state, eta }) => state === "running" && eta !== null && eta.lo < eta.hi,
      ),
    "inference running with a range for its end",
    120_000,
  );
  return `${line.done ?? "?"} of ${line.total ?? "?"}`;
}

async function eightGpus(demo: Demo): Promise<string> {
  const gpus = await demo.editor.waitFor(
    () => {
      const seen = new Set(
        readReport(demo.report).flatMap((line) => (line.type === "gpu" ? [`${line.host}#${line.index}`] : [])),
      );
      return seen.size >= 8 && seen;
    },
    "eight GPUs",
    60_000,
  );
  if (gpus.size !== 8) throw new Error(`${gpus.size} GPUs instead of 8`);
  await demo.editor.waitFor(async () => (await demo.editor.treeRows("GPUs")).length > 1, "GPUs in their view");
  return `${gpus.size}`;
}

async function downloadFails(demo: Demo): Promise<string> {
  const failed = await demo.editor.waitFor(
    () => stageLines(demo.report, "download").find(({ state }) => state === "failed"),
    "the failure of the download",
    120_000,
  );
  const { cause, failure, remedy, at, launchedAt } = failed;
  if (failure !== "command-not-found") throw new Error(`the download's failure is called ${failure ?? "nothing"}`);
  if (!cause || !remedy) throw new Error("the download's failure has no cause or no remedy");
  const after = launchedAt === undefined ? Number.NaN : at - launchedAt;
  // Not a number fails too.
  if (!(after <= failureSeenWithin)) throw new Error(`the failure was seen ${after} ms after the launch`);
  await demo.editor.waitFor(async () => {
    const rows = await demo.editor.treeRows("Stages");
    return rows.some(({ label, spoken }) => label.startsWith("download") && /failed/i.test(spoken));
  }, "the failed download in the Stages view");
  return `${after} ms after the launch: ${cause}`;
}

/** Opens what a quick pick may ask for first. */
async function paletteFor(demo: Demo, command: string, choice: string): Promise<void> {
  const { editor } = demo;
  await editor.palette(command);
  await editor.page.waitForTimeout(700);
  if ((await editor.picks()).some(({ label }) => label.includes(choice))) await editor.pick(choice);
}

async function pictures(demo: Demo): Promise<string> {
  const { editor } = demo;
  const both = async (name: string): Promise<void> => {
    await editor.switchTheme("light");
    await editor.screenshot(`${name}-light`);
    await editor.switchTheme("dark");
    await editor.screenshot(`${name}-dark`);
  };
  await both("stages-and-gpus");

  await paletteFor(demo, "ML Session: Open Log", "download");
  const line = editor.page.locator(".monaco-editor .view-line", { hasText: "No such file or directory" }).first();
  await line.waitFor({ timeout: 30_000 });
  await line.hover();
  await editor.page.locator(".monaco-hover:visible").first().waitFor({ timeout: 15_000 });
  await editor.screenshot("log-dark");
  await editor.switchTheme("light");
  await line.hover();
  await editor.page.waitForTimeout(1000);
  await editor.screenshot("log-light");
  await editor.switchTheme("dark");

  await editor.palette("ML Session: Show Charts");
  await editor.webviewFrame().locator("canvas").first().waitFor({ timeout: 30_000 });
  await editor.page.waitForTimeout(2000);
  await both("charts");
  return `out/demo/${demo.mode}`;
}

/** Restarts the download and takes the cure that is suggested, whatever is asked on the way. */
async function restartWithCure(demo: Demo): Promise<string> {
  const { editor } = demo;
  const before = newestOf(demo, "download");
  const cure = before?.cures?.[0];
  if (cure === undefined) throw new Error("no cure is suggested for the download");
  let chosen = "";
  await editor.palette("ML Session: Focus on Stages View");
  await editor.palette("ML Session: Restart Download");
  let asked = performance.now();
  await editor.waitFor(
    async () => {
      const line = newestOf(demo, "download");
      if (line !== undefined && line.run !== before?.run) return true;
      const picks = await editor.picks();
      if (picks.length === 0 && chosen === "" && performance.now() - asked > 10_000) {
        say(`${demo.mode}: the restart asked nothing within 10 s; the command is given again`);
        await editor.palette("ML Session: Restart Download");
        asked = performance.now();
      }
      const suggested =
        picks.find(({ label, description, detail }) => `${label} ${description} ${detail}`.includes(cure)) ?? picks[0];
      if (suggested !== undefined) {
        chosen ||= suggested.label;
        await editor.pick(suggested.label);
      }
      await editor.confirm();
      return false;
    },
    "the restarted download",
    60_000,
  );
  await editor.waitFor(() => newestOf(demo, "download")?.state === "finished", "the download to finish", 180_000);
  return chosen;
}

async function check(mode: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "mls-report-"));
  const report = join(folder, "report.jsonl");
  const env = { ML_SESSION_DEMO: mode, ML_SESSION_DEMO_REPORT: report };
  try {
    await withEditor({ extension: ".", env, screenshots: `out/demo/${mode}` }, async (editor) => {
      const demo = { mode, editor, report };
      try {
        await editor.openView("ML Session");
        await step(demo, "inference runs, with a range for its end", () => inferenceRuns(demo));
        await step(demo, "all GPUs are watched", () => eightGpus(demo));
        await step(demo, "the download's failure is seen, with its cause and a remedy", () => downloadFails(demo));
        await step(demo, "pictures, dark and light", () => pictures(demo));
        await step(demo, "the download is restarted with the suggested cure and finishes", () => restartWithCure(demo));
        await editor.screenshot("cured-dark");
      } catch (error) {
        await editor.screenshot("failed").catch(() => undefined);
        say(`${mode}: notifications: ${JSON.stringify(await editor.notifications().catch(() => []))}`);
        for (const line of editor.complaints()) say(`${mode}: console: ${line.slice(0, 1000)}`);
        throw error;
      } finally {
        for (const line of newestLines(report)) console.log(JSON.stringify(line));
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const modes = process.argv.includes("--memory") || process.platform !== "linux" ? ["memory"] : ["ssh", "memory"];
for (const mode of modes) {
  try {
    await check(mode);
  } catch (error) {
    say(`${mode}: FAILED: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
