import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { chromium, type Browser, type Page } from "playwright-core";
import type { PageEnd } from "../../src/views/charts/chartSurface";

/** What VS Code's own themes give a webview, as far as the charts use it. */
export const themes = {
  dark: {
    "--vscode-foreground": "#cccccc",
    "--vscode-descriptionForeground": "#9d9d9d",
    "--vscode-editor-background": "#1f1f1f",
    "--vscode-widget-border": "#313131",
    "--vscode-panel-border": "#2b2b2b",
    "--vscode-focusBorder": "#0078d4",
    "--vscode-toolbar-hoverBackground": "rgba(90, 93, 94, 0.31)",
    "--vscode-inputOption-activeBackground": "rgba(36, 137, 219, 0.51)",
    "--vscode-inputOption-activeBorder": "#2488db",
    "--vscode-inputOption-activeForeground": "#ffffff",
    "--vscode-editorHoverWidget-background": "#202020",
    "--vscode-editorHoverWidget-border": "#454545",
    "--vscode-charts-foreground": "#cccccc",
    "--vscode-charts-lines": "rgba(204, 204, 204, 0.15)",
    "--vscode-charts-red": "#f14c4c",
    "--vscode-charts-blue": "#3794ff",
    "--vscode-charts-yellow": "#cca700",
    "--vscode-charts-orange": "#d18616",
    "--vscode-charts-green": "#89d185",
    "--vscode-charts-purple": "#b180d7",
    "--vscode-terminal-ansiCyan": "#11a8cd",
    "--vscode-terminal-ansiMagenta": "#bc3fbc",
  },
  light: {
    "--vscode-foreground": "#3b3b3b",
    "--vscode-descriptionForeground": "#5f5f5f",
    "--vscode-editor-background": "#ffffff",
    "--vscode-widget-border": "#e5e5e5",
    "--vscode-panel-border": "#e5e5e5",
    "--vscode-focusBorder": "#005fb8",
    "--vscode-toolbar-hoverBackground": "rgba(184, 184, 184, 0.31)",
    "--vscode-inputOption-activeBackground": "#bed6ed",
    "--vscode-inputOption-activeBorder": "#005fb8",
    "--vscode-inputOption-activeForeground": "#000000",
    "--vscode-editorHoverWidget-background": "#f8f8f8",
    "--vscode-editorHoverWidget-border": "#c8c8c8",
    "--vscode-charts-foreground": "#3b3b3b",
    "--vscode-charts-lines": "rgba(59, 59, 59, 0.15)",
    "--vscode-charts-red": "#e51400",
    "--vscode-charts-blue": "#0063d3",
    "--vscode-charts-yellow": "#bf8803",
    "--vscode-charts-orange": "#d18616",
    "--vscode-charts-green": "#388a34",
    "--vscode-charts-purple": "#652d90",
    "--vscode-terminal-ansiCyan": "#0598bc",
    "--vscode-terminal-ansiMagenta": "#bc05bc",
  },
  // The two high-contrast themes: VS Code's body classes, and what differs in its variables.
  "high-contrast": {
    "--vscode-foreground": "#ffffff",
    "--vscode-descriptionForeground": "rgba(255, 255, 255, 0.7)",
    "--vscode-editor-background": "#000000",
    "--vscode-panel-border": "#6fc3df",
    "--vscode-contrastBorder": "#6fc3df",
    "--vscode-contrastActiveBorder": "#f38518",
    "--vscode-widget-border": "#6fc3df",
    "--vscode-focusBorder": "#f38518",
    "--vscode-toolbar-hoverOutline": "#f38518",
    "--vscode-inputOption-activeBackground": "rgba(0, 0, 0, 0)",
    "--vscode-inputOption-activeBorder": "#f38518",
    "--vscode-inputOption-activeForeground": "#ffffff",
    "--vscode-editorHoverWidget-background": "#0c141f",
    "--vscode-editorHoverWidget-foreground": "#ffffff",
    "--vscode-charts-foreground": "#ffffff",
    "--vscode-charts-red": "#f48771",
    "--vscode-charts-blue": "#3794ff",
    "--vscode-charts-yellow": "#ffd370",
    "--vscode-charts-orange": "#d18616",
    "--vscode-charts-green": "#89d185",
    "--vscode-charts-purple": "#b180d7",
    "--vscode-terminal-ansiCyan": "#00cdcd",
    "--vscode-terminal-ansiMagenta": "#cd00cd",
  },
  "high-contrast-light": {
    "--vscode-foreground": "#292929",
    "--vscode-descriptionForeground": "rgba(41, 41, 41, 0.8)",
    "--vscode-editor-background": "#ffffff",
    "--vscode-panel-border": "#0f4a85",
    "--vscode-contrastBorder": "#0f4a85",
    "--vscode-contrastActiveBorder": "#006bbd",
    "--vscode-widget-border": "#0f4a85",
    "--vscode-focusBorder": "#006bbd",
    "--vscode-toolbar-hoverOutline": "#006bbd",
    "--vscode-inputOption-activeBackground": "rgba(0, 0, 0, 0)",
    "--vscode-inputOption-activeBorder": "#006bbd",
    "--vscode-inputOption-activeForeground": "#292929",
    "--vscode-editorHoverWidget-background": "#ffffff",
    "--vscode-editorHoverWidget-foreground": "#292929",
    "--vscode-charts-foreground": "#292929",
    "--vscode-charts-red": "#b5200d",
    "--vscode-charts-blue": "#0063d3",
    "--vscode-charts-yellow": "#895503",
    "--vscode-charts-orange": "#d18616",
    "--vscode-charts-green": "#374e06",
    "--vscode-charts-purple": "#652d90",
    "--vscode-terminal-ansiCyan": "#0598bc",
    "--vscode-terminal-ansiMagenta": "#bc05bc",
  },
} as const;

