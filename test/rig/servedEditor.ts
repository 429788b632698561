// The real VS Code in a real browser, with the hands and eyes that a test needs.
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Browser, type FrameLocator, type Locator, type Page, chromium } from "playwright-core";
import { ensureChromium } from "../../scripts/setup.mjs";
import { type EditorServer, type ServerOptions, startEditorServer } from "./editorServer";

export interface EditorOptions extends ServerOptions {
  /** An extension opened as one in development; needs `driver`. */
  readonly extensionDevelopmentPath?: string;
  /** A module with `run()`, executed in the extension host; needs `driver`. */
  readonly extensionTestsPath?: string;
  /** The folder that is open. Default: an empty one. */
  readonly folder?: string;
  readonly theme?: Theme;
  /** Where screenshots go. Default: out/screenshots. */
  readonly screenshots?: string;
  /** Hears what the suite of `extensionTestsPath` prints, and its exit code. */
  readonly onSuite?: { readonly log: (line: string) => void; readonly exit: (code: number) => void };
}

export type Theme = "dark" | "light";

export interface TreeRow {
  readonly label: string;
  readonly description: string;
  /** What a screen reader is told. */
  readonly spoken: string;
  /** 1 for the outermost. */
  readonly level: number;
}

/** What is read of a row in the page; the DOM's own types are not part of a Node program. */
interface RowElement {
  readonly style: { readonly top: string };
  getAttribute(name: string): string | null;
  querySelector(selector: string): { readonly textContent: string | null } | null;
}

const patience = 60_000;
const switches = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check"];
switches.push("--disable-background-networking", "--disable-component-update", "--disable-sync");

/** Toasts go away by themselves, on a busy machine before a test has looked: in the page, keeps what each of them said. */
const keepMessages = `
  globalThis.toldMessages = [];
  new MutationObserver(() => {
    for (const one of document.querySelectorAll(".notification-toast .notification-list-item-message")) {
      const text = one.innerText.trim();
      if (text !== "" && !globalThis.toldMessages.includes(text)) globalThis.toldMessages.push(text);
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** What comes of an action, as far as it can be seen. */
export interface Effect<T> {
  readonly what: string;
  /** Undefined or false: not yet. */
  readonly seen: () => T | undefined | false | Promise<T | undefined | false>;
}

/** The address that opens the editor with this folder and extension. */
export function editorAddress(server: EditorServer, options: EditorOptions): string {
  const remote = (path: string): string => `vscode-remote://${server.authority}${resolve(path)}`;
  const payload: [string, string][] = [["skipWelcome", "true"]];
  const { extensionDevelopmentPath: extension, extensionTestsPath: tests } = options;
  if (extension !== undefined) payload.push(["extensionDevelopmentPath", remote(extension)]);
  if (tests !== undefined) payload.push(["extensionTestsPath", remote(tests)]);
  const query = new URLSearchParams({
    folder: resolve(options.folder ?? server.scratch),
    payload: JSON.stringify(payload),
  });
  return `${server.origin}/?${query.toString()}`;
}

/** Opens the editor, lets `use` work with it, and removes everything afterwards, also when `use` throws. */
export async function withEditor<T>(options: EditorOptions, use: (editor: ServedEditor) => Promise<T>): Promise<T> {
  const server = await startEditorServer(options);
  let browser: Browser | undefined;
  try {
    browser = await chromium.launch({ executablePath: await ensureChromium(), args: switches });
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      colorScheme: options.theme ?? "dark",
      reducedMotion: "reduce",
    });
    // A busy machine with two cores takes its time; what does not come at all is noticed soon enough.
    context.setDefaultTimeout(patience);
    context.setDefaultNavigationTimeout(2 * patience);
    const page = await context.newPage();
    const { onSuite } = options;
    if (onSuite !== undefined) {
      await page.exposeFunction("codeAutomationLog", (_type: string, args: readonly unknown[]) => {
        onSuite.log(args.map(String).join(" "));
      });
      await page.exposeFunction("codeAutomationExit", (code: number) => {
        onSuite.exit(code);
      });
    }
    await page.addInitScript(keepMessages);
    const editor = new ServedEditor(page, server, options.screenshots ?? "out/screenshots");
    await page.goto(editorAddress(server, options));
    await editor.ready();
    return await use(editor);
  } finally {
    await browser?.close();
    await server.stop();
  }
}

export class ServedEditor {
  constructor(
    readonly page: Page,
    readonly server: EditorServer,
    private readonly screenshots: string,
  ) {
    page.on("console", (message) => {
      this.consoleLines.push(message.text());
    });
  }

  private readonly consoleLines: string[] = [];

  /** What the editor and the extension host wrote to the developer console and holds this text. */
  complaints(about = "ml-session-monitor.ml-session-monitor"): string[] {
    return this.consoleLines.filter((line) => line.includes(about));
  }

