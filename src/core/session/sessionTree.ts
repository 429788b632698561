import { isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Document, Pair, YAMLError, YAMLMap } from "yaml";
import type { TextRange } from "./definition";
import type { KeyPath, SessionProblems } from "./sessionProblems";

/** A value of the file with its place. Aliases and merge keys are resolved; the place is where the value is written. */
export interface TreeNode {
  readonly range: TextRange;
  readonly value: string | number | boolean | null | readonly TreeNode[] | ReadonlyMap<string, TreeEntry>;
  /** A scalar as it is written, so that `0.10` stays `0.10` where a text is wanted. */
  readonly source: string;
}

/** A key of a map and what it holds. */
export interface TreeEntry {
  readonly keyRange: TextRange;
  readonly node: TreeNode;
}

/** What could be read of a text. `garbled`: after a syntax error the rest may have been read as something else. */
export interface ReadTree {
  readonly root: TreeNode | undefined;
  readonly garbled: boolean;
}

/** Far above any session file, far below what hurts. */
const mostCharacters = 1_000_000;
const mostNodes = 50_000;
const mostDepth = 50;

/** Why reading was given up; the message is for the person. */
class Refusal extends Error {}

/**
 * Reads YAML into a tree. Syntax errors are reported at their place, and what could be read around them is returned;
 * undefined if that is nothing. Never throws: files that blow up (aliases of aliases, thousands of brackets) are an
 * error as well.
 */