export type PlayedTheme = keyof typeof themes;

/** The classes that VS Code gives the body; the light high-contrast theme carries both. */
function bodyClass(theme: PlayedTheme): string {
  return theme === "high-contrast-light" ? "vscode-high-contrast vscode-high-contrast-light" : `vscode-${theme}`;
}

/** The charts page in a plain browser, with VS Code's part played by the test. */
export class PlayedWebview {
  readonly page: Page;
  /** What the page threw or complained of. */
  readonly complaints: string[] = [];
  /** All that the editor posted, as text. */
  readonly posted: string[] = [];
  /** While there is a list, what is posted that way waits in it, as on a busy machine. */
  readonly waiting: { toPage?: unknown[] | undefined; toEditor?: string[] | undefined } = {};
  readonly #heard: string[] = [];
  #listener: ((message: unknown) => void) | undefined;

  private constructor(page: Page) {
    this.page = page;
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
  }

  /** @param kept the state that the page kept when it was there before */
  static async open(theme: PlayedTheme, size = { width: 1200, height: 900 }, kept?: unknown): Promise<PlayedWebview> {
    browser ??= chromium.launch({
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    const page = await (await browser).newPage({ viewport: size, timezoneId: "UTC" });
    const played = new PlayedWebview(page);
    await played.#load(theme, kept);
    return played;
  }

  async #load(theme: PlayedTheme, kept: unknown): Promise<void> {
    const [script, style] = await Promise.all([bundle(), readFile("media/charts.css", "utf8")]);
    const policy = "default-src 'none'; style-src 'self'; script-src 'nonce-played'";
    const html = `<!DOCTYPE html><html lang="en"><head><title>Charts</title>
      <meta http-equiv="Content-Security-Policy" content="${policy}"><link rel="stylesheet" href="/charts.css"></head>
      <body class="${bodyClass(theme)}"><main id="page"></main>
      <script nonce="played" src="/played.js"></script><script nonce="played" src="/webview.js"></script></body></html>`;
    await this.page.exposeFunction("toEditor", (message: string) => {
      if (this.waiting.toEditor) this.waiting.toEditor.push(message);
      else this.hear(message);
    });
    const editor = `globalThis.sent = []; globalThis.state = ${JSON.stringify(kept ?? null)} ?? undefined;
      const packed = (_, part) => part instanceof Uint8Array ? { bytes: btoa(Array.from(part, (b) => String.fromCharCode(b)).join("")) } : part;
      globalThis.acquireVsCodeApi = () => ({
        postMessage: (m) => { sent.push(m); toEditor(JSON.stringify(m, packed)); },
        setState: (s) => { state = structuredClone(s); }, getState: () => state,
      });`;
    const files: Readonly<Record<string, readonly [string, string]>> = {
      "/": ["text/html", html],
      "/charts.css": ["text/css", style],
      "/played.js": ["text/javascript", editor],
      "/webview.js": ["text/javascript", script],
    };
    await this.page.route("http://page.test/**", async (route) => {
      const found = files[new URL(route.request().url()).pathname];
      await route.fulfill(found ? { contentType: found[0], body: found[1] } : { status: 204 });
    });
    await this.page.goto("http://page.test/");
    await this.setTheme(theme);
  }

  async setTheme(theme: PlayedTheme): Promise<void> {
    const font = { "--vscode-font-family": 'system-ui, "Ubuntu", "Droid Sans", sans-serif' };
    await this.#run(
      `({ theme, variables }) => {
        for (const [key, value] of Object.entries(variables)) document.documentElement.style.setProperty(key, value);
        document.body.className = theme;
        document.body.style.background = variables["--vscode-editor-background"];
      }`,
      { theme: bodyClass(theme), variables: { ...themes[theme], ...font } },
    );
  }

