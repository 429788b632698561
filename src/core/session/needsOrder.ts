import type { SessionDefinition } from "./definition";

const orders = new WeakMap<SessionDefinition["stages"], readonly string[]>();

/** Stages so that each comes after what it needs; the session file has no cycles (its reader refuses them). */
export function inOrderOfNeeds({ stages }: SessionDefinition): readonly string[] {
  const known = orders.get(stages);
  if (known) return known;
  const order = ordered(stages);
  // It is asked at each event, and a definition never changes.
  orders.set(stages, order);
  return order;
}

function ordered(stages: SessionDefinition["stages"]): readonly string[] {
  const order = new Set<string>();
  const visit = (name: string, trail: ReadonlySet<string>): void => {
    if (order.has(name) || trail.has(name)) return;
    for (const need of stages.get(name)?.needs ?? []) if (stages.has(need)) visit(need, new Set([...trail, name]));
    order.add(name);
  };
  for (const name of stages.keys()) visit(name, new Set());
  return [...order];
}
