import * as vscode from "vscode";
import { messageOf } from "./core/errors";
import type { Logger } from "./core/ports";
import { readSettings } from "./settings";

/** Starts the language server when the first document it serves is seen; its client is loaded no sooner. */
export class LanguageSide {
  readonly #serverModule: string;
  readonly #output: vscode.LogOutputChannel;
  readonly #logger: Logger;
  #client: Promise<{ stop(): Promise<void> }> | undefined;

  constructor(serverModule: string, output: vscode.LogOutputChannel, logger: Logger) {
    this.#serverModule = serverModule;
    this.#output = output;
    this.#logger = logger;
  }

  /** Looks at the documents that are open, and at those that will be. */
  watchDocuments(): vscode.Disposable {
    const look = (document: vscode.TextDocument): void => {
      if (isServed(document)) this.wake();
    };
    vscode.workspace.textDocuments.forEach(look);
    return vscode.workspace.onDidOpenTextDocument(look);
  }

  /** Starts the server if it is not running. */
  wake(): void {
    this.#client ??= this.#start();
    this.#client.catch((error: unknown) => {
      this.#logger.error(`The language server did not start: ${messageOf(error)}`, error);
    });
  }

  async stop(): Promise<void> {
    const client = await this.#client?.catch(() => undefined); // that it did not start was logged
    await client?.stop();
  }

  async #start(): Promise<{ stop(): Promise<void> }> {
    const { startLanguageClient } = await import("./client/languageClient");
    const { logDiagnostics } = readSettings();
    return startLanguageClient({ serverModule: this.#serverModule, output: this.#output, logDiagnostics });
  }
}

function isServed(document: vscode.TextDocument): boolean {
  const { scheme } = document.uri;
  if (scheme !== "file" && scheme !== "vscode-remote" && scheme !== "untitled") return false;
  return document.languageId === "log" || /\/ml-session(\.local)?\.yaml$/.test(document.uri.path);
}
