import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Clock, Logger } from "./core/ports";
import type { OpenSessions } from "./core/openSessions";
import type { WorkspaceSessionFiles } from "./sessionFiles";

/** The id of the demo's session. */
export const demoSession = "demo:night";

/** Where the demo plays: over a real SSH server of its own on this machine, or in memory. */
export type DemoMode = "ssh" | "memory";

/** The demo night in this window, at most one at a time. */
export class DemoSession {
  readonly #context: { readonly clock: Clock; readonly logger: Logger; readonly isTrusted: () => boolean };
  readonly #open: OpenSessions;
  readonly #files: WorkspaceSessionFiles;
  #end: (() => Promise<void>) | undefined;

  constructor(
    context: { readonly clock: Clock; readonly logger: Logger; readonly isTrusted: () => boolean },
    open: OpenSessions,
    files: WorkspaceSessionFiles,
  ) {
    this.#context = context;
    this.#open = open;
    this.#files = files;
  }

  /** Opens the night from its beginning. Without a wish it plays over SSH where the machine can, else in memory. */
  async open(wish?: DemoMode): Promise<void> {
    await this.close();
    const { createDemo } = await import("./demo/demo");
    const folder = await mkdtemp(join(tmpdir(), "ml-session-demo-"));
    const mode = wish ?? (process.platform === "linux" && this.#context.isTrusted() ? "ssh" : "memory");
    const demo = await createDemo({ ...this.#context, mode, folder });
    this.#end = async () => {
      this.#open.close(demoSession);
      demo.dispose();
      await rm(folder, { recursive: true, force: true });
    };
    await this.#files.load(demoSession, vscode.Uri.file(demo.sessionFile), demo.connector);
    await this.#open.connect(demoSession, undefined, false);
    await demo.start();
    await vscode.commands.executeCommand("mlSession.stages.focus");
  }

  /** Ends the night: its server, its jobs, its folder. */
  async close(): Promise<void> {
    const end = this.#end;
    this.#end = undefined;
    await end?.();
  }
}
