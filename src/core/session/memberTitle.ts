import type { StageDefinition } from "./definition";

/** How a member is called in questions: the stage's name, with the member's own unless the stage has no `matrix`. */
export function memberTitle({ definition }: { readonly definition: StageDefinition }, member: string): string {
  const one = definition.memberParts === undefined && definition.members.length === 1;
  return one ? definition.name : `${definition.name} ${member}`;
}
