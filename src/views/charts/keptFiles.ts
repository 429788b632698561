import * as vscode from "vscode";
import { messageOf } from "../../core/errors";
import { Emitter, type Disposable, type Event } from "../../core/lifecycle";
import type { Clock, Logger } from "../../core/ports";
import type { KeptCharts } from "../../core/session/chartOwners";
import { decodeCharts, encodeCharts } from "../../core/session/chartRecord";
import type { Session } from "../../core/session/model";
import type { SessionReader } from "../../core/session/store";

interface KeptDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The workspace's own folder in the extension's storage; undefined without a workspace: then nothing is kept. */
  readonly storageUri: vscode.Uri | undefined;
  /** A session whose charts begin anew each time. */
  readonly notKept: string;
}

const saveEveryMs = 30_000;
const nothing: KeptCharts = new Map();

/** What charts have seen of each session, kept over restarts of the editor: one bounded file a session. */
export class KeptFiles implements Disposable {
  readonly #deps: KeptDeps;
  readonly #folder: vscode.Uri | undefined;
  readonly #loads = new Emitter<undefined>();
  readonly #closing = new AbortController();
  readonly #listening: Disposable;
  /** Undefined while it is read. */
  readonly #kept = new Map<string, KeptCharts | undefined>();
  readonly #saved = new Map<string, Session>();

  constructor(deps: KeptDeps) {
    this.#deps = deps;
    this.#folder = deps.storageUri && vscode.Uri.joinPath(deps.storageUri, "charts");
    this.#listening = deps.sessions.onDidChange(() => {
      for (const id of deps.sessions.sessions.keys()) this.of(id);
    });
    this.#saveOnAndOn();
  }

  /** Fires when something was read. */
  readonly onDidLoad: Event<undefined> = (listener) => this.#loads.event(listener);

  /** What was kept of a session; nothing until it was read. */
  of(id: string): KeptCharts {
    if (this.#folder && id !== this.#deps.notKept && !this.#kept.has(id)) {
      this.#kept.set(id, undefined);
      void this.#load(id, this.#folder);
    }
    return this.#kept.get(id) ?? nothing;
  }

  /** Writes what has changed since the last time. */
  async save(): Promise<void> {
    if (!this.#folder) return;
    for (const [id, session] of this.#deps.sessions.sessions) {
      const kept = this.#kept.get(id);
      if (!kept || this.#saved.get(id) === session) continue;
      this.#saved.set(id, session);
      await this.#write(this.#folder, id, encodeCharts(session, kept, this.#deps.clock.now()));
    }
  }

  async #write(folder: vscode.Uri, id: string, bytes: Uint8Array): Promise<void> {
    try {
      const file = await fileOf(folder, id);
      const part = file.with({ path: `${file.path}.part` });
      await vscode.workspace.fs.writeFile(part, bytes);
      // A file that was not written to its end is never read.
      await vscode.workspace.fs.rename(part, file, { overwrite: true });
    } catch (error) {
      this.#deps.logger.warn(`Charts could not be kept: ${messageOf(error)}`);
    }
  }

  async #load(id: string, folder: vscode.Uri): Promise<void> {
    let kept = nothing;
    try {
      kept = decodeCharts(await vscode.workspace.fs.readFile(await fileOf(folder, id)));
    } catch (error) {
      if (!(error instanceof vscode.FileSystemError && error.code === "FileNotFound")) {
        // What cannot be read now is not written over.
        this.#deps.logger.warn(`Charts of before could not be read: ${messageOf(error)}`);
        return;
      }
    }
    this.#kept.set(id, kept);
    this.#loads.fire(undefined);
  }

  #saveOnAndOn(): void {
    // Rejected only when the window closes, which saves by itself.
    this.#deps.clock.sleep(saveEveryMs, this.#closing.signal).then(
      () =>
        this.save().then(() => {
          this.#saveOnAndOn();
        }),
      () => undefined,
    );
  }

  dispose(): void {
    this.#closing.abort();
    this.#listening.dispose();
    this.#loads.dispose();
  }
}

async function fileOf(folder: vscode.Uri, id: string): Promise<vscode.Uri> {
  const hash = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(id));
  const name = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return vscode.Uri.joinPath(folder, `${name.slice(0, 32)}.bin`);
}