  /** Until the workbench stands as it was left: a side bar that is brought back later could be hidden by a click on it. */
  async ready(): Promise<void> {
    await this.page
      .locator(".monaco-workbench .part.statusbar .statusbar-item")
      .first()
      .waitFor({ timeout: 2 * patience });
    const stands = "performance.getEntriesByName('code/didStartWorkbench').length > 0";
    await this.page.waitForFunction(stands, undefined, { timeout: 2 * patience });
  }

  /** Polls until the predicate is true; else says what was waited for. */
  async waitFor<T>(
    predicate: () => T | undefined | false | Promise<T | undefined | false>,
    what: string,
    timeout = patience,
  ): Promise<T> {
    const deadline = performance.now() + timeout;
    for (;;) {
      const value = await predicate();
      if (value !== undefined && value !== false) return value;
      if (performance.now() > deadline) {
        const picture = await this.screenshot(`timeout-${what.replace(/\W+/g, "-").slice(0, 60)}`).catch(() => "none");
        const stands = await this.whatStands();
        throw new Error(`Waited ${timeout / 1000} s in vain for ${what} (screenshot: ${picture}). ${stands}`);
      }
      await this.page.waitForTimeout(100);
    }
  }

  /** What the screen says and what went wrong, in words: a picture stays on the machine where it was made. */
  private async whatStands(): Promise<string> {
    const short = { timeout: 2000 };
    const parts: readonly [string, Promise<string>][] = [
      ["side bar", this.page.locator(".part.sidebar:visible").innerText(short)],
      ["dialog", this.page.locator(".monaco-dialog-box:visible").innerText(short)],
      ["tabs", this.page.locator(".tabs-container").first().innerText(short)],
      ["page", this.webviewFrame().locator("body").innerText(short)],
      ["console", Promise.resolve(this.consoleLines.slice(-5).join("\n"))],
      ["server", Promise.resolve(this.server.output().slice(-500))],
    ];
    const said = await Promise.all(parts.map(async ([name, text]) => [name, await text.catch(() => "none")] as const));
    return said.map(([name, text]) => `${name}: ${text.replace(/\s+/g, " ").slice(0, 600)}`).join(" | ");
  }

  /**
   * Does something until its effect is seen. A click may meet a row that is drawn anew between press and release, and a
   * key the wrong focus: then it is done again, but not while the product says that it is at work.
   * @param again after so many ms without effect
   */
  async perform<T>(act: () => Promise<void>, { what, seen }: Effect<T>, again = 20_000): Promise<T> {
    const deadline = performance.now() + 3 * patience;
    let tried = Number.NEGATIVE_INFINITY;
    let problem = "";
    const attempt = async (): Promise<void> => {
      if (performance.now() - tried < again || (tried > 0 && (await this.atWork()))) return;
      try {
        await act();
        problem = "";
      } catch (error) {
        problem = ` The last try: ${String(error)}`;
      }
      tried = performance.now();
    };
    await attempt();
    const seenOrAgain = async (): Promise<T | undefined | false> => {
      const value = await seen();
      if (value === undefined || value === false) await attempt();
      return value;
    };
    try {
      return await this.waitFor(seenOrAgain, what, deadline - performance.now());
    } catch (error) {
      throw new Error(`${String(error)}${problem} Messages: ${(await this.told()).join(" | ")}`, { cause: error });
    }
  }

  /** Whether the view says that something is under way. */
  private async atWork(): Promise<boolean> {
    return (await this.page.locator(".part.sidebar .monaco-progress-container.active").count()) > 0;
  }

  private get quickInput(): Locator {
    return this.page.locator(".quick-input-widget:visible");
  }

  private get quickRows(): Locator {
    return this.quickInput.locator(".quick-input-list .monaco-list-row");
  }

  /**
   * Runs a command by its title (`Category: Title`) as a person does, by keys in the command palette; returns once the
   * palette is gone, so that what the command asks is not taken for it.
   */
  async palette(title: string): Promise<void> {
    await this.waitFor(() => this.openPalette(title), `the command "${title}" in the palette`);
    await this.enter(this.quickRows.filter({ has: this.exactly(title) }), `the command "${title}"`, this.paletteInput);
  }

  /** Moves the focus of the open quick pick to the row and accepts it, until what tells that it is open is gone. */
  private async enter(row: Locator, what: string, open: Locator): Promise<void> {
    const focused = async (): Promise<boolean> => (await row.and(this.page.locator(".focused")).count()) > 0;
    // Keys go to the input, wherever the focus was drawn to meanwhile.
    const input = this.quickInput.locator("input[type=text]").first();
    const gone = async (): Promise<boolean> => (await open.count()) === 0;
    const act = async (): Promise<void> => {
      await this.waitFor(async () => {
        if ((await focused()) || (await gone())) return true;
        await input.press("ArrowDown", { timeout: 5000 });
        return focused();
      }, `the focus on ${what}`);
      if (!(await gone())) await input.press("Enter", { timeout: 5000 });
    };
    await this.perform(act, { what: `${what} to be taken`, seen: gone });
  }

