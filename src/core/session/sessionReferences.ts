import type { ServiceDefinition, StageDefinition, TextRange } from "./definition";
import { didYouMean } from "./sessionProblems";
import type { SessionProblems } from "./sessionProblems";
import { keyRangeAt, listOf, nodeAt } from "./sessionTree";
import type { TreeNode } from "./sessionTree";

/** The entries of a file whose references are to be checked. */
export interface References {
  readonly root: TreeNode;
  readonly problems: SessionProblems;
  readonly stages: readonly StageDefinition[];
  readonly services: readonly ServiceDefinition[];
}

/** Stages and services by name, after every reference between them was found good or taken out. */
export interface CheckedEntries {
  readonly stages: ReadonlyMap<string, StageDefinition>;
  readonly services: ReadonlyMap<string, ServiceDefinition>;
}

/**
 * Checks `needs`: names that exist, no circles, one name for one thing. A need that is wrong drops out and keeps its
 * stage from being launched; needs that cross hosts are a warning, since nobody waits for them with the editor shut.
 */
export function checkReferences(references: References): CheckedEntries {
  const { root, problems } = references;
  const stages = new Map(references.stages.map((stage) => [stage.name, stage]));
  const services = new Map<string, ServiceDefinition>();
  for (const service of references.services) {
    if (stages.has(service.name)) {
      const message = `A stage is called \`${service.name}\` as well: each needs a name of its own.`;
      problems.addBroken("reference", ["services", service.name], service.range, message);
    } else services.set(service.name, service);
  }
  const written = writtenNames(root);
  for (const stage of stages.values()) {
    const kept = stage.needs.filter((need) => isThere(references, stage, need, written));
    warnAcrossHosts(references, stage, kept, { stages, services });
    if (kept.length < stage.needs.length) stages.set(stage.name, withoutNeeds(stage, kept));
  }
  for (const { stage, need, circle } of circles(stages)) {
    const message = `\`${stage}\` needs itself: ${circle.join(" → ")}.`;
    problems.addBroken("cycle", ["stages", stage, "needs"], needRange(root, stage, need), message);
    const found = stages.get(stage);
    if (found)
      stages.set(
        stage,
        withoutNeeds(
          found,
          found.needs.filter((one) => one !== need),
        ),
      );
  }
  return { stages, services };
}

/** Names that stand in the file, whether or not their entries could be read. */
function writtenNames(root: TreeNode): ReadonlySet<string> {
  const names = (section: string): Iterable<string> => {
    const value = nodeAt(root, [section])?.value;
    return value instanceof Map ? (value as ReadonlyMap<string, unknown>).keys() : [];
  };
  return new Set([...names("stages"), ...names("services")]);
}

function isThere(
  { root, problems, stages, services }: References,
  stage: StageDefinition,
  need: string,
  written: ReadonlySet<string>,
): boolean {
  if ([...stages, ...services].some((one) => one.name === need)) return true;
  const near = didYouMean(
    need,
    [...written].filter((name) => name !== stage.name),
  );
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  const message = written.has(need)
    ? `\`${need}\` cannot be waited for: it is wrong in this file.`
    : `There is no stage or service \`${need}\`.${hint}`;
  problems.addBroken("reference", ["stages", stage.name, "needs"], needRange(root, stage.name, need), message);
  return false;
}

function warnAcrossHosts(
  { root, problems }: References,
  stage: StageDefinition,
  needs: readonly string[],
  { stages, services }: CheckedEntries,
): void {
  for (const need of needs) {
    const host = (stages.get(need) ?? services.get(need))?.host;
    if (host === undefined || host === stage.host) continue;
    const message = `\`${need}\` is on ${host} and \`${stage.name}\` on ${stage.host}: only an open window can wait for it, so the pipeline stops here while the editor is shut.`;
    problems.add({ severity: "warning", code: "reference", message, range: needRange(root, stage.name, need) });
  }
}

function withoutNeeds(stage: StageDefinition, needs: readonly string[]): StageDefinition {
  const reason = "`needs` is wrong in the session file";
  const unsupported = stage.unsupported.includes(reason) ? stage.unsupported : [...stage.unsupported, reason];
  return { ...stage, needs, unsupported };
}

interface Circle {
  readonly stage: string;
  /** The need that closes the circle. */
  readonly need: string;
  readonly circle: readonly string[];
}

/** Depth first over `needs` without recursion: a file may have thousands of stages in a row. */
function circles(stages: ReadonlyMap<string, StageDefinition>): Circle[] {
  const found: Circle[] = [];
  const done = new Set<string>();
  for (const start of stages.keys()) {
    const way: { readonly name: string; readonly left: string[] }[] = [];
    const enter = (name: string): void => {
      way.push({ name, left: [...(stages.get(name)?.needs ?? [])].reverse() });
    };
    if (!done.has(start)) enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const need = top.left.pop();
      if (need === undefined) {
        done.add(top.name);
        way.pop();
        continue;
      }
      const at = way.findIndex((step) => step.name === need);
      if (at >= 0) found.push({ stage: top.name, need, circle: [...way.slice(at).map((step) => step.name), need] });
      else if (!done.has(need) && stages.has(need)) enter(need);
    }
  }
  return found;
}

function needRange(root: TreeNode, stage: string, need: string): TextRange {
  const path = ["stages", stage, "needs"];
  const node = nodeAt(root, path);
  if (node === undefined) return keyRangeAt(root, path);
  return (listOf(node).find((item) => item.value === need) ?? node).range;
}
