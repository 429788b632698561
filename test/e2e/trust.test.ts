import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type ServedEditor, withEditor } from "../rig/servedEditor";
import {
  answer,
  asked,
  byPalette,
  closeModalEditor,
  dialog,
  dialogWith,
  editorProcesses,
  inTurn,
  isAlive,
  message,
  pressOnRow,
  rowSays,
  said,
  says,
} from "./workbenchHands";

interface Place {
  readonly root: string;
  readonly folder: string;
  readonly file: string;
  /** Made by whatever ran without having been allowed to. */
  readonly traces: string;
  /** TCP connections that the far host saw. */
  readonly callers: () => number;
}

/** A folder as a stranger might send it: a job, a far host, and an SSH configuration that runs a program when read. */
async function strangersFolder(t: TestContext): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), "trust-"));
  const folder = join(root, "project");
  const traces = join(root, "traces");
  await mkdir(folder);
  await mkdir(traces);
  let callers = 0;
  const far = createServer((socket) => {
    callers += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    await new Promise((resolve) => far.close(resolve));
    await rm(root, { recursive: true, force: true });
  });
  await writeFile(join(root, "ssh_config"), `Match exec "touch ${traces}/read"\nHost odd\n  HostName 127.0.0.1\n`);
  const file = join(folder, "ml-session.yaml");
  await writeFile(
    file,
    `session: strange
hosts:
  here:
    ssh: local
    setup: [export SET_UP=yes]
    env: { SOME_NAME: some-value }
    state_dir: ${root}/state
  far: { ssh: "somebody@127.0.0.1:${(far.address() as AddressInfo).port}" }
  odd: { ssh: odd }
stages:
  mark:
    host: here
    kind: training
    cwd: ${folder}
    command: ${commandFor(traces, "ran")}
`,
  );
  return { root, folder, file, traces, callers: () => callers };
}

function commandFor(traces: string, trace: string): string {
  return `echo "$SET_UP $SOME_NAME" > ${traces}/${trace}; exec sleep 1000`;
}

/** What ran or was called although nobody had agreed. */
const traced = ({ traces, callers }: Place): readonly string[] => [
  ...["read", "ran", "changed"].filter((name) => existsSync(join(traces, name))),
  ...(callers() > 0 ? ["the far host was called"] : []),
];

test(
  "a folder that nobody trusts is read and nothing more; each first launch asks",
  { timeout: 900_000 },
  async (t) => {
    const place = await strangersFolder(t);
    const settings = { "mlSession.ssh.configFile": join(place.root, "ssh_config") };
    await withEditor({ extension: ".", trusted: false, folder: place.folder, settings }, async (editor) => {
      const steps: readonly [string, (editor: ServedEditor, place: Place) => Promise<void>][] = [
        ["Restricted Mode shows what the file says, and says what it does not do", restricted],
        ["commands are refused with words", refused],
        ["once trusted nothing is connected to by itself; Connect works", trusted],
        ["the first launch shows all of it; Cancel starts nothing", firstLaunch],
        ["what was agreed to is not asked again", sameAgain],
        ["a window that is opened anew leaves no process behind and finds its host and job by itself", reloaded],
        ["a changed command is asked again", changed],
      ];
      await inTurn(t, steps, (step) => step(editor, place));
    });
  },
);

async function restricted(editor: ServedEditor): Promise<void> {
  await asked(editor, /trust the authors/);
  await answer(editor, "No, I don't trust the authors");
  await editor.openView("ML Session");
  await says(editor, "mark", /^not seen yet/);
  for (const host of ["here", "far", "odd"]) assert.equal(await said(editor, "Stages", host), "not connected");
  const words = editor.page.locator('.pane:has(.pane-header[aria-label^="Stages"]) .message');
  assert.match(await words.innerText(), /Restricted Mode: nothing is connected to, and nothing is run/);
  for (const title of ["ML Session: Launch Stage", "ML Session: Connect"])
    assert.ok(!(await editor.paletteTitles(title)).includes(title), `${title} is offered`);
}