export function readTree(text: string, problems: SessionProblems): ReadTree {
  const refuse = (message: string): ReadTree => {
    problems.add({ severity: "error", code: "unsafe", message, range: { from: 0, to: Math.min(text.length, 1) } });
    return { root: undefined, garbled: true };
  };
  if (text.length > mostCharacters) return refuse("The file is too large for a session file (1 MB at most).");
  try {
    // Duplicate keys are found here, where their place is known; the library compares each key with each other.
    const document = parseDocument(text, { merge: true, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
    for (const error of document.errors) problems.add(syntaxProblem(text, error));
    const root = document.contents === null ? undefined : new TreeBuilder(text, document, problems).root();
    return { root, garbled: document.errors.length > 0 };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    // The library recurses; a stack overflow is the one thing that it throws for a text.
    return refuse("The file cannot be read: it is nested too deeply or too complex.");
  }
}

function syntaxProblem(text: string, error: YAMLError): Parameters<SessionProblems["add"]>[0] {
  const from = Math.min(error.pos[0], text.length);
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const bare = /[:\-,[]\s+\{\{/.test(text.slice(lineStart, from + 3));
  return {
    severity: "error",
    code: "syntax",
    message: bare ? quotesNeeded : error.message,
    range: { from, to: Math.min(Math.max(error.pos[1], from + 1), text.length) },
  };
}

const quotesNeeded = "A value that begins with `{{…}}` needs quotes around it: YAML reads the braces as a map.";

class TreeBuilder {
  readonly #text: string;
  readonly #document: Document.Parsed;
  readonly #problems: SessionProblems;
  #nodes = 0;

  constructor(text: string, document: Document.Parsed, problems: SessionProblems) {
    this.#text = text;
    this.#document = document;
    this.#problems = problems;
  }

  root(): TreeNode {
    return this.#build(this.#document.contents, [], this.#rangeOf(this.#document.contents, { from: 0, to: 0 }));
  }

  #build(node: unknown, path: KeyPath, place: TextRange): TreeNode {
    if (++this.#nodes > mostNodes)
      throw new Refusal("The file is too complex: its aliases (`*name`) stand for too many values.");
    if (path.length > mostDepth) throw new Refusal("The file is nested too deeply.");
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      return this.#build(target, [...path, ""].slice(0, mostDepth + 2), this.#rangeOf(target, place));
    }
    const range = this.#rangeOf(node, place);
    if (isMap(node)) return { range, value: this.#entries(node, path), source: "" };
    if (isSeq(node))
      return { range, value: node.items.map((item, i) => this.#build(item, [...path, i], range)), source: "" };
    return { range, ...scalarOf(node) };
  }

  #entries(map: YAMLMap, path: KeyPath): Map<string, TreeEntry> {
    const entries = new Map<string, TreeEntry>();
    const merged: Pair[] = [];
    for (const pair of map.items) {
      const name = keyName(pair);
      if (name === mergeKey) merged.push(pair);
      else this.#addEntry(entries, pair, name, path);
    }
    // What is written in the map itself wins over what is merged into it, wherever `<<` stands.
    for (const pair of merged) this.#merge(entries, pair.value, path);
    return entries;
  }

  #addEntry(entries: Map<string, TreeEntry>, pair: Pair, name: string | undefined, path: KeyPath): void {
    const keyRange = this.#rangeOf(pair.key, { from: 0, to: 0 });
    if (name === undefined) {
      this.#problems.addBroken("syntax", path, keyRange, "A key must be a plain name.");
    } else if (isMap(pair.value) && this.#text.startsWith("{{", this.#rangeOf(pair.value, keyRange).from)) {
      const range = this.#rangeOf(pair.value, keyRange);
      this.#problems.addBroken("syntax", [...path, name], range, quotesNeeded);
    } else if (name === "__proto__") {
      this.#problems.addBroken("unsafe", [...path, name], keyRange, "`__proto__` cannot be a name.");
    } else if (entries.has(name)) {
      this.#problems.addBroken("syntax", [...path, name], keyRange, `\`${name}\` is here twice; the first one counts.`);
    } else {
      entries.set(name, { keyRange, node: this.#build(pair.value, [...path, name], keyRange) });
    }
  }

  #merge(entries: Map<string, TreeEntry>, value: unknown, path: KeyPath): void {
    const { value: source } = this.#build(value, [...path, mergeKey], { from: 0, to: 0 });
    const maps = Array.isArray(source) ? (source as readonly TreeNode[]).map((node) => node.value) : [source];
    for (const map of maps) {
      if (!(map instanceof Map)) continue;
      for (const [name, entry] of map as ReadonlyMap<string, TreeEntry>)
        if (!entries.has(name)) entries.set(name, entry);
    }
  }

  #rangeOf(node: unknown, fallback: TextRange): TextRange {
    const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
    if (!range) return fallback;
    const from = Math.min(range[0], this.#text.length);
    return { from, to: Math.min(Math.max(range[1], from), this.#text.length) };
  }
}

const mergeKey = "<<";

function keyName(pair: Pair): string | undefined {
  const { key } = pair;
  if (!isScalar(key)) return undefined;
  const { value } = key;
  if (typeof value === "symbol") return value.description;
  return typeof value === "string" ? value : (key.source ?? String(value));
}

function scalarOf(node: unknown): Pick<TreeNode, "value" | "source"> {
  const value: unknown = isScalar(node) ? node.value : null;
  const source = isScalar(node) ? (node.source ?? "") : "";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return { value, source };
  return { value: typeof value === "bigint" ? Number(value) : null, source };
}

/** The node at a path of keys and indices; undefined if there is none. */
export function nodeAt(root: TreeNode, path: KeyPath): TreeNode | undefined {
  return path.reduce<TreeNode | undefined>((node, key) => {
    if (node === undefined) return undefined;
    return typeof key === "number" ? listOf(node)[key] : mapOf(node).get(key)?.node;
  }, root);
}

/** The place of the key that a path ends with; the nearest enclosing one if there is none. */
export function keyRangeAt(root: TreeNode, path: KeyPath): TextRange {
  for (let length = path.length; length > 0; length--) {
    const key = path[length - 1];
    const parent = nodeAt(root, path.slice(0, length - 1));
    if (parent === undefined || typeof key !== "string") continue;
    const entry = mapOf(parent).get(key);
    if (entry) return entry.keyRange;
  }
  return { from: root.range.from, to: Math.min(root.range.from + 1, root.range.to) };
}

/** The entries of a map; none if the node is not one. */
export function mapOf(node: TreeNode | undefined): ReadonlyMap<string, TreeEntry> {
  return node?.value instanceof Map ? (node.value as ReadonlyMap<string, TreeEntry>) : new Map<string, TreeEntry>();
}

/** The items of a list; none if the node is not one. */
export function listOf(node: TreeNode): readonly TreeNode[] {
  return Array.isArray(node.value) ? (node.value as readonly TreeNode[]) : [];
}

/** The tree as plain values, nothing shared between its parts. */
export function toPlain(node: TreeNode): unknown {
  if (Array.isArray(node.value)) return listOf(node).map(toPlain);
  if (node.value instanceof Map)
    return Object.fromEntries([...mapOf(node)].map(([name, entry]) => [name, toPlain(entry.node)]));
  return node.value;
}
