// Launching and supervising over a real sshd, by the palette.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import { type RemoteHost, remoteHost } from "./remoteHost";
import { answer, byPalette, dialogWith, inTurn, pressOnRow, quickPick, rowSays, says, typeIn } from "./workbenchHands";

type Step = (editor: ServedEditor, host: RemoteHost) => Promise<void>;

const canary = "hf_CanaryThatMustNotBeSeen";

const steps: readonly (readonly [string, Step])[] = [
  ["a secret is typed unseen", secretSet],
  ["Check Before Launch lists what a launch would meet, and starts nothing", checked],
  ["Find Program on Host says where a program is", found],
  ["a pipeline shows all its commands, and goes on until a member fails", pipeline],
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
    outputs: { files: samples.jsonl, count: lines }
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
  const list = quickPick(editor, "train: ");
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
  await answer(editor, "Launch");
  await says(editor, "prepare", /^finished/);
  await says(editor, "shards", /3\/4 finished, 1 failed/);
  await says(editor, "train", /^blocked by shards/);
  await picture(editor, "blocked");
  assert.equal(readFileSync(join(home, "token-length"), "utf8").trim(), String(canary.length));
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
