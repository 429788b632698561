import * as vscode from "vscode";
import { combine, type Disposable } from "../../core/lifecycle";
import type { FailureReading } from "../../core/log/reading";
import type { Clock } from "../../core/ports";
import { failuresOf, logMarks, type LogMarks } from "../../core/session/logMarks";
import { logRefOf, remoteLogParts, remoteLogScheme, type LogRef, type RemoteLogs } from "../../core/session/remoteLogs";
import type { SessionReader } from "../../core/session/store";
import { LogDocuments, revealEnd } from "./documents";
import { FailureHelp, type CuresOf } from "./failureHelp";
import { LogPainting } from "./painting";

/** What remote log documents need. */
interface RemoteLogDeps {
  readonly logs: RemoteLogs;
  readonly sessions: SessionReader;
  readonly clock: Clock;
  readonly cures: CuresOf;
  /** The extension's own folder, for icons. */
  readonly extensionUri: vscode.Uri;
}

/** Opens logs as documents. */
interface RemoteLogView extends Disposable {
  /** Shows the log of a member (or of a service, whose member is `0`): at the line of a byte of the file, or at its end. */
  show(session: string, stage: string, member: string, offset?: number): Promise<void>;
}

/** Remote logs as read-only documents (`ml-session-log:`), with their failures marked by the store's own readings. */
export function registerRemoteLogs(deps: RemoteLogDeps): RemoteLogView {
  const { logs, sessions, clock, cures, extensionUri } = deps;
  const documents = new LogDocuments(logs, clock);
  const marksOf = (document: vscode.TextDocument): LogMarks => {
    const text = documents.shown(document.uri);
    return text ? logMarks(text, failuresIn(sessions, document)) : { failures: [], historyLines: 0 };
  };
  const painting = new LogPainting(vscode.Uri.joinPath(extensionUri, "media"));
  const help = new FailureHelp(marksOf, cures);
  const drawn = new Map<vscode.TextDocument, { version: number; failures: readonly FailureReading[]; cures: string }>();
  const curesIn = (document: vscode.TextDocument): string => {
    const ref = logRefOf(document.uri.query);
    return ref ? JSON.stringify(cures(ref.session, ref.stage, ref.member).map(({ title }) => title)) : "";
  };
  const update = (): void => {
    let changed = false;
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== remoteLogScheme) continue;
      const old = drawn.get(document);
      const now = { version: document.version, failures: failuresIn(sessions, document), cures: curesIn(document) };
      if (old?.version === now.version && old.failures === now.failures && old.cures === now.cures) continue;
      drawn.set(document, now);
      help.report(document, marksOf(document));
      changed = true;
    }
    if (changed) painting.paint(marksOf);
  };
  const parts = combine(
    documents,
    painting,
    help,
    sessions.onDidChange(update),
    vscode.workspace.onDidOpenTextDocument(update),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme === remoteLogScheme) update();
    }),
    vscode.workspace.onDidCloseTextDocument((document) => drawn.delete(document)),
    // A decoration goes with its editor: whoever comes into view is painted.
    vscode.window.onDidChangeVisibleTextEditors(() => {
      painting.paint(marksOf);
    }),
  );
  update();
  return {
    show: async (session, stage, member, offset) => {
      const uri = remoteLogUri({ session, stage, member }, sessions);
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      const line = offset === undefined ? undefined : documents.shown(document.uri)?.lineAt(offset);
      if (line === undefined) revealEnd(editor);
      else showLine(editor, line);
    },
    dispose: () => {
      parts.dispose();
    },
  };
}

function failuresIn(sessions: SessionReader, document: vscode.TextDocument): readonly FailureReading[] {
  const ref = logRefOf(document.uri.query);
  return ref ? failuresOf(sessions.sessions, ref) : [];
}

/** The address of a log's document; its tab says the stage, and the member where there are several. */
function remoteLogUri(ref: LogRef, { sessions }: SessionReader): vscode.Uri {
  const many = (sessions.get(ref.session)?.stages.get(ref.stage)?.members.length ?? 0) > 1;
  const label = many ? `${ref.stage} ${ref.member}` : ref.stage;
  return vscode.Uri.from({ scheme: remoteLogScheme, ...remoteLogParts(ref, label) });
}

function showLine(editor: vscode.TextEditor, line: number): void {
  const range = new vscode.Range(line, 0, line, 0);
  editor.selection = new vscode.Selection(range.start, range.end);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenter);
}
