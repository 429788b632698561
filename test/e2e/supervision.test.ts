// Launching and supervising over a real sshd, by the palette and by rows; at the end the extension host is killed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import { isOfRecorder, processesWith } from "../ssh/hostHarness";
import { type RemoteHost, remoteHost } from "./remoteHost";
import {
  answer,
  byPalette,
  dialogWith,
  editorProcesses,
  inTurn,
  isAlive,
  message,
  pressOnRow,
  quickPick,
  rowSays,
  says,
  typeIn,
} from "./workbenchHands";

type Step = (editor: ServedEditor, host: RemoteHost) => Promise<void>;

const canary = "hf_CanaryThatMustNotBeSeen";

const steps: readonly (readonly [string, Step])[] = [
  ["a secret is typed unseen", secretSet],
  ["Check Before Launch lists what a launch would meet, and starts nothing", checked],
  ["Find Program on Host says where a program is", found],
  ["a pipeline shows all its commands, and goes on until a member fails", pipeline],
  ["the failed member alone is restarted, and what was blocked goes on by itself", mended],
  ["a stop says what it ends", stopped],
  ["Move Aside renames what is there", movedAside],
  ["Start Over keeps a copy", startedOver],
  ["Resume goes on with what is there", resumed],
  ["the lengths that its outputs tell are bars among the charts", measured],
  ["a killed extension host comes back to the job as it is", killed],
  ["a secret that is forgotten is kept no more, and was seen nowhere", secretForgotten],
];

test("launching and supervising over a real sshd", { timeout: 1_500_000 }, async (t) => {
  const host = await remoteHost(t);
  await writeFile(host.knownHosts, `${host.sshd.knownHostsLine}\n`);
  await writeFile(join(host.home, "train.sh"), trainScript);
  await writeFile(join(host.folder, "ml-session.yaml"), fileFor(host.home));
  const settings = { "mlSession.ssh.configFile": host.config };
  await withEditor({ extension: ".", folder: host.folder, settings, screenshots: "out/screens" }, async (editor) => {
    await editor.openView("ML Session");
    await editor.widenSideBar(480);
    await says(editor, "prepare", /./);
    await pressOnRow(editor, "gpu8", "Connect", rowSays(editor, "gpu8", /^connected/));
    await says(editor, "prepare", /^not started/);
    await inTurn(t, steps, (step) => step(editor, host));
  });
});

/** Ten samples and then a long wait; all thirty where it goes on with what is there. */
const trainScript = `most=10
if [ "$1" = --resume ]; then most=30; else : >samples.jsonl; fi
n=$(wc -l <samples.jsonl)
while [ "$n" -lt "$most" ]; do n=$((n + 1)); echo "{\\"sample\\": $n}" >>samples.jsonl; done
[ "$1" = --resume ] || exec sleep 1000
`;

function fileFor(home: string): string {
  return `session: supervised
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
    secrets: [HF_TOKEN]
defaults: { host: gpu8, cwd: ${home} }
stages:
  prepare:
    kind: download
    command: printf %s "$HF_TOKEN" | wc -c >token-length; echo ready >prepared
    done_when: { files: prepared }
  shards:
    kind: extraction
    needs: [prepare]
    matrix: { shard: 0..3 }
    command: '[ {{shard}} != 2 ] || [ -e mended ] || { echo "shard 2 cannot be read"; exit 3; }; echo done >shard-{{shard}}'
    done_when: { files: "shard-{{shard}}" }
  train:
    kind: training
    needs: [shards]
    command: sh train.sh
    outputs: { files: samples.jsonl, count: lines, token_field: sample }
    done_when: { outputs_at_least: 30 }
    resume: { args: --resume }
  count:
    kind: inference
    command: 'n=0; while [ $n -lt 90 ]; do n=$((n + 1)); echo "line $n"; sleep 0.3; done; [ -e go-on ] || while [ ! -e go-on ]; do sleep 0.2; done; echo "line 91"'
    log: ${home}/count.log
    done_when: { log: "line 91" }
`;
}