  /** The editor's end of the page, as the extension sees it. */
  get webview(): PageEnd {
    return {
      postMessage: async (message: unknown) => {
        if (this.waiting.toPage) this.waiting.toPage.push(message);
        else await this.post(message).catch(() => undefined); // the page was closed
        return true;
      },
      onDidReceiveMessage: (listener: (message: unknown) => void) => {
        this.#listener = listener;
        for (const message of this.#heard) listener(unpacked(message));
        return { dispose: () => (this.#listener = undefined) };
      },
    };
  }

  /** The editor gets what the page has posted. */
  hear(message: string): void {
    this.#heard.push(message);
    this.#listener?.(unpacked(message));
  }

  /** Posts a message as the editor does. */
  async post(message: unknown): Promise<void> {
    const text = JSON.stringify(message, (_, part: unknown) => {
      if (!(part instanceof Float64Array || part instanceof Float32Array)) return part;
      return { array: part.constructor.name, bytes: Buffer.from(part.buffer).toString("base64") };
    });
    this.posted.push(text);
    await this.#run(
      `(text) => {
        const unpacked = (_, part) => part?.array === undefined ? part
          : new globalThis[part.array](Uint8Array.from(atob(part.bytes), (c) => c.charCodeAt(0)).buffer);
        window.postMessage(JSON.parse(text, unpacked), "*");
      }`,
      text,
    );
  }

  /** Runs page code, given as text: this project's types know no DOM outside of the page's own folder. */
  async #run(code: string, argument: unknown): Promise<void> {
    await this.page.evaluate(`(${code})(${JSON.stringify(argument)})`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** One browser does for all pages of a test file. */
let browser: Promise<Browser> | undefined;

/** Ends the browser, once all pages were closed. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ["src/webview/main.ts"],
    bundle: true,
    write: false,
    platform: "browser",
    target: "es2022",
    format: "iife",
  });
  return outputFiles[0]?.text ?? "";
}

function unpacked(message: string): unknown {
  return JSON.parse(message, (_, part: unknown) =>
    typeof part === "object" && part !== null && "bytes" in part && typeof part.bytes === "string"
      ? new Uint8Array(Buffer.from(part.bytes, "base64"))
      : part,
  );
}
