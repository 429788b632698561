import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import { type RemoteHost, remoteHost } from "./remoteHost";
import { byPalette, quickPick, said, says, typeIn } from "./workbenchHands";

test(
  "a job started by hand that died is red with its cause, without a session file",
  { timeout: 600_000 },
  async (t) => {
    const host = await remoteHost(t);
    await writeFile(host.knownHosts, `${host.sshd.knownHostsLine}\n`);
    const log = join(host.home, "data", "download.log");
    await byHand(host, log);
    const settings = { "mlSession.ssh.configFile": host.config };
    await withEditor({ extension: ".", folder: host.folder, settings, screenshots: "out/screens" }, async (editor) => {
      await t.test("an empty folder says what can be done", async () => {
        await editor.openView("ML Session");
        await editor.waitFor(async () => (await editor.welcome("Stages")).includes("Watch Remote Log"), "the welcome");
      });
      await t.test("two answers, and it is seen", async () => {
        await watch(editor, log);
        const began = performance.now();
        const words = await says(editor, "download.log", /^failed .*huggingface-cli/);
        const after = Math.round(performance.now() - began);
        t.diagnostic(`red ${after} ms after the last input: ${words}`);
        const line = editor.page.locator(".monaco-editor .view-line", { hasText: "failed to run command" }).first();
        await line.waitFor();
        // Views and their badge are drawn one after the other.
        await editor.waitFor(async () => (await editor.treeRows("Alerts"))[0]?.label === "download.log", "the alert");
        await editor.waitFor(async () => (await editor.badge("ML Session")) === "1", "the badge");
        await editor.screenshot("watch-dark");
        await editor.switchTheme("light");
        await editor.screenshot("watch-light");
        await editor.switchTheme("dark");
      });
      await t.test("it is there again when the window is opened anew, and gone once it is let go", async () => {
        await editor.reload();
        await editor.openView("ML Session");
        await says(editor, "download.log", /^failed .*huggingface-cli/);
        await says(editor, "gpu9", /^connected/); // by itself, since the login asked nothing
        const seen = async (): Promise<boolean> => (await said(editor, "Stages", "download.log")) === undefined;
        await byPalette(editor, "ML Session: Stop Watching", { what: "the watch to go", seen });
      });
    });
  },
);

/** The seed's very line: nohup in a shell that has another PATH. Nothing of it is recorded anywhere. */
async function byHand({ home }: RemoteHost, log: string): Promise<void> {
  const line = `cd '${home}' && nohup huggingface-cli download x/y > '${log}' 2>&1 < /dev/null &`;
  const shell = spawn("sh", ["-c", line], { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
  await once(shell, "exit");
}

async function watch(editor: ServedEditor, log: string): Promise<void> {
  await byPalette(editor, "ML Session: Watch Remote Log…", quickPick(editor, "Watch Remote Log"));
  await editor.answer("Watch Remote Log", "gpu9");
  await typeIn(editor, "Watch a log on gpu9", log);
}
