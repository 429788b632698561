import * as vscode from "vscode";
import { combine, toDisposable, type Disposable } from "../../core/lifecycle";
import type { Clock } from "../../core/ports";
import {
  logRefOf,
  remoteLogScheme,
  type LogRef,
  type RemoteLogs,
  type RemoteLogText,
} from "../../core/session/remoteLogs";

/** A document is drawn anew at most twice a second: faster is not read, and each time costs a comparison of all text. */
const paceMs = 500;
const nothingYet = "Nothing of this log has been read in this window yet. Connect to its host to see it.\n";

/** Remote logs as read-only documents that grow, and scroll along while their end is in view. */
export class LogDocuments implements vscode.TextDocumentContentProvider, Disposable {
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changes.event;
  readonly #logs: RemoteLogs;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #shown = new Map<string, { readonly uri: vscode.Uri; readonly ref: LogRef; text?: RemoteLogText }>();
  readonly #stale = new Set<string>();
  readonly #parts: Disposable;
  #pausing = false;

  constructor(logs: RemoteLogs, clock: Clock) {
    this.#logs = logs;
    this.#clock = clock;
    this.#parts = combine(
      vscode.workspace.registerTextDocumentContentProvider(remoteLogScheme, this),
      logs.onDidChange((ref) => {
        this.#markStale(ref);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.#shown.delete(document.uri.toString())),
      vscode.workspace.onDidChangeTextDocument(followEnd),
      this.#changes,
      toDisposable(() => {
        this.#closing.abort();
      }),
    );
  }

  /** The text that a document shows right now; the log itself may be ahead of it. */
  shown(uri: vscode.Uri): RemoteLogText | undefined {
    return this.#shown.get(uri.toString())?.text;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const ref = logRefOf(uri.query);
    if (!ref) return "This address does not name a log.\n";
    const text = this.#logs.text(ref.session, ref.stage, ref.member);
    this.#shown.set(uri.toString(), { uri, ref, ...(text && { text }) });
    return text?.text ?? nothingYet;
  }

  #markStale(changed: LogRef): void {
    for (const [key, { ref }] of this.#shown) if (sameLog(ref, changed)) this.#stale.add(key);
    if (this.#stale.size > 0 && !this.#pausing) this.#flush();
  }

  #flush(): void {
    const uris = [...this.#stale].flatMap((key) => this.#shown.get(key)?.uri ?? []);
    this.#stale.clear();
    for (const uri of uris) this.#changes.fire(uri);
    this.#pausing = true;
    const goOn = (): void => {
      this.#pausing = false;
      if (this.#stale.size > 0) this.#flush();
    };
    // Rejected only when this is disposed: then nothing is left to draw.
    this.#clock.sleep(paceMs, this.#closing.signal).then(goOn, () => undefined);
  }

  dispose(): void {
    this.#parts.dispose();
  }
}

function sameLog(a: LogRef, b: LogRef): boolean {
  return a.session === b.session && a.stage === b.stage && a.member === b.member;
}

/** Keeps the end in view where it was in view before the text grew. */
function followEnd({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
  if (document.uri.scheme !== remoteLogScheme) return;
  const added = contentChanges.reduce(
    (sum, change) => sum + linesIn(change.text) - (change.range.end.line - change.range.start.line),
    0,
  );
  const lastBefore = document.lineCount - added - 1;
  for (const editor of vscode.window.visibleTextEditors) {
    const seen = editor.visibleRanges.at(-1)?.end.line;
    if (editor.document === document && seen !== undefined && seen >= lastBefore - 1) revealEnd(editor);
  }
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

/** Scrolls to the last line. */
export function revealEnd(editor: vscode.TextEditor): void {
  const end = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(end, 0, end, 0));
}
