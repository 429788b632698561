// The demo without a person: the real editor and the real extension, driven as a person would, in both modes.
// Prints one JSON line a stage and GPU as the product sees them at the end; steps go to stderr. Started by demo.mjs.
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedEditor, withEditor } from "../test/rig/servedEditor";
import { type StageLine, newestLines, readReport, stageLines } from "./demoReport";

/** A failing command is to be seen this soon after its launch. */
const failureSeenWithin = 2000;

const oldLine = "No such file or directory";

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
      const lines = readReport(demo.report).filter((line) => line.type === "gpu");
      const names = new Map(lines.map(({ host, index, name }) => [`${host}#${index}`, name]));
      return names.size >= 8 && names;
    },
    "eight GPUs",
    120_000,
  );
  if (gpus.size !== 8) throw new Error(`${gpus.size} GPUs instead of 8`);
  const real = [...gpus.values()].filter((name) => !name.includes("simulated"));
  if (real.length > 0) throw new Error(`these do not say that they are simulated: ${real.join(", ")}`);
  await demo.editor.waitFor(async () => (await demo.editor.treeRows("GPUs")).length === 9, "eight GPUs in their view");
  return [...new Set(gpus.values())].join(", ");
}

/** The newest line of the stage that is a failure of a run other than `before`. */
async function failureAfter(demo: Demo, before: string | undefined): Promise<StageLine> {
  return demo.editor.waitFor(
    () => stageLines(demo.report, "download").find(({ state, run }) => state === "failed" && run !== before),
    "the failure of the download",
    120_000,
  );
}

async function downloadFails(demo: Demo): Promise<string> {
  const { cause, failure, remedy, at, launchedAt } = await failureAfter(demo, undefined);
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

async function inBothThemes(demo: Demo, name: string, ready = (): Promise<void> => Promise.resolve()): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await demo.editor.switchTheme(theme);
    await ready();
    await demo.editor.screenshot(`${name}-${theme}`);
  }
}

async function openLog(demo: Demo): Promise<void> {
  await demo.editor.palette("ML Session: Open Log");
  await demo.editor.answer("Open Log", "download");
}

async function pictures(demo: Demo): Promise<string> {
  const { editor } = demo;
  const { page } = editor;
  await editor.widenSideBar(430);
  await inBothThemes(demo, "stages");
  await editor.palette("Notifications: Clear All Notifications");

  const item = page.locator(".statusbar-item", { hasText: "download failed" });
  await item.hover();
  await page.locator(".monaco-hover:visible table").waitFor();
  await editor.screenshot("status-bar-dark");
  await page.mouse.move(720, 450);

  await openLog(demo);
  const line = page.locator(".monaco-editor .view-line", { hasText: oldLine }).first();
  await line.waitFor();
  await page.locator(".monaco-editor .codelens-decoration", { hasText: "Restart with" }).waitFor();
  await inBothThemes(demo, "log", async () => {
    await page.mouse.move(720, 600);
    await page.locator(".monaco-hover:visible").first().waitFor({ state: "hidden" });
    await line.hover({ position: { x: 120, y: 8 } });
    await page.locator(".monaco-hover:visible", { hasText: "What helps" }).first().waitFor();
  });

  await editor.palette("ML Session: Show Charts");
  await editor.webviewFrame().locator("canvas").first().waitFor();
  // A picture needs a few more points, and two samples of everything.
  await editor.waitFor(() => (newestOf(demo, "inference")?.done ?? 0) > 600, "something to see in the charts", 120_000);
  await inBothThemes(demo, "charts", () => page.waitForTimeout(1500));
  if (process.argv.includes("--pictures")) {
    await mkdir("docs/images", { recursive: true });
    for (const theme of ["dark", "light"]) {
      await copyFile(`out/demo/${demo.mode}/log-${theme}.png`, `docs/images/demo-${theme}.png`);
    }
  }
  return `out/demo/${demo.mode}`;
}

