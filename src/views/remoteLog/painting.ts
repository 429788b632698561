import * as vscode from "vscode";
import { combine, type Disposable } from "../../core/lifecycle";
import type { LogMarks } from "../../core/session/logMarks";
import { remoteLogScheme } from "../../core/session/remoteLogs";

/** The looks of failing lines and of older runs; made once, painted on visible editors. */
export class LogPainting implements Disposable {
  readonly #error: vscode.TextEditorDecorationType;
  readonly #warning: vscode.TextEditorDecorationType;
  readonly #history: vscode.TextEditorDecorationType;

  constructor(media: vscode.Uri) {
    this.#error = failingLine("error", vscode.Uri.joinPath(media, "log-error.svg"));
    this.#warning = failingLine("warning", vscode.Uri.joinPath(media, "log-warning.svg"));
    this.#history = vscode.window.createTextEditorDecorationType({ isWholeLine: true, opacity: "0.6" });
  }

  /** Paints every visible editor of a remote log. */
  paint(marksOf: (document: vscode.TextDocument) => LogMarks): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== remoteLogScheme) continue;
      const { failures, historyLines } = marksOf(editor.document);
      const lines = (severity: "error" | "warning"): vscode.Range[] =>
        failures.filter(({ failure }) => failure.severity === severity).map(({ line }) => wholeLine(line));
      editor.setDecorations(this.#error, lines("error"));
      editor.setDecorations(this.#warning, lines("warning"));
      editor.setDecorations(this.#history, historyLines === 0 ? [] : [new vscode.Range(0, 0, historyLines - 1, 0)]);
    }
  }

  dispose(): void {
    combine(this.#error, this.#warning, this.#history).dispose();
  }
}

function failingLine(severity: "error" | "warning", gutterIconPath: vscode.Uri): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(`inputValidation.${severity}Background`),
    overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${severity}Foreground`),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    gutterIconPath,
    gutterIconSize: "contain",
  });
}

function wholeLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}
