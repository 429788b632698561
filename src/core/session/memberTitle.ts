import type { Stage } from "./model";

/** How a member is called in questions: the stage's name, with the member's own where it is one of many. */
export function memberTitle(stage: Pick<Stage, "definition" | "members">, member: string): string {
  return stage.members.length > 1 ? `${stage.definition.name} ${member}` : stage.definition.name;
}
