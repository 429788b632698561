import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { runQuietly } from "../../scripts/editor.mjs";
import { type ServedEditor, withEditor } from "../rig/servedEditor";

/** An extension in the same extension host that writes down which modules were loaded so far. */
async function writeWitness(folder: string, report: string): Promise<string> {
  const command = { command: "witness.write", title: "Write What Is Loaded", category: "Witness" };
  const manifest = {
    name: "witness",
    publisher: "test",
    version: "0.0.1",
    engines: { vscode: "^1.105.0" },
    main: "./witness.js",
    contributes: { commands: [command] },
  };
  const code = `
const { writeFileSync } = require("node:fs");
const { commands } = require("vscode");
exports.activate = () => {
  commands.registerCommand("witness.write", () => {
    writeFileSync(${JSON.stringify(report)}, JSON.stringify(Object.keys(require.cache)));
  });
};
`;
  const extension = join(folder, "witness");
  await mkdir(extension);
  await writeFile(join(extension, "package.json"), JSON.stringify(manifest));
  await writeFile(join(extension, "witness.js"), code);
  return extension;
}

/** The bundles of the installed package that the extension host has loaded by now. */
async function loadedBundles(editor: ServedEditor, report: string): Promise<string[]> {
  await rm(report, { force: true });
  await editor.palette("Witness: Write What Is Loaded");
  await editor.waitFor(() => existsSync(report) && readFileSync(report, "utf8").endsWith("]"), "the witness");
  const files = JSON.parse(readFileSync(report, "utf8")) as string[];
  return files
    .filter((file) => /ml-session-monitor-[^/]+\/dist\//.test(file))
    .map((file) => basename(file))
    .sort();
}

test("the package installs, activates with one bundle, and its demo shows the failed download", async () => {
  const printed = await runQuietly(process.execPath, ["scripts/package.mjs"]);
  const vsix = /^(\S+\.vsix): \d+ files, (\d+) bytes$/m.exec(printed);
  assert.ok(vsix?.[1], printed);
  assert.ok(Number(vsix[2]) < 1_500_000);
  const folder = await mkdtemp(join(tmpdir(), "mls-vsix-"));
  const report = join(folder, "loaded");
  try {
    await withEditor({ vsix: vsix[1], extension: await writeWitness(folder, report) }, async (editor) => {
      await editor.openView("ML Session");
      await editor.waitFor(async () => (await editor.welcome("Stages")) !== "", "the welcome text", 120_000);
      // A command runs once the activation is through.
      await editor.palette("ML Session: Show Log of ML Session");
      await editor.page.locator(".part.panel .monaco-editor, .part.panel .output-view").first().waitFor();
      assert.deepEqual(await loadedBundles(editor, report), ["extension.js"]);

      await editor.palette("ML Session: Open Demo Session");
      await editor.waitFor(
        async () => {
          const rows = await editor.treeRows("Stages");
          return rows.some(({ label, description }) => label === "download" && description.startsWith("failed "));
        },
        "the failed download in the Stages view",
        120_000,
      );
      const now = await loadedBundles(editor, report);
      // A session wakes the language client too, a little later.
      assert.deepEqual(
        now.filter((bundle) => bundle !== "client.js"),
        ["demo.js", "extension.js", "hostWatch.js", "sessionFile.js"],
      );
      await editor.waitFor(async () => (await editor.badge("ML Session")) === "1", "the badge");
      await editor.screenshot("vsix-demo");
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