/** What is on the screen, in both themes. */
async function picture(editor: ServedEditor, name: string): Promise<void> {
  await editor.screenshot(`supervision-${name}-dark`);
  await editor.switchTheme("light");
  await editor.screenshot(`supervision-${name}-light`);
  await editor.switchTheme("dark");
}

async function secretSet(editor: ServedEditor): Promise<void> {
  const title = "HF_TOKEN on gpu8";
  await byPalette(editor, "ML Session: Set Secret…", {
    what: "the question for the secret",
    seen: async () => (await editor.page.locator(".quick-input-widget:visible", { hasText: title }).count()) > 0,
  });
  const input = editor.page.locator(".quick-input-widget:visible input").first();
  assert.equal(await input.getAttribute("type"), "password");
  await picture(editor, "secret");
  await typeIn(editor, title, canary);
  await editor.waitFor(
    async () => (await editor.statusBarText()).some((text) => text.includes("HF_TOKEN is kept for gpu8")),
    "the word that it is kept",
  );
  assert.ok(!(await editor.page.content()).includes(canary));
}

async function checked(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  const title = "Check Before Launch";
  await byPalette(editor, `ML Session: ${title}…`, quickPick(editor, title));
  await editor.answer(title, "train");
  const list = quickPick(editor, "Check of train: ");
  const rows = await editor.waitFor(list.seen, "the list of what was checked", 180_000);
  await picture(editor, "check");
  assert.ok(rows.some(({ label, description }) => `${label} ${description}`.includes("HF_TOKEN")));
  await editor.dismiss();
  assert.equal(runsOf(home, "train").length, 0);
}

async function found(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  const title = "Find Program on Host";
  await byPalette(editor, `ML Session: ${title}…`, quickPick(editor, title));
  await editor.answer(title, "train");
  await typeIn(editor, `${title}: gpu8`, "hf");
  const list = quickPick(editor, "hf on gpu8");
  const rows = await editor.waitFor(list.seen, "where hf is", 180_000);
  await picture(editor, "find");
  assert.ok(JSON.stringify(rows).includes(`${home}/ml-env/bin`), JSON.stringify(rows));
  await editor.dismiss();
}

async function pipeline(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  await byPalette(editor, "ML Session: Launch Pipeline From Here…", quickPick(editor, "Launch Pipeline"));
  await picture(editor, "pipeline-from");
  await editor.answer("Launch Pipeline", "prepare");
  const { seen, what } = dialogWith(editor, /launch 3 stages of supervised\?/);
  const question = await editor.waitFor(seen, what, 180_000);
  await picture(editor, "pipeline");
  for (const command of ["wc -c >token-length", "echo done >shard-3", "sh train.sh --resume"])
    assert.ok(question.includes(command), `${command} is not in: ${question}`);
  await answer(editor, "Check First");
  const list = quickPick(editor, "Check of ");
  const rows = await editor.waitFor(list.seen, "the list of what was checked", 180_000);
  await picture(editor, "pipeline-check");
  for (const word of ["HF_TOKEN", "`; echo ready` hides a failure", "sh is "])
    assert.ok(JSON.stringify(rows).includes(word), `${word} is not in ${JSON.stringify(rows)}`);
  await editor.dismiss();
  await editor.waitFor(seen, "the question again", 180_000);
  assert.equal(runsOf(home, "prepare").length, 0);
  await answer(editor, "Launch");
  await says(editor, "prepare", /^finished/);
  await says(editor, "shards", /3\/4 finished, 1 failed/);
  await says(editor, "train", /^blocked by shards/);
  await picture(editor, "blocked");
  assert.equal(readFileSync(join(home, "token-length"), "utf8").trim(), String(canary.length));
}

async function mended(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  await writeFile(join(home, "mended"), "");
  // It was approved before, and left nothing that could be written over: nothing is asked.
  await pressOnRow(editor, "shards", "Restart Failed Members", rowSays(editor, "shards", /^(4\/4 )?finished/));
  assert.deepEqual(
    ["0", "1", "2", "3"].map((member) => runsOf(home, "shards", member).length),
    [1, 1, 2, 1],
  );
  await says(editor, "train", /10 of 30 lines written/);
  await picture(editor, "goes-on");
}

