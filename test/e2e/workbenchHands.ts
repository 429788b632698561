// What a person does in the workbench besides what the rig offers: dialogs, rows and their buttons.
import { readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import type { Locator } from "playwright-core";
import type { Effect, ServedEditor } from "../rig/servedEditor";

const box = ".monaco-dialog-box";

/** All words of the modal dialog; undefined if none is open. */
export async function dialog(editor: ServedEditor): Promise<string | undefined> {
  const texts = await editor.page.locator(`${box} .dialog-message-row`).allInnerTexts();
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** A modal dialog that holds these words, as the effect of an action. */
export function dialogWith(editor: ServedEditor, words: RegExp): Effect<string> {
  const seen = async (): Promise<string | false> => {
    const text = await dialog(editor);
    return text !== undefined && words.test(text) && text;
  };
  return { what: `a dialog with ${words.source}`, seen };
}

/** A row of the Stages view that says something, as the effect of an action. */
export function rowSays(editor: ServedEditor, label: string, words: RegExp): Effect<string> {
  const seen = async (): Promise<string | false> => {
    const text = await said(editor, "Stages", label);
    return text !== undefined && words.test(text) && text;
  };
  return { what: `${label} to say ${words.source}`, seen };
}

/** A quick pick with this title, as the effect of an action: what it offers. */
export function quickPick(editor: ServedEditor, title: string): Effect<Awaited<ReturnType<ServedEditor["picks"]>>> {
  const open = editor.page.locator(".quick-input-widget:visible .quick-input-title", { hasText: title });
  return { what: `the question "${title}"`, seen: async () => (await open.count()) > 0 && editor.picks() };
}

/** A message of the product, as the effect of an action. */
export function message(editor: ServedEditor, words: RegExp): Effect<string> {
  const seen = async (): Promise<string | undefined> => (await editor.told()).find((text) => words.test(text));
  return { what: `a message with ${words.source}`, seen };
}

/** Waits for a modal dialog that holds these words. */
export async function asked(editor: ServedEditor, words: RegExp): Promise<string> {
  const { what, seen } = dialogWith(editor, words);
  return editor.waitFor(seen, what, 180_000);
}

/** Answers the modal dialog, until it is gone. */
export async function answer(editor: ServedEditor, button: string): Promise<void> {
  const shown = await dialog(editor);
  const buttons = editor.page.locator(`${box} .monaco-button`, { hasText: new RegExp(`^${button}$`) });
  const gone = async (): Promise<boolean> => (await dialog(editor)) !== shown;
  const act = async (): Promise<void> => {
    if (!(await gone())) await buttons.click({ timeout: 10_000 });
  };
  await editor.perform(act, { what: `the dialog to go after ${button}`, seen: gone });
}

/** What a row says beside its name; of a watched log, which names its session too, the log. Undefined without it. */
export async function said(editor: ServedEditor, view: string, label: string): Promise<string | undefined> {
  const rows = await editor.treeRows(view);
  return rows.findLast((row) => row.label === label)?.description;
}

/** Waits until a row of the Stages view says something. */
export async function says(editor: ServedEditor, label: string, words: RegExp, timeout = 180_000): Promise<string> {
  const { what, seen } = rowSays(editor, label, words);
  try {
    return await editor.waitFor(seen, what, timeout);
  } catch (error) {
    const last = (await said(editor, "Stages", label)) ?? "nothing";
    const context = `It said last: ${last}. Messages: ${(await editor.told()).join(" | ")}`;
    throw new Error(`${String(error)} ${context}`, { cause: error });
  }
}

/** The row of the Stages view with exactly this name. */
function row(editor: ServedEditor, label: string): Locator {
  const name = editor.page.locator(".label-name", { hasText: new RegExp(`^${label}$`) });
  return editor.page
    .locator('.pane:has(.pane-header[aria-label^="Stages"]) .monaco-list-row')
    .filter({ has: name })
    .first();
}

/** Presses a button that a row of the Stages view shows under the mouse, until that has its effect. */
export async function pressOnRow<T>(
  editor: ServedEditor,
  label: string,
  button: string,
  effect: Effect<T>,
): Promise<T> {
  const act = async (): Promise<void> => {
    await row(editor, label).hover({ timeout: 10_000 });
    await row(editor, label).locator(`.action-label[aria-label^="${button}"]`).first().click({ timeout: 10_000 });
  };
  return editor.perform(act, effect);
}

/** Points at a row of the Stages view until what is told of it says something, and leaves the mouse there. */
export async function pointAt(editor: ServedEditor, label: string, words: RegExp): Promise<string> {
  const box = editor.page.locator(".workbench-hover-container:visible .hover-contents");
  const act = async (): Promise<void> => {
    await editor.page.mouse.move(0, 0);
    await row(editor, label).locator(".label-name").hover({ timeout: 10_000 });
  };
  const seen = async (): Promise<string | undefined> => (await box.allInnerTexts()).find((text) => words.test(text));
  return editor.perform(act, { what: `what is told of ${label} to say ${words.source}`, seen });
}

/** Runs a command by its title, until that has its effect. */
export async function byPalette<T>(editor: ServedEditor, title: string, effect: Effect<T>): Promise<T> {
  return editor.perform(() => editor.palette(title), effect);
}

/** Types into the open input box, until it is taken. */
export async function typeIn(editor: ServedEditor, title: string, text: string): Promise<void> {
  const widget = editor.page.locator(".quick-input-widget:visible", { hasText: title });
  await widget.waitFor();
  const gone = async (): Promise<boolean> => (await widget.count()) === 0;
  const act = async (): Promise<void> => {
    if (await gone()) return;
    const input = widget.locator("input").first();
    await input.fill(text, { timeout: 10_000 });
    await input.press("Enter", { timeout: 10_000 });
  };
  await editor.perform(act, { what: `"${title}" to be taken`, seen: gone });
}

/** Runs steps that build on each other; after one that failed the rest would only wait in vain. */
export async function inTurn<Step>(
  t: TestContext,
  steps: readonly (readonly [name: string, step: Step])[],
  run: (step: Step) => Promise<void>,
): Promise<void> {
  let failed: string | undefined;
  for (const [name, step] of steps) {
    await t.test(name, async () => {
      if (failed !== undefined) throw new Error(`not tried, since this failed before: ${failed}`);
      failed = name;
      await run(step);
      failed = undefined;
    });
  }
}

/** Some editors open as a dialog over the workbench, which would catch all clicks. */
export async function closeModalEditor(editor: ServedEditor): Promise<void> {
  const block = editor.page.locator(".monaco-modal-editor-block:visible");
  await editor.waitFor(async () => {
    if ((await block.count()) === 0) return true;
    await block
      .locator(".codicon-close")
      .last()
      .click({ timeout: 2000 })
      .catch(() => undefined); // it is on its way
    return false;
  }, "the editor over the workbench to close");
}

/** A process of the editor's server: itself, extension hosts, and what they started and did not detach. */
export interface EditorProcess {
  readonly pid: number;
  readonly command: string;
}

/** All processes below the editor's server, told by its folder. */
export function editorProcesses(editor: ServedEditor): readonly EditorProcess[] {
  const home = dirname(editor.server.scratch);
  const parents = new Map<number, number>();
  const commands = new Map<number, string>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
      commands.set(Number(name), readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      // It ended while it was looked at.
    }
  }
  const isOurs = (pid: number): boolean => {
    if (commands.get(pid)?.includes(`--user-data-dir ${home}/`) === true) return true;
    const parent = parents.get(pid);
    return parent !== undefined && parent > 1 && isOurs(parent);
  };
  return [...commands].filter(([pid]) => isOurs(pid)).map(([pid, command]) => ({ pid, command }));
}

/** Whether the very process is still there. */
export function isAlive({ pid, command }: EditorProcess): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") === command;
  } catch {
    return false;
  }
}