  /** The input of the command palette; other questions have other words in theirs. */
  private get paletteInput(): Locator {
    return this.quickInput.locator('input[placeholder^="Type the name of a command"]');
  }

  /** The titles that the palette offers for a search. */
  async paletteTitles(search: string): Promise<string[]> {
    if (!(await this.openPalette(search))) await this.waitFor(() => this.fillPalette(search), "the palette");
    let last: string | undefined;
    const titles = await this.waitFor(async () => {
      const now = (await this.picks()).map(({ label }) => label);
      const same = last === JSON.stringify(now);
      last = JSON.stringify(now);
      return same && now;
    }, `the palette to have found all for ${search}`);
    await this.dismiss();
    return titles;
  }

  private async openPalette(search: string): Promise<boolean> {
    if (!(await this.fillPalette(search))) return false;
    try {
      await this.quickRows
        .filter({ has: this.exactly(search) })
        .first()
        .waitFor({ timeout: 5000 });
      return true;
    } catch {
      // It lists the commands that there were when it was opened: so it is opened anew.
      await this.page.keyboard.press("Escape");
      return false;
    }
  }

  private async fillPalette(search: string): Promise<boolean> {
    if ((await this.paletteInput.count()) === 0) await this.page.keyboard.press("F1");
    return this.paletteInput.fill(`>${search}`, { timeout: 5000 }).then(
      () => true,
      () => false,
    );
  }

  private exactly(text: string): Locator {
    return this.page.locator(".quick-input-list-label, .label-name", {
      hasText: new RegExp(`^\\s*${escape(text)}\\s*$`),
    });
  }

  /** What the open quick pick offers, top down. */
  async picks(): Promise<{ label: string; description: string; detail: string }[]> {
    const rows = await this.quickRows.all();
    const text = async (row: Locator, selector: string): Promise<string> =>
      (await row.locator(selector).allTextContents()).join("").trim();
    return Promise.all(
      rows.map(async (row) => ({
        label: await text(row, ".quick-input-list-row:first-of-type .label-name"),
        description: await text(row, ".label-description"),
        detail: await text(row, ".quick-input-list-label-meta"),
      })),
    );
  }

  /** Waits for the quick pick with this title and returns what it offers. */
  async asked(title: string): Promise<{ label: string; description: string; detail: string }[]> {
    return this.waitFor(async () => {
      const titles = await this.quickInput.locator(".quick-input-title").allInnerTexts();
      if (titles[0]?.trim() !== title) return undefined;
      const picks = await this.picks();
      return picks.length > 0 && picks;
    }, `the question "${title}"`);
  }

  /** Closes the open quick pick without an answer. */
  async dismiss(): Promise<void> {
    const escape = (): Promise<void> =>
      this.quickInput.locator("input[type=text]").first().press("Escape", { timeout: 5000 });
    const seen = async (): Promise<boolean> => (await this.quickInput.count()) === 0;
    await this.perform(escape, { what: "the quick pick to go", seen });
  }

  /** Answers the quick pick with this title by the entry that holds this text. */
  async answer(title: string, text: string): Promise<void> {
    await this.asked(title);
    const open = this.quickInput.locator(".quick-input-title", { hasText: new RegExp(`^\\s*${escape(title)}\\s*$`) });
    await this.enter(this.quickRows.filter({ hasText: text }).first(), `"${text}"`, open);
  }

  /** Shows a view container by the name on its activity bar icon. */
  async openView(container: string): Promise<void> {
    const icon = this.page.locator(`.activitybar .action-item:has(a[aria-label^="${container}"])`).first();
    await icon.waitFor();
    const title = this.page.locator(".sidebar .composite.title", { hasText: new RegExp(container, "i") }).first();
    const act = async (): Promise<void> => {
      if (!(await title.isVisible())) await icon.click({ timeout: 10_000 });
    };
    await this.perform(act, { what: `the view ${container}`, seen: () => title.isVisible() });
    // Away from the icon, whose hover would cover the rows.
    await this.page.mouse.move(720, 450);
  }

  /** Drags the edge of the side bar. */
  async widenSideBar(width: number): Promise<void> {
    const box = await this.page.locator(".part.sidebar").boundingBox();
    if (box === null) throw new Error("There is no side bar.");
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x + box.width, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + width, y, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(box.x + width + 200, y);
  }

  /** The number on the container's icon; undefined without one. */
  async badge(container: string): Promise<string | undefined> {
    const badge = this.page.locator(`.activitybar .action-item:has(a[aria-label^="${container}"]) .badge-content`);
    const texts = await badge.allTextContents();
    return texts.map((text) => text.trim()).find((text) => text !== "");
  }

