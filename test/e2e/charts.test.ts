import assert from "node:assert/strict";
import { appendFile, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { FrameLocator } from "playwright-core";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import { type RemoteHost, remoteHost } from "./remoteHost";
import { byPalette, inTurn, quickPick, typeIn } from "./workbenchHands";

type Step = (editor: ServedEditor, job: Job) => Promise<void>;

const steps: readonly (readonly [string, Step])[] = [
  ["charts of a watched log open in an editor and follow", opens],
  ["they zoom by keys, pause and follow again", zooms],
  ["hidden and shown again they are as they were", hides],
  ["they take on another theme", changesTheme],
  ["CSV and PNG are saved", saves],
  ["after a reload they are there, with what the log no longer holds", reloads],
  ["they move to the panel as they are, and back", moves],
];

test("charts in the workbench", { timeout: 900_000 }, async (t) => {
  const host = await remoteHost(t);
  await writeFile(host.knownHosts, `${host.sshd.knownHostsLine}\n`);
  const job = new Job(host);
  await job.writes(0, 600);
  const settings = { "mlSession.ssh.configFile": host.config };
  await withEditor({ extension: ".", folder: host.folder, settings, screenshots: "out/screens" }, async (editor) => {
    await editor.openView("ML Session");
    await inTurn(t, steps, (step) => step(editor, job));
  });
});

/** A job that prints its progress each ten seconds of its time. */
class Job {
  readonly host: RemoteHost;
  readonly log: string;
  printed = 0;

  constructor(host: RemoteHost) {
    this.host = host;
    this.log = join(host.home, "data", "inference.log");
  }

  async writes(from: number, to: number): Promise<void> {
    const lines = Array.from({ length: to - from }, (_, index) => line(from + index));
    this.printed = to;
    await appendFile(this.log, lines.join(""));
  }
}

function line(index: number): string {
  const elapsed = index * 10;
  return `Progress: ${index * 30}/25000 (0 errors), 3.0 req/s, avg completion: 400 tokens, elapsed: ${elapsed}s\n`;
}

/** The page that was opened last; an action on it that meets a page on its way out is tried again. */
const page = (editor: ServedEditor): FrameLocator => editor.webviewFrame();

async function attribute(editor: ServedEditor, name: string): Promise<string> {
  const plot = page(editor).locator(".plot").first();
  return (await plot.getAttribute(name, { timeout: 2000 }).catch(() => null)) ?? "";
}

/** The first moment that the charts show, and the last. */
async function span(editor: ServedEditor): Promise<readonly [number, number]> {
  return [Number(await attribute(editor, "aria-valuemin")), Number(await attribute(editor, "aria-valuemax"))];
}

const minutesShown = async (editor: ServedEditor): Promise<number> => {
  const [from, to] = await span(editor);
  return (to - from) / 60_000;
};

/** Clicks a button of the page until that has its effect. */
async function press(editor: ServedEditor, name: string, seen: () => Promise<boolean>): Promise<void> {
  const act = (): Promise<void> => page(editor).getByRole("button", { name, exact: true }).click({ timeout: 10_000 });
  await editor.perform(act, { what: `the effect of ${name}`, seen });
}

async function isPressed(editor: ServedEditor, name: string): Promise<boolean> {
  return (
    (await page(editor)
      .locator('button[aria-pressed="true"]', { hasText: name })
      .count()
      .catch(() => 0)) > 0
  );
}

async function opens(editor: ServedEditor, job: Job): Promise<void> {
  await byPalette(editor, "ML Session: Watch Remote Log…", quickPick(editor, "Watch Remote Log"));
  await editor.answer("Watch Remote Log", "gpu9");
  await typeIn(editor, "Watch a log on gpu9", job.log);
  const drawn = async (): Promise<boolean> => (await attribute(editor, "aria-valuetext")).includes("req/s");
  await byPalette(editor, "ML Session: Show Charts", { what: "charts with a speed", seen: drawn });
  const titles = await page(editor).locator("h2").allTextContents();
  assert.deepEqual(titles, ["Throughput req/s", "Completion tokens", "Errors"]);
  // The night was dated by what the log says of it.
  await editor.waitFor(async () => (await minutesShown(editor)) > 95, "the whole log");
  const before = await span(editor);
  await job.writes(job.printed, job.printed + 5);
  await editor.waitFor(async () => (await span(editor))[1] > before[1], "what is new");
  await editor.screenshot("charts-workbench-dark");
}

async function zooms(editor: ServedEditor): Promise<void> {
  await press(editor, "1 h", async () => Math.abs((await minutesShown(editor)) - 60) < 1);
  const keys = async (key: string, what: string, seen: () => Promise<boolean>): Promise<void> => {
    const plot = page(editor).locator(".plot").first();
    await editor.perform(() => plot.press(key, { timeout: 10_000 }), { what, seen });
  };
  await keys("+", "a shorter span", async () => (await minutesShown(editor)) < 31);
  await keys("Shift+ArrowLeft", "an earlier span", () => page(editor).getByText("paused", { exact: true }).isVisible());
  const paused = await span(editor);
  await keys("ArrowLeft", "the crosshair", () => page(editor).locator(".cursor").first().isVisible());
  assert.deepEqual(await span(editor), paused);
  await press(editor, "Follow", () => page(editor).getByText("live", { exact: true }).isVisible());
  await press(
    editor,
    "1 h",
    async () => (await isPressed(editor, "1 h")) && Math.abs((await minutesShown(editor)) - 60) < 1,
  );
}

async function hides(editor: ServedEditor): Promise<void> {
  const tab = editor.page.locator(".tab", { hasText: "Charts" });
  const isFront = async (): Promise<boolean> => (await tab.and(editor.page.locator(".active")).count()) > 0;
  await byPalette(editor, "File: New Untitled Text File", {
    what: "another editor",
    seen: async () => !(await isFront()),
  });
  await editor.perform(() => tab.click({ timeout: 10_000 }), { what: "the charts in front", seen: isFront });
  await editor.waitFor(async () => Math.abs((await minutesShown(editor)) - 60) < 1, "the same hour");
  assert.ok(await isPressed(editor, "1 h"));
}

async function changesTheme(editor: ServedEditor): Promise<void> {
  const color = async (): Promise<string> =>
    (await page(editor)
      .locator("button.line")
      .first()
      .getAttribute("style", { timeout: 2000 })
      .catch(() => null)) ?? "";
  const dark = await color();
  await editor.switchTheme("light");
  await editor.waitFor(async () => !["", dark].includes(await color()), "the colours of the light theme");
  await editor.screenshot("charts-workbench-light");
  await editor.switchTheme("dark");
  await editor.waitFor(async () => (await color()) === dark, "the colours of the dark theme");
}

async function saves(editor: ServedEditor, job: Job): Promise<void> {
  const csv = (await saved(editor, job, "CSV")).toString();
  const rows = csv.trimEnd().split("\r\n");
  assert.equal(rows[0], "time,chart,line,unit,value");
  const speeds = rows.filter((row) => row.includes(",Throughput,inference.log,req/s,"));
  // An hour, a value each 30 s.
  assert.ok(speeds.length > 90 && speeds.length <= 360, `${speeds.length} speeds`);
  assert.ok(speeds.some((row) => row.endsWith(",3")));
  const png = await saved(editor, job, "PNG");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.readUInt32BE(16) > 400 && png.readUInt32BE(20) > 200);
  await writeFile("out/screens/charts-workbench-saved.png", png);
}

