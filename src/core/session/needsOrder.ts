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

const dependants = new WeakMap<SessionDefinition["stages"], Map<string, readonly string[]>>();

/** The stage and all that needs it, be it through others, each after what it needs; for a service, what needs that. */
export function dependantsOf(definition: SessionDefinition, name: string): readonly string[] {
  const { stages } = definition;
  const known = dependants.get(stages) ?? new Map<string, readonly string[]>();
  dependants.set(stages, known);
  const told = known.get(name);
  if (told) return told;
  const all = new Set([name]);
  for (const one of inOrderOfNeeds(definition)) {
    if (stages.get(one)?.needs.some((need) => all.has(need))) all.add(one);
  }
  const ordered = inOrderOfNeeds(definition).filter((one) => all.has(one));
  known.set(name, ordered);
  return ordered;
}
