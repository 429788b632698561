// What a person does in the workbench besides what the rig offers: dialogs, rows and their buttons.
import { readFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import type { Locator } from "playwright-core";
import type { ServedEditor } from "../rig/servedEditor";

const box = ".monaco-dialog-box";

/** All words of the modal dialog; undefined if none is open. */
export async function dialog(editor: ServedEditor): Promise<string | undefined> {
  const texts = await editor.page.locator(`${box} .dialog-message-row`).allInnerTexts();
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** Waits for a modal dialog that holds these words. */
export async function asked(editor: ServedEditor, words: RegExp): Promise<string> {
  return editor.waitFor(
    async () => {
      const text = await dialog(editor);
      return text !== undefined && words.test(text) && text;
    },
    `a dialog with ${words.source}`,
    180_000,
  );
}

/** Answers the modal dialog and waits until it is gone. */
export async function answer(editor: ServedEditor, button: string): Promise<void> {
  const shown = await dialog(editor);
  await editor.page.locator(`${box} .monaco-button`, { hasText: new RegExp(`^${button}$`) }).click();
  await editor.waitFor(async () => (await dialog(editor)) !== shown, `the dialog to go after ${button}`);
}

/** What a row says beside its name; of a watched log, which names its session too, the log. Undefined without it. */
export async function said(editor: ServedEditor, view: string, label: string): Promise<string | undefined> {
  const rows = await editor.treeRows(view);
  return rows.findLast((row) => row.label === label)?.description;
}

/** Waits until a row of the Stages view says something. */
export async function says(editor: ServedEditor, label: string, words: RegExp, timeout = 90_000): Promise<string> {
  let last: string | undefined;
  try {
    return await editor.waitFor(
      async () => {
        last = await said(editor, "Stages", label);
        return last !== undefined && words.test(last) && last;
      },
      `${label} to say ${words.source}`,
      timeout,
    );
  } catch (error) {
    const messages = await editor.notifications();
    const context = `It said last: ${last ?? "nothing"}. Messages: ${messages.join(" | ")}`;
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

/** Presses a button that a row of the Stages view shows under the mouse. */
export async function pressOnRow(editor: ServedEditor, label: string, button: string): Promise<void> {
  await row(editor, label).hover();
  await row(editor, label).locator(`.action-label[aria-label^="${button}"]`).first().click();
}

/** Types into the open input box, and waits until it is taken. */
export async function typeIn(editor: ServedEditor, title: string, text: string): Promise<void> {
  const widget = editor.page.locator(".quick-input-widget:visible", { hasText: title });
  await widget.locator("input[type=text]").first().fill(text);
  await editor.page.keyboard.press("Enter");
  await widget.waitFor({ state: "hidden" });
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
