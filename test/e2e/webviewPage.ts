import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { chromium, type Browser, type Page } from "playwright-core";
import type { ToPage } from "../../src/protocol/webview";

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
} as const;

/** The charts page in a plain browser, with VS Code's part played by the test. */
export class PlayedWebview {
  readonly page: Page;
  readonly #browser: Browser;
  /** What the page threw or complained of. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
  }

  static async open(theme: keyof typeof themes, size = { width: 1200, height: 900 }): Promise<PlayedWebview> {
    const browser = await chromium.launch({
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    const played = new PlayedWebview(browser, await browser.newPage({ viewport: size, timezoneId: "UTC" }));
    await played.#load(theme);
    return played;
  }

  async #load(theme: keyof typeof themes): Promise<void> {
    const [script, style] = await Promise.all([bundle(), readFile("media/charts.css", "utf8")]);
    const policy = "default-src 'none'; style-src 'self'; script-src 'nonce-played'";
    const html = `<!DOCTYPE html><html lang="en"><head><title>Charts</title>
      <meta http-equiv="Content-Security-Policy" content="${policy}"><link rel="stylesheet" href="/charts.css"></head>
      <body class="vscode-${theme}"><main id="page"></main>
      <script nonce="played" src="/played.js"></script><script nonce="played" src="/webview.js"></script></body></html>`;
    const editor = `globalThis.sent = []; globalThis.state = undefined;
      globalThis.acquireVsCodeApi = () => ({ postMessage: (m) => sent.push(m), setState: (s) => { state = s; } });`;
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

  async setTheme(theme: keyof typeof themes): Promise<void> {
    const font = { "--vscode-font-family": 'system-ui, "Ubuntu", "Droid Sans", sans-serif' };
    await this.#run(
      `({ theme, variables }) => {
        for (const [key, value] of Object.entries(variables)) document.documentElement.style.setProperty(key, value);
        document.body.className = "vscode-" + theme;
      }`,
      { theme, variables: { ...themes[theme], ...font } },
    );
  }

  /** Posts a message as the editor does. */
  async post(message: ToPage): Promise<void> {
    const samples = message.samples.map((s) => ({ ...s, times: [...s.times], values: [...s.values].map(String) }));
    await this.#run(
      `(message) => {
        const samples = message.samples.map((s) => ({
          ...s, times: Float64Array.from(s.times), values: Float64Array.from(s.values.map(Number)),
        }));
        window.postMessage({ ...message, samples }, "*");
      }`,
      { ...message, samples },
    );
  }

  /** Runs page code, given as text: this project's types know no DOM outside of the page's own folder. */
  async #run(code: string, argument: unknown): Promise<void> {
    await this.page.evaluate(`(${code})(${JSON.stringify(argument)})`);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
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
