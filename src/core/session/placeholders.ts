import type { TextRange } from "./definition";
import { didYouMean } from "./sessionProblems";
import type { KeyPath, SessionProblems } from "./sessionProblems";
import { listOf, mapOf } from "./sessionTree";
import type { TreeEntry, TreeNode } from "./sessionTree";

/** `{{name}}`. Other braces (`{{.Names}}` of docker's templates) are not ours, nor is `$NAME`. */
const placeholder = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g;

/** Longest text that filling may make, so that vars of vars cannot grow without end. */
const mostCharacters = 100_000;

/**
 * Fills in `{{name}}` everywhere but in `vars` itself. Names come from `vars`, whose values may use one another; a
 * stage's `matrix` names are left as they are. An unknown name is an error at its place, and its value is left out.
 */
export function fillPlaceholders(text: string, root: TreeNode, problems: SessionProblems): TreeNode {
  const vars = resolveVars(text, root, problems);
  const filler = new Filler(text, vars, problems);
  const entries = new Map<string, TreeEntry>();
  for (const [name, entry] of mapOf(root)) {
    const node = name === "vars" ? entry.node : filler.fill(entry.node, [name], new Set());
    if (node) entries.set(name, { ...entry, node });
  }
  return root.value instanceof Map ? { ...root, value: entries } : root;
}

/** A var after filling; `undefined` stands for one that is wrong, which is said once, where it is written. */
type Vars = ReadonlyMap<string, string | undefined>;

function resolveVars(text: string, root: TreeNode, problems: SessionProblems): Vars {
  const written = mapOf(mapOf(root).get("vars")?.node);
  const vars = new Map<string, string | undefined>();
  const open = new Set<string>();
  const filler = new Filler(
    text,
    {
      has: (name) => written.has(name),
      keys: () => written.keys(),
      get: (name) => resolve(name),
    },
    problems,
  );
  const resolve = (name: string): string | undefined => {
    if (vars.has(name)) return vars.get(name);
    const entry = written.get(name);
    if (!entry) return undefined;
    if (open.has(name) || open.size > 100) {
      const message = `\`${name}\` is made of itself: ${[...open, name].join(" → ")}.`;
      problems.addBroken("cycle", ["vars", name], entry.keyRange, message);
      vars.set(name, undefined);
      return undefined;
    }
    open.add(name);
    const { value } = entry.node;
    const filled = typeof value === "string" ? filler.text(entry.node, ["vars", name], new Set()) : entry.node.source;
    open.delete(name);
    if (!vars.has(name)) vars.set(name, value === null || typeof value === "object" ? undefined : filled);
    return vars.get(name);
  };
  for (const name of written.keys()) resolve(name);
  return vars;
}

class Filler {
  readonly #text: string;
  readonly #vars: Pick<Vars, "has" | "get" | "keys">;
  readonly #problems: SessionProblems;

  constructor(text: string, vars: Pick<Vars, "has" | "get" | "keys">, problems: SessionProblems) {
    this.#text = text;
    this.#vars = vars;
    this.#problems = problems;
  }

  /** The node with its texts filled in; values that cannot be are left out, keys and all. */
  fill(node: TreeNode, path: KeyPath, own: ReadonlySet<string>): TreeNode | undefined {
    if (Array.isArray(node.value)) {
      const items = listOf(node).map((item, i) => this.fill(item, [...path, i], own));
      return { ...node, value: items.filter((item) => item !== undefined) };
    }
    if (node.value instanceof Map) {
      const names = path[0] === "stages" && path.length === 2 ? matrixNames(node) : own;
      const entries = new Map<string, TreeEntry>();
      for (const [name, entry] of mapOf(node)) {
        const filled = this.fill(entry.node, [...path, name], names);
        if (filled) entries.set(name, { ...entry, node: filled });
      }
      return { ...node, value: entries };
    }
    if (typeof node.value !== "string" || !node.value.includes("{{")) return node;
    const filled = this.text(node, path, own);
    return filled === undefined ? undefined : { ...node, ...asWritten(node.value, filled) };
  }

  /** The text with its placeholders filled in; undefined if that cannot be done. */
  text(node: TreeNode, path: KeyPath, own: ReadonlySet<string>): string | undefined {
    const unknown: string[] = [];
    let nth = -1;
    if (typeof node.value !== "string") return undefined;
    const filled = node.value.replace(placeholder, (whole, name: string) => {
      nth++;
      if (own.has(name)) return whole;
      const value = this.#vars.get(name);
      if (value !== undefined) return value;
      unknown.push(name);
      const known = this.#vars.has(name);
      const near = didYouMean(name, this.#vars.keys());
      const hint = near === undefined ? "" : ` Did you mean \`{{${near}}}\`?`;
      const message = known
        ? `\`{{${name}}}\` cannot be filled in: its value in \`vars\` is wrong.`
        : `Nothing in \`vars\` is called \`${name}\`.${hint}`;
      this.#problems.addBroken("placeholder", path, this.#place(node.range, nth), message);
      return whole;
    });
    if (filled.length <= mostCharacters) return unknown.length > 0 ? undefined : filled;
    this.#problems.addBroken("unsafe", path, node.range, "The text is too long once its placeholders are filled in.");
    return undefined;
  }

  #place(range: TextRange, nth: number): TextRange {
    const found = [...this.#text.slice(range.from, range.to).matchAll(placeholder)][nth];
    if (!found) return range;
    const from = range.from + found.index;
    return { from, to: from + found[0].length };
  }
}

/** A scalar that is nothing but one placeholder may be a number: `total: "{{requests}}"`. */
function asWritten(before: string, filled: string): Pick<TreeNode, "value" | "source"> {
  const alone = /^\{\{[^{}]*\}\}$/.test(before);
  if (alone && /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(filled)) return { value: Number(filled), source: filled };
  return { value: filled, source: filled };
}

function matrixNames(stage: TreeNode): ReadonlySet<string> {
  return new Set(mapOf(mapOf(stage).get("matrix")?.node).keys());
}
