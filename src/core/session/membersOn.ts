import { ofMember, type StageDefinition } from "./definition";
import type { MemberRef } from "./events";
import type { Member, Session } from "./model";

/** A member and where it belongs: its stage as this member runs it. Services have no stage. */
export interface PlacedMember {
  readonly ref: MemberRef;
  readonly member: Member;
  readonly stage?: StageDefinition;
}

/** All members of the stages and services of a session that are on a host. */
export function membersOn(session: Session, host: string): readonly PlacedMember[] {
  const all: PlacedMember[] = [];
  for (const [name, stage] of session.stages) {
    if (stage.definition.host !== host) continue;
    for (const member of stage.members)
      all.push({ ref: { stage: name, member: member.name }, member, stage: ofMember(stage.definition, member.name) });
  }
  for (const [name, { definition, member }] of session.services) {
    if (definition.host === host) all.push({ ref: { stage: name, member: member.name }, member });
  }
  return all;
}
