import * as vscode from "vscode";
import type { SessionFiles } from "./commands/shared/context";
import { combine, type Disposable } from "./core/lifecycle";
import type { HostConnector, Logger } from "./core/ports";
import type { OpenSessions } from "./core/openSessions";
import type { Cure } from "./core/session/cure";
import type { SessionDefinition } from "./core/session/definition";

const pattern = "**/{ml-session,ml-session.local}.yaml";
/** More files than this in one window are no workspace of somebody's, but a checkout of fixtures. */
const mostFiles = 50;

interface FileBehind {
  readonly uri: vscode.Uri;
  readonly connector: HostConnector;
  readonly lastGood?: SessionDefinition;
}

/** Opens the workspace's session files as sessions, and keeps them in step with what is saved. */
export class WorkspaceSessionFiles implements SessionFiles, Disposable {
  readonly #open: OpenSessions;
  readonly #connector: HostConnector;
  readonly #logger: Logger;
  readonly #onOpened: (session: string) => void;
  readonly #watching: Disposable;
  /** Session id → the file behind it, what connects its hosts, and what the file said when it could last be read. */
  readonly #behind = new Map<string, FileBehind>();

  constructor(
    open: OpenSessions,
    connector: HostConnector,
    logger: Logger,
    /** Hears of each session that was not open before. */
    onOpened: (session: string) => void,
  ) {
    this.#open = open;
    this.#connector = connector;
    this.#logger = logger;
    this.#onOpened = onOpened;
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const load = (uri: vscode.Uri): void => void this.load(uri.toString(), uri, this.#connector);
    this.#watching = combine(
      watcher,
      watcher.onDidCreate(load),
      watcher.onDidChange(load),
      // The demo's file lies outside the workspace, where the watcher sees nothing.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (vscode.workspace.getWorkspaceFolder(uri)) return;
        for (const [id, file] of this.#behind)
          if (file.uri.toString() === uri.toString()) void this.load(id, uri, file.connector);
      }),
      watcher.onDidDelete((uri) => {
        this.#behind.delete(uri.toString());
        this.#open.close(uri.toString());
      }),
    );
  }

  /** Opens all session files of the workspace's folders. */
  async loadAll(): Promise<number> {
    const found = await vscode.workspace.findFiles(pattern, "**/{node_modules,.git}/**", mostFiles);
    await Promise.all(found.map((uri) => this.load(uri.toString(), uri, this.#connector)));
    return found.length;
  }

  /**
   * Takes the file as it is saved into the picture. One that says nothing usable, or has a syntax error behind which
   * stages are missing or are something else, leaves the old picture standing; nothing is started from it then, since
   * it is no longer what the file means.
   */
  async load(id: string, uri: vscode.Uri, connector: HostConnector): Promise<void> {
    const lastGood = this.#behind.get(id)?.lastGood;
    this.#behind.set(id, { uri, connector, ...(lastGood && { lastGood }) });
    try {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      const { parseSessionFile } = await import("./core/session/sessionFile");
      const { definition: read, problems } = parseSessionFile(text);
      for (const { severity, message } of problems) this.#logger.debug(`${id}: ${severity}: ${message}`);
      const garbled = !read || problems.some(({ code }) => code === "syntax");
      const definition = garbled && lastGood ? notToStart(lastGood) : read;
      if (!definition) return;
      if (!garbled) this.#behind.set(id, { uri, connector, lastGood: definition });
      const isNew = !this.#open.has(id);
      this.#open.open(id, definition, connector);
      if (isNew) this.#onOpened(id);
    } catch (error) {
      this.#logger.error(`${id} could not be read`, error);
    }
  }

  async mend(session: string, stage: string, cure: Cure): Promise<boolean> {
    const { replaceProgram } = await import("./core/session/sessionEdit");
    return this.#edit(session, (text) => replaceProgram(text, stage, cure.program, cure.replacement));
  }

  async addToHost(session: string, host: string, key: "path" | "setup", value: string): Promise<boolean> {
    const { addToHost } = await import("./core/session/sessionEdit");
    return this.#edit(session, (text) => addToHost(text, host, key, value));
  }

  /** One edit that can be undone, saved and taken into the picture; false, and nothing changed, where there is none. */
  async #edit(session: string, change: (text: string) => string | undefined): Promise<boolean> {
    const behind = this.#behind.get(session);
    if (!behind) return false;
    const { uri, connector } = behind;
    const document = await vscode.workspace.openTextDocument(uri);
    const before = document.getText();
    const after = change(before);
    if (after === undefined) return false;
    if (after !== before) {
      const edit = new vscode.WorkspaceEdit();
      edit.replace(uri, new vscode.Range(document.positionAt(0), document.positionAt(before.length)), after);
      if (!(await vscode.workspace.applyEdit(edit)) || !(await saved(document))) return false;
    }
    await this.load(session, uri, connector);
    return true;
  }

  async show(session: string, offset?: number): Promise<void> {
    const uri = this.#behind.get(session)?.uri;
    if (!uri) return;
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.positionAt(offset ?? 0);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
  }

  dispose(): void {
    this.#watching.dispose();
  }
}

/** An automatic save at the same moment can get in the way: then it is saved already, or at the second try. */
async function saved(document: vscode.TextDocument): Promise<boolean> {
  return (await document.save()) || !document.isDirty || document.save();
}

/** The same stages to look at, none to launch. */
function notToStart(definition: SessionDefinition): SessionDefinition {
  const why = "the session file cannot be read as it was saved last";
  const stages = [...definition.stages].map(
    ([name, stage]) => [name, { ...stage, unsupported: [...stage.unsupported, why] }] as const,
  );
  return { ...definition, stages: new Map(stages) };
}
