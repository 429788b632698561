import { listOf, mapOf } from "../core/session/sessionTree";
import type { TreeNode } from "../core/session/sessionTree";
import type { TextRange } from "../core/session/definition";

/** What stands at an offset: the path to it, and whether it is the key itself or its value. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly on: "key" | "value";
  readonly range: TextRange;
  readonly node: TreeNode;
}

/** The innermost key or value at an offset; undefined between them. */
export function placeAt(root: TreeNode, offset: number): Place | undefined {
  return find(root, offset, []);
}

function find(node: TreeNode, offset: number, path: readonly (string | number)[]): Place | undefined {
  for (const [name, entry] of mapOf(node)) {
    const inner = [...path, name];
    if (holds(entry.keyRange, offset)) return { path: inner, on: "key", range: entry.keyRange, node: entry.node };
    const found = within(entry.node, offset, inner);
    if (found) return found;
  }
  for (const [index, item] of listOf(node).entries()) {
    const found = within(item, offset, [...path, index]);
    if (found) return found;
  }
  return undefined;
}

function within(node: TreeNode, offset: number, path: readonly (string | number)[]): Place | undefined {
  if (!holds(node.range, offset)) return undefined;
  const leaf = node.value === null || typeof node.value !== "object";
  return leaf ? { path, on: "value", range: node.range, node } : find(node, offset, path);
}

function holds(range: TextRange, offset: number): boolean {
  return range.from <= offset && offset <= range.to;
}
