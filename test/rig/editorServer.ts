// VS Code's own server as a process of a test: a free port, folders of its own, gone afterwards whatever happens.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type EditorVersion, ensureEditor, newest } from "../../scripts/editor.mjs";

export interface ServerOptions {
  readonly version?: EditorVersion;
  /** Without trust the folder opens in Restricted Mode and asks. Default: trusted. */
  readonly trusted?: boolean;
  /** The folder of a built extension; what a package would hold of it is installed as a copy. */
  readonly extension?: string;
  /** A packaged extension to install before the start. */
  readonly vsix?: string;
  /**
   * The editor's own test mode: takes development and test paths from the address, and shows no toasts. Off by default,
   * since a person sees toasts.
   */
  readonly driver?: boolean;
  /** Over the settings that keep an editor quiet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Over this process's own, for the server and the extension host; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface EditorServer {
  /** Ends in no slash. */
  readonly origin: string;
  /** `host:port`, the authority of what lies on the server. */
  readonly authority: string;
  /** Empty at the start and removed with the server. */
  readonly scratch: string;
  /** The end of what the server printed. */
  output(): string;
  stop(): Promise<void>;
}

/** Settings that keep the editor from talking about itself; the theme follows the browser's colour scheme. */
const quiet = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "window.autoDetectColorScheme": true,
  "window.menuBarVisibility": "compact",
  "chat.disableAIFeatures": true,
  "git.enabled": false,
  // What a command does to the focus comes late on a busy machine, and would close the palette of the next command.
  "workbench.quickOpen.closeOnFocusLost": false,
  "security.workspace.trust.startupPrompt": "always",
};

const running = new Set<{ readonly child: ChildProcess; readonly home: string }>();

/** The whole group goes: extension hosts and what they started included. */
function endNow({ child, home }: { readonly child: ChildProcess; readonly home: string }): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

let watching = false;
function watchOwnEnd(): void {
  if (watching) return;
  watching = true;
  process.on("exit", () => {
    for (const server of running) endNow(server);
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => process.exit(130));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("No free port.");
  return address.port;
}

/** Starts the editor's server and returns once it answers. */
export async function startEditorServer(options: ServerOptions = {}): Promise<EditorServer> {
  const { node, serverMain } = await ensureEditor(options.version ?? newest);
  watchOwnEnd();
  // A short path: sockets in it may have 107 characters at most.
  const home = await mkdtemp(join(tmpdir(), "mls-"));
  const settings = JSON.stringify({ ...quiet, ...options.settings });
  for (const folder of ["user/User", "user/Machine", "server", "extensions", "scratch"]) {
    await mkdir(join(home, folder), { recursive: true });
  }
  await writeFile(join(home, "user/User/settings.json"), settings);
  await writeFile(join(home, "user/Machine/settings.json"), settings);

  const folders = ["--server-data-dir", `${home}/server`, "--user-data-dir", `${home}/user`];
  folders.push("--extensions-dir", `${home}/extensions`, "--disable-telemetry");
  const env = { ...process.env, VSCODE_CLI: "1", ...options.env };
  const start = (args: readonly string[]): ChildProcess =>
    spawn(node, [serverMain, ...folders, ...args], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });

  if (options.extension !== undefined) await installCopy(options.extension, `${home}/extensions`);
  if (options.vsix !== undefined) {
    await toItsEnd(start(["--install-extension", options.vsix, "--force"]), "Installing the packaged extension");
  }
  const port = await freePort();
  const args = ["--host", "127.0.0.1", "--port", `${port}`, "--without-connection-token"];
  args.push("--accept-server-license-terms", "--force-disable-user-env");
  if (options.driver === true) args.push("--enable-smoke-test-driver");
  if (options.trusted !== false) args.push("--disable-workspace-trust");
  const child = start(args);
  const handle = { child, home };
  running.add(handle);
  const output = keepOutput(child);
  const stop = async (): Promise<void> => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, "exit");
    if (child.pid !== undefined && ended !== undefined) process.kill(-child.pid, "SIGKILL");
    await ended;
    endNow(handle);
    running.delete(handle);
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await answers(origin, child, output);
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin, authority: `127.0.0.1:${port}`, scratch: join(home, "scratch"), output, stop };
}

async function installCopy(extension: string, folder: string): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(join(extension, "package.json"), "utf8"));
  const { publisher, name, version } = manifest as { publisher: string; name: string; version: string };
  await cp(extension, join(folder, `${publisher}.${name}-${version}`), {
    recursive: true,
    filter: (path) => packaged.test(relative(extension, path)),
  });
}

/** As .vscodeignore lets through; a file in the folder itself counts for extensions that tests make up. */
const packaged = /^$|^(dist|media|schemas|l10n)(\/|$)|^[^/]+\.(js|json|md|txt)$/;

function keepOutput(child: ChildProcess): () => string {
  let text = "";
  const keep = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-20_000);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return () => text;
}

async function toItsEnd(child: ChildProcess, what: string): Promise<void> {
  const output = keepOutput(child);
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`${what} failed:\n${output()}`);
}

async function answers(origin: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The editor's server ended with ${child.exitCode}:\n${output()}`);
    const response = await fetch(`${origin}/version`).catch(() => undefined);
    if (response?.ok === true) return;
    if (performance.now() > deadline) throw new Error(`The editor's server does not answer:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