const question = "Restart Download: download";

/** What is asked before a restart: first the tool that works today, since the one that was asked for is found but gone. */
async function cureIsOffered(demo: Demo): Promise<string> {
  const { editor } = demo;
  await editor.palette("ML Session: Restart Download");
  const [first] = await editor.asked(question);
  if (first === undefined || !/^Restart with \/.*\/hf$/.test(first.label)) {
    throw new Error(`the first offer is ${first?.label ?? "nothing"}`);
  }
  if (!first.detail.includes("huggingface-cli only says that it no longer works")) {
    throw new Error(`the offer does not tell a tool that is gone from one that is not on PATH: ${first.detail}`);
  }
  await inBothThemes(demo, "restart", () => editor.page.waitForTimeout(1500));
  await editor.dismiss();
  return first.label;
}

/** Mends PATH alone, as a person would who takes the first error at its word: that is another failure. */
async function pathAloneDoesNotHelp(demo: Demo): Promise<string> {
  const { editor } = demo;
  const { keyboard } = editor.page;
  const before = newestOf(demo, "download");
  const cure = before?.cures?.[0]?.replace(/^Restart with /, "");
  if (cure === undefined) throw new Error("no cure is suggested for the download");
  await editor.palette("ML Session: Open Session File");
  await editor.page.locator('.tab.active[data-resource-name="ml-session.yaml"]').waitFor();
  await keyboard.press("Control+f");
  const find = editor.page.locator(".find-widget.visible .find-part textarea").first();
  await find.fill("nohup huggingface-cli");
  await editor.page.locator(".find-widget.visible .matchesCount", { hasText: "1 of 1" }).waitFor();
  await keyboard.press("Escape");
  await keyboard.insertText(`nohup ${cure.replace(/hf$/, "huggingface-cli")}`);
  await editor.palette("File: Save");
  await editor.palette("ML Session: Restart Download");
  await editor.answer(question, "Restart unchanged");
  const { failure, cause, cures } = await failureAfter(demo, before?.run);
  if (failure !== "deprecated-command")
    throw new Error(`this failure is called ${failure ?? "nothing"}: ${cause ?? ""}`);
  if (cures?.[0] === undefined) await editor.waitFor(() => newestOf(demo, "download")?.cures?.[0], "the cure for it");
  return cause ?? "";
}

/** Restarts the download with the cure that is suggested; the line of the first failure still stands in its log. */
async function restartWithCure(demo: Demo): Promise<string> {
  const { editor } = demo;
  await editor.palette("ML Session: Restart Download");
  const [first] = await editor.asked(question);
  const chosen = first?.label ?? "";
  await editor.answer(question, chosen);
  await editor.waitFor(() => newestOf(demo, "download")?.state === "finished", "the download to finish", 240_000);
  await openLog(demo);
  await editor.page.locator(".monaco-editor .view-line", { hasText: oldLine }).first().waitFor();
  await editor.waitFor(async () => {
    const rows = await editor.treeRows("Stages");
    return rows.some(({ label, spoken }) => label === "download" && spoken.includes("finished"));
  }, "the finished download in the Stages view");
  await inBothThemes(demo, "cured");
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
        await step(demo, "a restart offers the tool that works today", () => cureIsOffered(demo));
        await step(demo, "with PATH mended alone it fails otherwise", () => pathAloneDoesNotHelp(demo));
        await step(demo, "restarted with the suggested cure it finishes", () => restartWithCure(demo));
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

function wantedModes(): string[] {
  const asked = ["ssh", "memory"].filter((mode) => process.argv.includes(`--${mode}`));
  if (process.platform !== "linux") return ["memory"];
  return asked.length > 0 ? asked : ["ssh", "memory"];
}

for (const mode of wantedModes()) {
  try {
    await check(mode);
  } catch (error) {
    say(`${mode}: FAILED: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