async function stopTrain(editor: ServedEditor): Promise<string> {
  const question = await byPalette(editor, "ML Session: Stop Stage", dialogWith(editor, /Stop train\?/));
  await editor.screenshot("supervision-stop-dark");
  await answer(editor, "Stop");
  await says(editor, "train", /^stopped/);
  return question;
}

async function stopped(editor: ServedEditor): Promise<void> {
  const question = await stopTrain(editor);
  assert.match(question, /It has been running for .*, 33 %/);
  assert.match(question, /SIGTERM/);
}

async function restartBy(editor: ServedEditor, way: string): Promise<void> {
  const title = "Restart Stage: train";
  const offers = await pressOnRow(editor, "train", "Restart Stage", quickPick(editor, title));
  assert.deepEqual(
    offers.map(({ label }) => label),
    ["Resume", "Start Over", "Move Aside", "Cancel"],
  );
  const input = editor.page.locator(".quick-input-widget:visible input[type=text]").first();
  assert.match((await input.getAttribute("placeholder")) ?? "", /There already: 10 lines \(\d+ B in 1 file\)/);
  if (way === "Move Aside") await picture(editor, "restart");
  await editor.answer(title, way);
}

const kept = (home: string): readonly string[] =>
  readdirSync(home).filter((name) => name.startsWith("samples.jsonl.before-"));
const lines = (file: string): number => readFileSync(file, "utf8").split("\n").length - 1;

async function movedAside(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  await restartBy(editor, "Move Aside");
  await says(editor, "train", /^(?!stopped).*10 of 30 lines written/);
  const [name = ""] = kept(home);
  assert.equal(lines(join(home, name)), 10);
  const told = message(editor, /Kept as .*before-/);
  await editor.waitFor(told.seen, told.what);
  await picture(editor, "kept");
  await stopTrain(editor);
}

async function startedOver(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  await restartBy(editor, "Start Over");
  await says(editor, "train", /^(?!stopped).*10 of 30 lines written/);
  assert.deepEqual(
    kept(home).map((name) => lines(join(home, name))),
    [10, 10],
  );
  await stopTrain(editor);
}

async function resumed(editor: ServedEditor, { home }: RemoteHost): Promise<void> {
  await restartBy(editor, "Resume");
  await says(editor, "train", /^finished/);
  assert.equal(kept(home).length, 2);
  const all = Array.from({ length: 30 }, (_, index) => `{"sample": ${index + 1}}\n`).join("");
  assert.equal(readFileSync(join(home, "samples.jsonl"), "utf8"), all);
  await picture(editor, "through");
}

async function measured(editor: ServedEditor): Promise<void> {
  const card = editor.webviewFrame().locator('[data-chart="lengths train"]');
  const about = card.locator(".about", { hasText: /^median 15, 95 % up to 29, longest 30 \(of 30 answers\) · read / });
  const drawn = async (): Promise<boolean> => (await about.count()) > 0;
  const tab = editor.page.locator(".tab", { hasText: "Charts" });
  const isOpen = async (): Promise<boolean> => (await tab.count()) > 0;
  await byPalette(editor, "ML Session: Show Charts", { what: "the charts", seen: isOpen });
  // Outputs are read a quarter of a minute apart.
  await editor.waitFor(drawn, "how long all thirty are", 180_000);
  const plot = card.locator(".plot");
  const says = async (): Promise<string> =>
    (await plot.getAttribute("aria-valuetext", { timeout: 2000 }).catch(() => null)) ?? "";
  await editor.perform(() => plot.press("End", { timeout: 10_000 }), {
    what: "the last bar read off",
    seen: async () => (await says()) === "30 tokens: 1 answer, 3.3 %",
  });
  await picture(editor, "lengths");
  await byPalette(editor, "View: Close All Editors", {
    what: "the charts to be closed",
    seen: async () => !(await isOpen()),
  });
}

