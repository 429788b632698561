import type { FailureReading } from "../log/reading";
import type { ToolCandidate } from "../ports";
import { renamedTools } from "./renamedTools";

/** A change of the session file that was seen to help on the host itself. */
export interface Cure {
  /** For buttons: "Restart with /root/ml-env/bin/hf". */
  readonly title: string;
  /** Why this one, in plain words. */
  readonly detail: string;
  /** The word in the stage's command that does not work. */
  readonly program: string;
  /** What to put in its place. */
  readonly replacement: string;
}

const curable = new Set(["command-not-found", "deprecated-command"]);

/** Names to look for on the host when a program is missing or gone: its own, and those it goes by today. */
export function namesToFind(failure: FailureReading): readonly string[] {
  const program = failure.subject["program"];
  if (program === undefined || !curable.has(failure.failure)) return [];
  return namesOf(program, failure.subject["replacement"]);
}

/** A program's own name, without its folder, and those it goes by today. */
export function namesOf(program: string, replacement?: string): readonly string[] {
  const name = baseName(program);
  const names = [name, ...(replacement === undefined ? [] : [replacement]), ...(renamedTools.get(name) ?? [])];
  return [...new Set(names)].filter((one) => /^[\w.+-]+$/.test(one));
}

/**
 * Cures for a failure, from what was found on the host; only tools that answered when asked. The name that was
 * asked for goes before its successors (a stub that no longer works is not among them), what is on PATH before what
 * is not.
 */
export function curesFor(failure: FailureReading, found: readonly ToolCandidate[]): readonly Cure[] {
  const program = failure.subject["program"];
  return program === undefined ? [] : curesOf(program, namesToFind(failure), found);
}

/** The same for a program by its word in the command; `order`: the names that were looked for, the best first. */
export function curesOf(program: string, order: readonly string[], found: readonly ToolCandidate[]): readonly Cure[] {
  const working = found.filter((tool) => tool.works && tool.path !== program);
  const rank = (tool: ToolCandidate): number => order.indexOf(tool.name) * 2 + (tool.onPath ? 0 : 1);
  return [...working]
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, 4)
    .map((tool) => ({
      title: `Restart with ${tool.path}`,
      detail: whyThis(baseName(program), tool, found),
      program,
      replacement: tool.path,
    }));
}

/**
 * What helps, once the host was asked: whether the program is only out of the reach of a launch, or goes by another name.
 * Undefined where nothing that works was found for this failure.
 */
export function helpOf(failure: FailureReading, cures: readonly Cure[]): string | undefined {
  const cure = cures.find(({ program }) => program === failure.subject["program"]);
  if (!cure) return undefined;
  const sameName = baseName(cure.replacement) === baseName(cure.program);
  return `${cure.title}: ${cure.detail}.${sameName ? " Its folder in `path` of the host does as well." : ""}`;
}

function whyThis(program: string, tool: ToolCandidate, found: readonly ToolCandidate[]): string {
  const old = found.find((other) => other.name === program && !other.works);
  const place = tool.onPath ? "it is on the PATH of a launch" : "it is not on the PATH of a launch";
  if (tool.name === program) return `${tool.name} works there; ${place}`;
  const gone = old ? `${old.path} only says that it no longer works` : `${program} is the old name`;
  return `${gone}; ${tool.name} works; ${place}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
