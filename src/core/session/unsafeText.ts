import type { KeyPath, SessionProblems } from "./sessionProblems";
import { listOf, mapOf } from "./sessionTree";
import type { TreeEntry, TreeNode } from "./sessionTree";

/** Names become folder names and record keys on the host; anything else could leave the state folder. */
export function isName(name: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(name) && name !== "." && name !== "..";
}

/** Completes "the name `x` …". */
export const nameRule = "must be 1 to 64 letters, digits, `.`, `_` or `-`, and not `.` or `..`.";

/** Keys whose texts may have several lines: they are given to a shell or an environment as they are. */
const multiline = new Set(["command", "setup", "env", "start", "vars"]);

/**
 * Leaves out every text with control characters, or with characters that change the direction of what follows: the
 * question before the first launch must show what will run. Line breaks are for commands, `setup` and values only.
 */
export function refuseUnsafeTexts(node: TreeNode, problems: SessionProblems, path: KeyPath = []): TreeNode {
  if (Array.isArray(node.value)) {
    const items = listOf(node).filter((item, i) => isSafe(item, problems, [...path, i]));
    return { ...node, value: items.map((item, i) => refuseUnsafeTexts(item, problems, [...path, i])) };
  }
  if (!(node.value instanceof Map)) return node;
  const entries = new Map<string, TreeEntry>();
  for (const [name, entry] of mapOf(node)) {
    const inner = [...path, name];
    if (isSafe(entry.node, problems, inner))
      entries.set(name, { ...entry, node: refuseUnsafeTexts(entry.node, problems, inner) });
  }
  return { ...node, value: entries };
}

function isSafe(node: TreeNode, problems: SessionProblems, path: KeyPath): boolean {
  const { value } = node;
  if (typeof value !== "string") return true;
  const fault = unsafePart(
    value,
    path.some((one) => typeof one === "string" && multiline.has(one)),
  );
  if (fault === undefined) return true;
  const name = path.findLast((one) => typeof one === "string") ?? "value";
  problems.addBroken("unsafe", path, node.range, `\`${name}\` must not have ${fault} in it.`);
  return false;
}

function unsafePart(text: string, lines: boolean): string | undefined {
  // Tabs are harmless anywhere; line breaks have a word of their own below.
  if (/\p{Cc}/u.test(text.replaceAll(/\t|\r?\n/g, ""))) return "control characters";
  if (/[\u202a-\u202e\u2066-\u2069]/.test(text)) return "characters that change the direction of writing";
  return !lines && /[\n\u2028\u2029]/.test(text) ? "a line break" : undefined;
}
