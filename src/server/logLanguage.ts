import { DiagnosticSeverity, MarkupKind } from "vscode-languageserver";
import type { Diagnostic, Hover } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { LogReader } from "../core/log/reader";
import type { FailureReading } from "../core/log/reading";
import { adviceText } from "../core/session/markdown";

/** Larger logs are read from here on before their end; VS Code does not hand over more than 50 MB at all. */
const mostCharacters = 8_000_000;
const mostFailures = 500;
/** Between two parts other requests get their turn. */
const partCharacters = 500_000;

/** The failures in a log; undefined if `isStale` became true meanwhile. */
export async function logDiagnostics(
  document: TextDocument,
  isStale: () => boolean,
): Promise<Diagnostic[] | undefined> {
  const text = document.getText();
  const start = firstRead(text);
  const reader = new LogReader();
  const encoder = new TextEncoder();
  const failures: FailureReading[] = [];
  for (let from = start; from < text.length;) {
    const to = partEnd(text, from);
    for (const reading of reader.push(encoder.encode(text.slice(from, to))))
      if (reading.kind === "failure") failures.push(reading);
    from = to;
    await new Promise((resolve) => setImmediate(resolve));
    if (isStale()) return undefined;
  }
  for (const reading of reader.flush()) if (reading.kind === "failure") failures.push(reading);
  const lines = lineStarts(text, start);
  // The last ones: what ended the job stands at the end.
  return failures.slice(-mostFailures).map((failure) => diagnosticOf(document, text, lines, failure));
}

function firstRead(text: string): number {
  if (text.length <= mostCharacters) return 0;
  return text.indexOf("\n", text.length - mostCharacters) + 1;
}

/** Never between the two halves of a surrogate pair, which cannot be encoded apart. */
function partEnd(text: string, from: number): number {
  const to = Math.min(from + partCharacters, text.length);
  const before = text.charCodeAt(to - 1);
  return to < text.length && before >= 0xd800 && before <= 0xdbff ? to + 1 : to;
}

function lineStarts(text: string, start: number): number[] {
  const starts = [start];
  for (let at = text.indexOf("\n", start); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function diagnosticOf(
  document: TextDocument,
  text: string,
  lines: readonly number[],
  failure: FailureReading,
): Diagnostic {
  const lineStart = lines[failure.line - 1] ?? text.length;
  const lineEnd = (lines[failure.line] ?? text.length + 1) - 1;
  // A progress bar may have overwritten itself in the same line; the failure is one segment of it.
  const segments = text.slice(lineStart, Math.max(lineStart, lineEnd)).split("\r");
  const before = segments.slice(0, failure.segment).reduce((length, segment) => length + segment.length + 1, 0);
  const segment = segments[failure.segment] ?? "";
  const from = Math.min(lineStart + before, text.length);
  return {
    range: { start: document.positionAt(from), end: document.positionAt(from + segment.trimEnd().length) },
    severity: failure.severity === "error" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    message: `${failure.cause} ${adviceText(failure.remedy)}`.trim(),
    code: failure.failure,
    source: "ML Session",
  };
}

/** The failure at a position, as plain text: it may hold words of the log. */
export function logHover(diagnostics: readonly Diagnostic[], line: number, character: number): Hover | undefined {
  const found = diagnostics.find(
    ({ range }) => range.start.line === line && range.start.character <= character && character <= range.end.character,
  );
  if (!found || typeof found.message !== "string") return undefined;
  return { contents: { kind: MarkupKind.PlainText, value: found.message }, range: found.range };
}
