import { CompletionItemKind, MarkupKind } from "vscode-languageserver";
import type { CompletionItem } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { SessionProblems } from "../core/session/sessionProblems";
import { listOf, mapOf, nodeAt, readTree } from "../core/session/sessionTree";
import type { TreeNode } from "../core/session/sessionTree";
import { schemasAt } from "./schemaWalk";

/** Stands for what is being typed, so that a file which is not whole yet can be read. */
const marker = "cursor-is-here";

/** Keys and values that may stand at an offset. */
export function sessionCompletion(document: TextDocument, offset: number): CompletionItem[] {
  const text = document.getText();
  const before = /[\w.-]*$/.exec(text.slice(Math.max(0, offset - 200), offset))?.[0] ?? "";
  const after = /^[\w.-]*/.exec(text.slice(offset, offset + 200))?.[0] ?? "";
  const from = offset - before.length;
  const rest = text.slice(offset + after.length);
  const position = positionOf(text.slice(Math.max(0, from - 10_000), from));
  if (position === "none") return [];
  const stand = position === "key" && !/^\s*:/.test(rest) ? `${marker}: 0` : marker;
  const { root } = readTree(text.slice(0, from) + stand + rest, new SessionProblems());
  const path = root && pathOfMarker(root, []);
  if (!root || !path) return [];
  return position === "key" ? keysAt(root, path.slice(0, -1)) : valuesAt(root, path);
}

/** Whether a key or a value is being typed, from the text before it. */
function positionOf(before: string): "key" | "value" | "none" {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/(?:^|\s)#/.test(line)) return "none";
  const last = line.trimEnd().at(-1);
  if (last === undefined || last === "{") return "key";
  if (last === ":" || last === "[") return "value";
  if (last === "-") return /^\s*(?:-\s*)+$/.test(line) ? "value" : "none";
  if (last === ",") return openBracket(before) === "[" ? "value" : "key";
  return "none";
}

/** The innermost bracket that is still open. */
function openBracket(text: string): string | undefined {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    const char = text.charAt(at);
    if (char === "]" || char === "}") depth++;
    else if (char === "[" || char === "{") {
      if (depth === 0) return char;
      depth--;
    }
  }
  return undefined;
}

function pathOfMarker(node: TreeNode, path: readonly (string | number)[]): (string | number)[] | undefined {
  if (node.value === marker) return [...path];
  for (const [name, entry] of mapOf(node)) {
    if (name === marker) return [...path, name];
    const found = pathOfMarker(entry.node, [...path, name]);
    if (found) return found;
  }
  for (const [index, item] of listOf(node).entries()) {
    const found = pathOfMarker(item, [...path, index]);
    if (found) return found;
  }
  return undefined;
}

function keysAt(root: TreeNode, path: readonly (string | number)[]): CompletionItem[] {
  const present = mapOf(nodeAt(root, path));
  const items = new Map<string, CompletionItem>();
  for (const schema of schemasAt(path))
    for (const [key, { description = "" }] of Object.entries(schema.properties ?? {}))
      if (!present.has(key))
        items.set(key, {
          label: key,
          kind: CompletionItemKind.Property,
          insertText: `${key}: `,
          documentation: { kind: MarkupKind.Markdown, value: description },
          // What this version refuses comes last.
          sortText: `${description.includes("Not supported yet") ? 1 : 0}${key}`,
        });
  return [...items.values()];
}

function valuesAt(root: TreeNode, path: readonly (string | number)[]): CompletionItem[] {
  const key = path.findLast((one) => typeof one === "string");
  const own = path[0] === "stages" ? path[1] : undefined;
  const names = (section: string): string[] => [...mapOf(nodeAt(root, [section])).keys()];
  if (key === "needs" || key === "until")
    return [...names("stages"), ...names("services")]
      .filter((name) => name !== own)
      .map((label) => ({ label, kind: CompletionItemKind.Reference }));
  if (key === "host") return names("hosts").map((label) => ({ label, kind: CompletionItemKind.Reference }));
  const values = schemasAt(path).flatMap(({ enum: several = [], const: one, type }) => [
    ...several,
    ...(one === undefined ? [] : [one]),
    ...(type === "boolean" ? [true, false] : []),
  ]);
  return [...new Set(values.map(String))].map((label) => ({ label, kind: CompletionItemKind.EnumMember }));
}
