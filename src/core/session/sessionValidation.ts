import type * as z from "zod/mini";
import { didYouMean } from "./sessionProblems";
import type { KeyPath, SessionProblems } from "./sessionProblems";
import { sessionSchema } from "./sessionSchema";
import type { SessionInput } from "./sessionSchema";
import { keyRangeAt, nodeAt, toPlain } from "./sessionTree";
import type { TreeNode } from "./sessionTree";

/** What is wrong is taken out and the rest checked again; each round goes at least one level up. */
const mostRounds = 20;

/**
 * Holds the tree against the schema. Wrong values are reported at their place and left out, with the whole entry
 * where it cannot do without them; unknown keys are warnings. Undefined only if nothing is left.
 */
export function validateSession(root: TreeNode, problems: SessionProblems): SessionInput | undefined {
  const input = toPlain(root);
  for (let round = 0; round < mostRounds; round++) {
    const result = sessionSchema.safeParse(input);
    if (result.success) return result.data;
    for (const placed of result.error.issues.flatMap((one) => flatten(one, []))) {
      const wrong = reported(placed, root, problems);
      if (wrong.some((path) => path.length === 0)) return undefined;
      for (const path of wrong) remove(input, path);
    }
  }
  return undefined;
}

type Issue = z.core.$ZodIssue;
interface PlacedIssue {
  readonly issue: Issue;
  readonly path: KeyPath;
}

/** Issues with whole paths; of a union only the alternative that the writer most likely meant. */
function flatten(issue: Issue, before: KeyPath): PlacedIssue[] {
  const path = [...before, ...issue.path.map((key) => (typeof key === "number" ? key : String(key)))];
  if (issue.code === "invalid_union") {
    const meant = issue.errors.find((errors) => errors.some(isInside));
    if (meant) return meant.flatMap((one) => flatten(one, path));
    // Of the right type, but not well formed: the alternative that took it has the better words.
    const formed = issue.errors.find((errors) => errors.every((one) => one.code !== "invalid_type"));
    const [only] = issue.errors.length > 1 && formed ? formed : [];
    if (only && only.code !== "invalid_value") return flatten(only, path);
  }
  return [{ issue, path }];
}

function isInside(issue: Issue): boolean {
  return issue.path.length > 0 || issue.code === "unrecognized_keys";
}

/** Says what the issue is and returns the paths of what must go for the rest to be valid. */
function reported({ issue, path }: PlacedIssue, root: TreeNode, problems: SessionProblems): KeyPath[] {
  if (issue.code === "unrecognized_keys") {
    const unknown = issue.keys.map((key) => [...path, key]);
    for (const one of unknown) reportUnknown(one, root, problems);
    return unknown;
  }
  const node = nodeAt(root, path);
  if (node === undefined) {
    const parent = path.slice(0, -1);
    const message = `\`${String(path.at(-1))}\` is missing.`;
    problems.addBroken("schema", path, keyRangeAt(root, parent), message);
    return [parent];
  }
  // A list with a wrong item goes as a whole: half a list of GPUs is not what was asked for.
  const cut = path.findIndex((key) => typeof key === "number");
  const removed = cut < 0 ? path : path.slice(0, cut);
  const empty = node.value === null;
  const name = String(removed.at(-1) ?? "The file");
  const message = empty
    ? `\`${name}\` has no value: it must be ${words(issue)}.`
    : `\`${name}\` must be ${words(issue)}.`;
  problems.addBroken("schema", path, empty ? keyRangeAt(root, path) : node.range, message);
  return [removed];
}

function words(issue: Issue): string {
  return issue.message === "Invalid input" ? "of another kind" : issue.message;
}

function reportUnknown(path: KeyPath, root: TreeNode, problems: SessionProblems): void {
  const key = String(path.at(-1));
  const known = keysOf(sessionSchema, path.slice(0, -1));
  problems.add({
    severity: "warning",
    code: "unknown-key",
    message: known.includes(key)
      ? `\`${key}\` cannot stand beside the other key here, it does nothing.`
      : `There is no key \`${key}\` here, it does nothing.${hintFor(key, known)}`,
    range: keyRangeAt(root, path),
  });
}

function hintFor(key: string, known: readonly string[]): string {
  const near = didYouMean(key, known);
  if (near !== undefined) return ` Did you mean \`${near}\`?`;
  return known.length === 0 ? "" : ` Known keys: ${known.map((one) => `\`${one}\``).join(", ")}.`;
}

/** The keys that the schema knows at a path. */
function keysOf(schema: z.core.$ZodType, path: KeyPath): string[] {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  const [key, ...rest] = path;
  switch (def.type) {
    case "optional":
      return keysOf(def.innerType, path);
    case "union":
      return def.options.flatMap((option) => keysOf(option, path));
    case "record":
      return key === undefined ? [] : keysOf(def.valueType, rest);
    case "array":
      return key === undefined ? [] : keysOf(def.element, rest);
    case "object": {
      if (key === undefined) return Object.keys(def.shape);
      const inner = def.shape[String(key)];
      return inner === undefined ? [] : keysOf(inner, rest);
    }
    default:
      return [];
  }
}

function remove(input: unknown, path: KeyPath): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((value, key) => (isRecord(value) ? value[String(key)] : undefined), input);
  if (isRecord(parent)) Reflect.deleteProperty(parent, String(path.at(-1)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