/** A key of the person's own goes past the palette, which offers none of them here. */
async function refused(editor: ServedEditor, place: Place): Promise<void> {
  await editor.palette("Preferences: Open Keyboard Shortcuts (JSON)");
  const text = editor.page.locator(".editor-instance .monaco-editor .view-lines").first();
  await text.click();
  await editor.page.keyboard.press("Control+A");
  const keys = ["launchStage", "connect", "watchRemoteLog", "restartTraining"];
  const bindings = keys.map((name, index) => ({ key: `ctrl+alt+shift+${index + 1}`, command: `mlSession.${name}` }));
  await editor.page.keyboard.insertText(JSON.stringify(bindings));
  await editor.waitFor(async () => (await text.innerText()).includes("restartTraining"), "the keys to be typed");
  await editor.palette("File: Save");
  await closeModalEditor(editor);
  for (const [index, name] of keys.entries()) {
    await editor.forgetTold();
    // The workbench reads its keys anew some time after they are saved; until then a press means nothing.
    const press = (): Promise<void> => editor.page.keyboard.press(`Control+Alt+Shift+${index + 1}`);
    const { seen } = message(editor, /Restricted Mode/);
    await editor.perform(press, { what: `${name} refused with words`, seen }, 2000);
  }
  assert.equal(await dialog(editor), undefined);
  assert.deepEqual(traced(place), []);
}

async function trusted(editor: ServedEditor, place: Place): Promise<void> {
  await editor.palette("Workspaces: Manage Workspace Trust");
  await editor.page
    .locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ })
    .first()
    .click();
  await closeModalEditor(editor);
  await editor.openView("ML Session");
  const words = editor.page.locator('.pane:has(.pane-header[aria-label^="Stages"]) .message');
  await editor.waitFor(async () => (await words.allInnerTexts()).join("").trim() === "", "the message to go");
  assert.equal(await said(editor, "Stages", "here"), "not connected");
  assert.deepEqual(traced(place), []);
  await pressOnRow(editor, "here", "Connect", rowSays(editor, "here", /^connected/));
  assert.equal(await said(editor, "Stages", "far"), "not connected", "one host was asked for, one is connected");
  assert.deepEqual(traced(place), []);
}

async function firstLaunch(editor: ServedEditor, place: Place): Promise<void> {
  const launch = dialogWith(editor, /Launch mark on here\?/);
  const question = await pressOnRow(editor, "mark", "Launch Stage", launch);
  for (const part of ["this machine", place.folder, "export SET_UP=yes", "SOME_NAME=some-value", `${place.root}/state`])
    assert.ok(question.includes(part), `${part} is not in: ${question}`);
  assert.ok(question.includes(commandFor(place.traces, "ran")));
  await editor.screenshot("approval-dark");
  await answer(editor, "Cancel");
  await pressOnRow(editor, "mark", "Launch Stage", launch);
  assert.deepEqual(traced(place), []);
  await answer(editor, "Launch");
  await says(editor, "mark", /running|no progress/);
  await written(editor, place);
}

/** What the job writes comes a moment after it is seen to run. */
async function written(editor: ServedEditor, place: Place): Promise<void> {
  const file = join(place.traces, "ran");
  const text = (): Promise<string | undefined> => readFile(file, "utf8").catch(() => undefined);
  await editor.waitFor(async () => (await text()) === "yes some-value\n", "what the job writes");
}

async function stopMark(editor: ServedEditor): Promise<void> {
  await byPalette(editor, "ML Session: Stop Stage", dialogWith(editor, /Stop mark\?/));
  await answer(editor, "Stop");
  await says(editor, "mark", /^stopped/);
}

async function sameAgain(editor: ServedEditor, place: Place): Promise<void> {
  await stopMark(editor);
  await rm(join(place.traces, "ran"));
  await pressOnRow(editor, "mark", "Restart Stage", rowSays(editor, "mark", /running|no progress/));
  assert.equal(await dialog(editor), undefined);
  await written(editor, place);
}

async function reloaded(editor: ServedEditor): Promise<void> {
  const own = editorProcesses(editor).filter(({ command }) => /dist\/server\.js|(^|\/)(sh|bash|dash) /.test(command));
  assert.ok(
    own.some(({ command }) => command.includes("dist/server.js")),
    "the language server runs",
  );
  assert.ok(own.length > 1, "the host is watched");
  await editor.reload();
  await editor.waitFor(() => !own.some(isAlive), "what the window before had started to end", 90_000);
  await editor.openView("ML Session");
  await says(editor, "here", /^connected/);
  await says(editor, "mark", /running|no progress/);
  assert.equal(await said(editor, "Stages", "far"), "not connected");
}

async function changed(editor: ServedEditor, place: Place): Promise<void> {
  await stopMark(editor);
  const text = await readFile(place.file, "utf8");
  const other = text.replace(commandFor(place.traces, "ran"), commandFor(place.traces, "changed"));
  await writeFile(place.file, `${other}  later:\n    host: here\n    log: ${place.root}/later.log\n`);
  await says(editor, "later", /./);
  const launch = dialogWith(editor, /Launch mark on here\?/);
  const question = await pressOnRow(editor, "mark", "Restart Stage", launch);
  assert.ok(question.includes(commandFor(place.traces, "changed")));
  await answer(editor, "Cancel");
  assert.deepEqual(traced(place), ["ran"]);
}