async function killed(editor: ServedEditor, { home, sshd }: RemoteHost): Promise<void> {
  await pressOnRow(editor, "count", "Launch Stage", dialogWith(editor, /Launch count on gpu8\?/));
  await answer(editor, "Launch");
  await editor.waitFor(() => existsSync(join(home, "count.log")) && lines(join(home, "count.log")) > 3, "its output");
  await says(editor, "count", /^(running|no progress)/);
  const before = ofTheWatch(sshd.folder);
  assert.ok(before.length > 0);
  const [victim] = editorProcesses(editor).filter(({ command }) => command.includes("--type=extensionHost"));
  assert.ok(victim, "there is an extension host");
  process.kill(victim.pid, "SIGKILL");
  await editor.waitFor(() => !isAlive(victim), "the extension host to be gone");
  const fresh = (): boolean => editorProcesses(editor).some(({ command }) => command.includes("--type=extensionHost"));
  await editor.waitFor(async () => {
    // After several crashes the workbench asks; a person agrees.
    const again = editor.page.locator(".monaco-button", { hasText: /^(Restart Extension Host|Reload Window)$/ });
    if ((await again.count()) > 0)
      await again
        .first()
        .click({ timeout: 5000 })
        .catch(() => undefined);
    return fresh();
  }, "a new extension host");
  await editor.screenshot("supervision-killed-dark");
  await says(editor, "gpu8", /^connected/);
  await says(editor, "count", /^(running|no progress)/);
  await editor.waitFor(() => {
    const now = ofTheWatch(sshd.folder);
    return before.every((pid) => !now.includes(pid));
  }, "what watched for the killed one to be gone");
  await writeFile(join(home, "go-on"), "");
  await says(editor, "count", /^finished/);
  assert.equal(runsOf(home, "count").length, 1, "no second copy");
  const whole = Array.from({ length: 91 }, (_, index) => `line ${index + 1}\n`).join("");
  assert.equal(readFileSync(join(home, "count.log"), "utf8"), whole);
}

/** Our processes on the host that are no job's: shells, tails and what waits in them. */
function ofTheWatch(folder: string): readonly number[] {
  return processesWith(`HOME=${folder}\0`).filter((pid) => {
    try {
      // The wrapper that waits for the job got its environment before the job's was made.
      const isWrapper = readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("/wrapper.sh\0");
      return (
        !isWrapper && !isOfRecorder(pid) && !readFileSync(`/proc/${pid}/environ`, "latin1").includes("ML_SESSION_RUN=")
      );
    } catch {
      return false; // it has ended
    }
  });
}

/** Folders of the runs of a member. */
function runsOf(home: string, stage: string, member = "0"): readonly string[] {
  const root = join(home, "state", "v1");
  const [machine = ""] = existsSync(root) ? readdirSync(root) : [];
  const folder = join(root, machine, "supervised", stage, member);
  return existsSync(folder)
    ? readdirSync(folder).filter((name) => !name.startsWith(".") && !name.endsWith("lock"))
    : [];
}

async function secretForgotten(editor: ServedEditor, { sshd }: RemoteHost): Promise<void> {
  const title = "Forget Secret";
  await byPalette(editor, `ML Session: ${title}…`, quickPick(editor, title));
  const boxes = editor.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row");
  await boxes.first().click();
  await picture(editor, "forget");
  const open = editor.page.locator(".quick-input-widget:visible");
  await editor.perform(() => editor.page.keyboard.press("Enter"), {
    what: "the choice to be taken",
    seen: async () => (await open.count()) === 0,
  });
  await byPalette(editor, `ML Session: ${title}…`, message(editor, /No secret is kept on this machine/));
  const places = [dirname(editor.server.scratch), sshd.folder];
  const traces = execFileSync("sh", ["-c", 'grep -rlF -e "$0" "$@" || :', canary, ...places], { encoding: "utf8" });
  assert.equal(traces, "");
  assert.ok(!(await editor.page.content()).includes(canary));
}
