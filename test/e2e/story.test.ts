import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import { type RemoteHost, remoteHost } from "./remoteHost";
import {
  answer,
  byPalette,
  dialog,
  dialogWith,
  inTurn,
  message,
  pointAt,
  pressOnRow,
  quickPick,
  rowSays,
  says,
} from "./workbenchHands";

type Step = (editor: ServedEditor, host: RemoteHost) => Promise<void>;

const steps: readonly (readonly [string, Step])[] = [
  ["an unknown host key is asked for with its fingerprint, and remembered by the product alone", unknownKey],
  ["a launch runs, and a dead one is red with its cause", launches],
  ["the restart with the cure mends the file and finishes", cured],
  ["a run is stopped, and started again", stopped],
  ["a changed host key is refused with both fingerprints, and no login is tried", changedKey],
];

test("the story over a real sshd, by clicks", { timeout: 900_000 }, async (t) => {
  const host = await remoteHost(t);
  await writeFile(join(host.folder, "ml-session.yaml"), fileFor(host.home));
  const settings = { "mlSession.ssh.configFile": host.config };
  await withEditor({ extension: ".", folder: host.folder, settings }, async (editor) => {
    await editor.openView("ML Session");
    await inTurn(t, steps, (step) => step(editor, host));
  });
});

function fileFor(home: string): string {
  return `# the night
session: story
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
stages:
  download:
    kind: download
    command: nohup huggingface-cli download x/y --local-dir ${home}/data # the small one
    cwd: ${home}
    log: ${home}/data/download.log
    done_when: { files: ${home}/data/model.safetensors }
  inference:
    kind: inference
    command: 'for n in 10 20 30 40 50; do echo "Progress: $n/25000 (0 errors), 1.5 req/s, avg completion: 400 tokens, elapsed: $((n/10))s"; sleep 0.5; done; exec sleep 1000'
    cwd: ${home}
    log: ${home}/data/inference.log
`;
}

function fingerprint({ sshd }: RemoteHost): string {
  return execFileSync("ssh-keygen", ["-lf", `${sshd.hostKeyFile}.pub`], { encoding: "utf8" }).split(" ")[1] ?? "";
}

async function unknownKey(editor: ServedEditor, host: RemoteHost): Promise<void> {
  const before = await readFile(host.knownHosts, "utf8");
  await says(editor, "gpu8", /^not connected/);
  assert.equal(host.sshd.output().includes("Connection from"), false, "nothing connects before it is asked to");
  const isIt = dialogWith(editor, /Is this the host/);
  const question = await pressOnRow(editor, "gpu8", "Connect", isIt);
  assert.ok(question.includes(`[127.0.0.1]:${host.sshd.port}`), question);
  assert.ok(question.includes(fingerprint(host)), question);
  await editor.screenshot("host-key-dark");
  await answer(editor, "Cancel");
  await says(editor, "gpu8", /^(not connected|needs login)/);
  assert.doesNotMatch(host.sshd.output(), /Accepted|Failed publickey/, "no login to a host that is not trusted");
  await pressOnRow(editor, "gpu8", "Connect", isIt);
  await answer(editor, "Connect and Remember");
  await says(editor, "gpu8", /^connected/);
  await byPalette(editor, "ML Session: Disconnect", rowSays(editor, "gpu8", /^not connected/));
  await pressOnRow(editor, "gpu8", "Connect", rowSays(editor, "gpu8", /^connected/));
  assert.equal(await dialog(editor), undefined);
  assert.equal(await readFile(host.knownHosts, "utf8"), before);
}

const launchOf = (editor: ServedEditor, stage: string) => dialogWith(editor, new RegExp(`Launch ${stage} on gpu8\\?`));

async function launch(editor: ServedEditor, stage: string): Promise<void> {
  await pressOnRow(editor, stage, "Launch Stage", launchOf(editor, stage));
  await answer(editor, "Launch");
}

const cause = /download[^]*failed[^]*huggingface-cli/;

async function launches(editor: ServedEditor): Promise<void> {
  await launch(editor, "inference");
  await says(editor, "inference", /[1-5]0 \/ 25,000/);
  await launch(editor, "download");
  await says(editor, "download", /failed .*after start · .*huggingface-cli.* \(exit 127\)/);
  const alerts = await editor.waitFor(async () => {
    const rows = await editor.treeRows("Alerts");
    return rows.length > 0 && rows;
  }, "the alert");
  assert.equal(alerts[0]?.label, "download");
  await editor.waitFor(async () => (await editor.badge("ML Session")) === "1", "the badge");
  const failure = message(editor, /^download failed on gpu8/);
  await editor.waitFor(failure.seen, failure.what);
  await editor.waitFor(
    async () => (await editor.statusBarText()).some((text) => text.includes("download failed")),
    "the failure in the status bar",
  );
  await editor.screenshot("story-dark");
  await pointAt(editor, "download", cause);
  await editor.screenshot("story-pointed-dark");
  await editor.switchTheme("light");
  await editor.screenshot("story-light");
  await pointAt(editor, "download", cause);
  await editor.screenshot("story-pointed-light");
  await editor.switchTheme("dark");
}

async function cured(editor: ServedEditor, host: RemoteHost): Promise<void> {
  const title = "Restart Stage: download";
  await pressOnRow(editor, "download", "Restart Stage", quickPick(editor, title));
  await editor.answer(title, `Restart with ${host.home}/ml-env/bin/hf`);
  const { seen, what } = launchOf(editor, "download");
  await editor.waitFor(seen, what, 180_000);
  await answer(editor, "Launch");
  await says(editor, "download", /^finished/);
  const file = await readFile(join(host.folder, "ml-session.yaml"), "utf8");
  assert.equal(file, fileFor(host.home).replace("huggingface-cli", `${host.home}/ml-env/bin/hf`));
  await editor.waitFor(async () => (await editor.treeRows("Alerts")).length === 0, "no alert");
}

async function stopped(editor: ServedEditor): Promise<void> {
  await pointAt(editor, "inference", /running/);
  await byPalette(editor, "ML Session: Stop Stage", dialogWith(editor, /Stop inference\?/));
  await answer(editor, "Stop");
  await says(editor, "inference", /^stopped/);
  await pointAt(editor, "inference", /stopped/);
  await pressOnRow(
    editor,
    "inference",
    "Restart Stage",
    rowSays(editor, "inference", /^(?!stopped).*[1-5]0 \/ 25,000/),
  );
  assert.equal(await dialog(editor), undefined, "what was agreed to is not asked again");
  await byPalette(editor, "ML Session: Stop Stage", dialogWith(editor, /Stop inference\?/));
  await answer(editor, "Stop");
  await says(editor, "inference", /^stopped/);
}

async function changedKey(editor: ServedEditor, host: RemoteHost): Promise<void> {
  const old = fingerprint(host);
  await byPalette(editor, "ML Session: Disconnect", rowSays(editor, "gpu8", /^not connected/));
  await host.sshd.restartWithNewHostKey();
  const before = host.sshd.output().length;
  await editor.forgetTold();
  const refusal = await pressOnRow(editor, "gpu8", "Connect", message(editor, /has changed/));
  assert.ok(refusal.includes(old), refusal);
  assert.ok(refusal.includes(fingerprint(host)), refusal);
  await says(editor, "gpu8", /^not connected · .*changed/);
  assert.equal(await dialog(editor), undefined);
  await editor.screenshot("host-key-changed-dark");
  assert.match(host.sshd.output().slice(before), /Connection from/);
  assert.doesNotMatch(host.sshd.output().slice(before), /Accepted|Failed|publickey/);
}
