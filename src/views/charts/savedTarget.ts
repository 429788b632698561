import type { TreeNode } from "../../core/session/nodes";

/** The row that a page was opened for, of the state that it kept; whatever else it kept is ignored. */
export function savedTarget(state: unknown): TreeNode | undefined {
  if (typeof state !== "object" || state === null || !("target" in state)) return undefined;
  const { target } = state;
  return isTreeNode(target) ? target : undefined;
}

const namesOf: Readonly<Record<TreeNode["kind"], readonly string[]>> = {
  session: ["session"],
  host: ["session", "host"],
  stage: ["session", "stage"],
  service: ["session", "service"],
  gpu: ["session", "host", "index"],
};

function isTreeNode(value: unknown): value is TreeNode {
  if (typeof value !== "object" || value === null || !("kind" in value) || typeof value.kind !== "string") return false;
  const names = new Map(Object.entries(namesOf)).get(value.kind);
  const fields = new Map<string, unknown>(Object.entries(value));
  return names?.every((name) => typeof fields.get(name) === (name === "index" ? "number" : "string")) ?? false;
}