/**
 * Saves by the page's button and the editor's own dialog, under the name that this proposes: it fills that in some time
 * after it has opened, over whatever was typed until then.
 */
async function saved(editor: ServedEditor, { host }: Job, kind: "CSV" | "PNG"): Promise<Buffer> {
  const widget = editor.page.locator(".quick-input-widget:visible", { hasText: `Save Charts as ${kind}` });
  const input = widget.locator("input[type=text]").first();
  const end = `.${kind.toLowerCase()}`;
  const isProposed = async (): Promise<boolean> => {
    const value = await input.inputValue({ timeout: 2000 }).catch(() => "");
    return value.startsWith(host.folder) && value.endsWith(end);
  };
  const act = async (): Promise<void> => {
    await press(editor, kind, isProposed);
    await input.press("Enter", { timeout: 10_000 });
  };
  const seen = async (): Promise<Buffer | undefined> => {
    const name = (await readdir(host.folder)).find((entry) => entry.endsWith(end));
    const bytes = name === undefined ? undefined : await readFile(join(host.folder, name));
    return bytes && bytes.length > 0 && (await widget.count()) === 0 ? bytes : undefined;
  };
  return editor.perform(act, { what: `the saved ${kind}`, seen });
}

async function reloads(editor: ServedEditor, job: Job): Promise<void> {
  await press(editor, "All", () => isPressed(editor, "All"));
  const [began] = await span(editor);
  await editor.waitFor(() => isKept(editor), "the charts to be kept", 120_000);
  // Of the night the log itself keeps no line.
  await writeFile(job.log, line(job.printed) + line(job.printed + 1));
  await editor.reload();
  await editor.waitFor(
    async () => Math.abs((await span(editor))[0] - began) < 60_000,
    "the night from its start",
    180_000,
  );
  await editor.waitFor(async () => (await attribute(editor, "aria-valuetext")).includes("req/s"), "its speed");
  // What the host tells meanwhile may put other charts in the place of these.
  await editor.waitFor(async () => (await minutesShown(editor)) > 95, "all of it");
  await editor.screenshot("charts-workbench-reloaded");
}

/** Whether a file of the workspace's storage holds the charts. */
async function isKept({ server }: ServedEditor): Promise<boolean> {
  const files = await readdir(dirname(server.scratch), { recursive: true });
  return files.some((file) => /charts.[0-9a-f]{32}\.bin$/.test(file));
}

async function moves(editor: ServedEditor): Promise<void> {
  await press(editor, "1 h", () => isPressed(editor, "1 h"));
  const tabs = editor.page.locator(".tab", { hasText: "Charts" });
  const inPanel = async (): Promise<boolean> =>
    (await tabs.count()) === 0 &&
    (await editor.page.locator(".part.panel:visible").count()) > 0 &&
    isPressed(editor, "1 h");
  await byPalette(editor, "ML Session: Show Charts in Panel", { what: "the charts in the panel", seen: inPanel });
  await editor.waitFor(async () => Math.abs((await minutesShown(editor)) - 60) < 1, "the same hour");
  await editor.screenshot("charts-workbench-panel");
  const inEditor = async (): Promise<boolean> => (await tabs.count()) > 0 && isPressed(editor, "1 h");
  await byPalette(editor, "ML Session: Open Charts in Editor", { what: "the charts in an editor", seen: inEditor });
}
