import { DiagnosticSeverity, MarkupKind } from "vscode-languageserver";
import type { Diagnostic, Hover, Location, Range } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { TextRange } from "../core/session/definition";
import { fillPlaceholders } from "../core/session/placeholders";
import { parseSessionFile } from "../core/session/sessionFile";
import { SessionProblems } from "../core/session/sessionProblems";
import { mapOf, nodeAt, readTree } from "../core/session/sessionTree";
import type { TreeNode } from "../core/session/sessionTree";
import { placeAt } from "./place";
import { describe } from "./schemaWalk";

/** All problems of a session file. */
export function sessionDiagnostics(document: TextDocument): Diagnostic[] {
  return parseSessionFile(document.getText()).problems.map((problem) => ({
    range: toRange(document, problem.range),
    severity: problem.severity === "error" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    message: problem.message,
    code: problem.code,
    source: "ML Session",
  }));
}

/** What a key means, and what its value is once placeholders are filled in. */
export function sessionHover(document: TextDocument, offset: number): Hover | undefined {
  const root = treeOf(document);
  const place = root && placeAt(root, offset);
  if (!root || !place) return undefined;
  const named = place.path.slice(0, place.path.findLastIndex((key) => typeof key === "string") + 1);
  const parts = [describe(named), filledValue(document, root, place.path)].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return {
    contents: { kind: MarkupKind.Markdown, value: parts.join("\n\n") },
    range: toRange(document, place.range),
  };
}

/** As a code block: what stands in the file is text and must not become markup. */
function filledValue(document: TextDocument, root: TreeNode, path: readonly (string | number)[]): string | undefined {
  const before = nodeAt(root, path)?.value;
  const after = nodeAt(fillPlaceholders(document.getText(), root, new SessionProblems()), path)?.value;
  if (after === undefined || after === before || (after !== null && typeof after === "object")) return undefined;
  const text = String(after).slice(0, 2000);
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** Where the stage, service, host or var is that the word at `offset` names. */
export function sessionDefinition(document: TextDocument, offset: number): Location | undefined {
  const root = treeOf(document);
  const place = root && placeAt(root, offset);
  if (!root || place?.on !== "value") return undefined;
  const sections = namedHere(document.getText(), offset, place.path);
  const { value } = place.node;
  const name = sections.name ?? (typeof value === "string" ? value : place.node.source);
  for (const section of sections.in) {
    const entry = mapOf(nodeAt(root, [section])).get(name);
    if (entry) return { uri: document.uri, range: toRange(document, entry.keyRange) };
  }
  return undefined;
}

function namedHere(
  text: string,
  offset: number,
  path: readonly (string | number)[],
): { readonly in: readonly string[]; readonly name?: string } {
  const from = text.lastIndexOf("{{", offset + 1);
  const name = from < 0 ? undefined : /^\{\{\s*([\w-]+)\s*\}\}/.exec(text.slice(from, from + 200));
  if (name?.[1] !== undefined && offset <= from + name[0].length) return { in: ["vars"], name: name[1] };
  const key = path.findLast((one) => typeof one === "string");
  if (key === "needs" || key === "until") return { in: ["stages", "services"] };
  return { in: key === "host" ? ["hosts"] : [] };
}

function treeOf(document: TextDocument): TreeNode | undefined {
  return readTree(document.getText(), new SessionProblems()).root;
}

function toRange(document: TextDocument, range: TextRange): Range {
  return { start: document.positionAt(range.from), end: document.positionAt(range.to) };
}
