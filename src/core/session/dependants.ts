import type { Session } from "./model";

/** Names of the stages that need a stage, directly or through others, in the order of the session file. */
export function dependantsOf(session: Session, stage: string): readonly string[] {
  const found = new Set<string>([stage]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const [name, { definition }] of session.stages) {
      if (definition.needs.some((need) => found.has(need))) found.add(name);
    }
  }
  return [...session.stages.keys()].filter((name) => name !== stage && found.has(name));
}