  private pane(view: string): Locator {
    return this.page.locator(".pane", { has: this.page.locator(`.pane-header[aria-label^="${view}"]`) });
  }

  /** The rows of a tree view that are on the screen, top down; its pane is unfolded first. */
  async treeRows(view: string): Promise<TreeRow[]> {
    const header = this.pane(view).locator(".pane-header").first();
    if ((await header.count()) === 0) return [];
    if ((await header.getAttribute("aria-expanded")) === "false") await header.click();
    const read = (rows: readonly RowElement[]): (TreeRow & { top: number })[] =>
      rows.map((row) => ({
        top: Number.parseFloat(row.style.top),
        label: row.querySelector(".label-name")?.textContent?.trim() ?? "",
        description: row.querySelector(".label-description")?.textContent?.trim() ?? "",
        spoken: row.getAttribute("aria-label") ?? "",
        level: Number(row.getAttribute("aria-level") ?? "0"),
      }));
    const rows = await this.pane(view).locator(".monaco-list-row").evaluateAll(read);
    return rows.sort((a, b) => a.top - b.top);
  }

  /** The row of a tree view that holds this text. */
  treeRow(view: string, text: string | RegExp): Locator {
    return this.pane(view).locator(".monaco-list-row", { hasText: text }).first();
  }

  /** The welcome text of an empty view. */
  async welcome(view: string): Promise<string> {
    return (await this.pane(view).locator(".welcome-view-content").allInnerTexts()).join("\n").trim();
  }

  /** Texts of the status bar's items, left to right; icons are left out. */
  async statusBarText(): Promise<string[]> {
    const texts = await this.page.locator(".part.statusbar .statusbar-item").allInnerTexts();
    return texts.map((text) => text.trim()).filter((text) => text !== "");
  }

  /** Messages of the toasts on the screen. */
  async notifications(): Promise<string[]> {
    return this.page.locator(".notification-toast .notification-list-item-message").allInnerTexts();
  }

  /** What toasts have said since the page was opened or `forgetTold` was called, also those that are gone. */
  async told(): Promise<string[]> {
    return this.page.evaluate("globalThis.toldMessages ?? []");
  }

  /** Clears all notifications, and forgets what they said. */
  async forgetTold(): Promise<void> {
    await this.palette("Notifications: Clear All Notifications");
    await this.waitFor(async () => (await this.notifications()).length === 0, "no toast");
    await this.page.evaluate("globalThis.toldMessages.length = 0");
  }

  /** Opens the window anew, as the command does, and returns once the new one stands. */
  async reload(): Promise<void> {
    await this.page.evaluate("globalThis.isOldWindow = true");
    await this.palette("Developer: Reload Window");
    const isOld = (): Promise<boolean> => this.page.evaluate("globalThis.isOldWindow === true");
    await this.waitFor(async () => !(await isOld().catch(() => true)), "the new window", 2 * patience);
    await this.ready();
  }

  /** Presses a button of a toast or of a modal dialog. */
  async press(button: string): Promise<void> {
    const name = new RegExp(`^${escape(button)}$`);
    await this.page
      .locator(
        ".notification-toast .monaco-button, .monaco-dialog-box .monaco-button, .monaco-dialog-box .monaco-text-button",
      )
      .filter({ hasText: name })
      .first()
      .click();
  }

  /** Agrees to a modal dialog by its first button; false if none is open. */
  async confirm(): Promise<boolean> {
    const button = this.page
      .locator(".monaco-dialog-box .monaco-button, .monaco-dialog-box .monaco-text-button")
      .first();
    if ((await button.count()) === 0) return false;
    await button.click();
    return true;
  }

  /** Answers the trust dialog. */
  async trust(yes = true): Promise<void> {
    await this.press(yes ? "Yes, I trust the authors" : "No, I don't trust the authors");
  }

  /** The page inside the webview that was opened last. */
  webviewFrame(): FrameLocator {
    const outer = this.page.locator("iframe.webview.ready").last().contentFrame();
    return outer.frameLocator("#active-frame");
  }

  /** The editor's theme follows the browser's colour scheme. */
  async switchTheme(theme: Theme): Promise<void> {
    await this.page.emulateMedia({ colorScheme: theme });
    await this.page.locator(`.monaco-workbench.${theme === "dark" ? "vs-dark" : "vs"}`).waitFor();
    await this.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  /** Returns the picture's path. */
  async screenshot(name: string): Promise<string> {
    const path = join(this.screenshots, `${name}.png`);
    await mkdir(dirname(path), { recursive: true });
    // What fades in is shown as it will be.
    await this.page.screenshot({ animations: "disabled", path });
    return path;
  }
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
