import * as vscode from "vscode";
import { combine, type Disposable } from "../../core/lifecycle";
import type { FailureReading } from "../../core/log/reading";
import type { LogMarks } from "../../core/session/logMarks";
import { adviceMarkdown, plainLine } from "../../core/session/markdown";
import { logRefOf, remoteLogScheme } from "../../core/session/remoteLogs";

/** A change that was seen to help, as a command to run. */
interface OfferedCure {
  readonly title: string;
  readonly command: string;
  readonly arguments: readonly unknown[];
}

/** The cures of a member's failure, the best first. */
export type CuresOf = (session: string, stage: string, member: string) => readonly OfferedCure[];

const source = "ML Session";
const selector: vscode.DocumentSelector = { scheme: remoteLogScheme };

/**
 * Cause and remedy at the failing line: on hover, in the Problems panel, as a quick fix there, and as a code lens, since
 * VS Code offers no quick fixes inside a read-only editor.
 */
export class FailureHelp implements Disposable {
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #problems = vscode.languages.createDiagnosticCollection("ml-session-log");
  readonly #parts: Disposable;

  constructor(marksOf: (document: vscode.TextDocument) => LogMarks, curesOf: CuresOf) {
    this.#parts = combine(
      this.#problems,
      vscode.languages.registerHoverProvider(selector, {
        provideHover: (document, { line }) => {
          const marked = marksOf(document).failures.filter((mark) => mark.line === line);
          if (marked.length === 0) return undefined;
          return new vscode.Hover(marked.map(({ failure }) => explanation(failure)));
        },
      }),
      vscode.languages.registerCodeActionsProvider(
        selector,
        { provideCodeActions: (document, _range, context) => actions(document, context, curesOf) },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
      this.#lensesChanged,
      vscode.languages.registerCodeLensProvider(selector, {
        onDidChangeCodeLenses: this.#lensesChanged.event,
        provideCodeLenses: (document) => lenses(document, marksOf(document), curesOf),
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.#problems.delete(document.uri);
      }),
    );
  }

  /** Brings the Problems panel and the offered cures up to date for one open log. */
  report(document: vscode.TextDocument, marks: LogMarks): void {
    this.#problems.set(
      document.uri,
      marks.failures
        .filter(({ line }) => line < document.lineCount)
        .map(({ line, failure }) => problem(document.lineAt(line).range, failure)),
    );
    this.#lensesChanged.fire();
  }

  dispose(): void {
    this.#parts.dispose();
  }
}

function problem(range: vscode.Range, failure: FailureReading): vscode.Diagnostic {
  const severity = failure.severity === "error" ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const diagnostic = new vscode.Diagnostic(range, plainLine(failure.cause), severity);
  diagnostic.source = source;
  diagnostic.code = failure.failure;
  return diagnostic;
}

/** What the problem, which the editor shows above it, does not say. Not trusted: the words may quote the host. */
function explanation(failure: FailureReading): vscode.MarkdownString {
  const again = failure.permanent ? "Trying again without a change cannot help." : "It may pass when tried again.";
  return new vscode.MarkdownString(`**What helps:** ${adviceMarkdown(failure.remedy)}\n\n${again}`);
}

/** The best cures, above the failure that came last. */
function lenses(document: vscode.TextDocument, { failures }: LogMarks, curesOf: CuresOf): vscode.CodeLens[] {
  const ref = logRefOf(document.uri.query);
  const last = failures.filter(({ failure }) => failure.severity === "error").at(-1);
  if (!ref || !last) return [];
  const range = new vscode.Range(last.line, 0, last.line, 0);
  return curesOf(ref.session, ref.stage, ref.member)
    .slice(0, 2)
    .map(({ title, command, arguments: more }) => {
      // The title of a lens may hold icons.
      const plain = plainLine(title).replaceAll("$(", "$ (");
      return new vscode.CodeLens(range, { title: plain, command, arguments: [...more] });
    });
}

function actions(
  document: vscode.TextDocument,
  context: vscode.CodeActionContext,
  curesOf: CuresOf,
): vscode.CodeAction[] {
  const ref = logRefOf(document.uri.query);
  const diagnostics = context.diagnostics.filter(
    (d) => d.source === source && d.severity === vscode.DiagnosticSeverity.Error,
  );
  if (!ref || diagnostics.length === 0) return [];
  return curesOf(ref.session, ref.stage, ref.member).map((cure, index) => {
    const action = new vscode.CodeAction(plainLine(cure.title), vscode.CodeActionKind.QuickFix);
    action.command = { command: cure.command, title: cure.title, arguments: [...cure.arguments] };
    action.diagnostics = diagnostics;
    action.isPreferred = index === 0;
    return action;
  });
}
