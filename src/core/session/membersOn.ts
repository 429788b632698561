import { ofMember, type SessionDefinition, type StageDefinition } from "./definition";
import type { MemberRef } from "./events";
import type { Member, Session } from "./model";

/** A member and where it belongs: its stage as this member runs it. Services have no stage. */
export interface PlacedMember {
  readonly ref: MemberRef;
  readonly member: Member;
  readonly stage?: StageDefinition;
}

const names = new WeakMap<SessionDefinition["stages"], Map<string, string[]>>();

/** The stages of a session's definition that are on a host, in its order. A definition never changes. */
export function stagesOn({ stages }: SessionDefinition, host: string): readonly string[] {
  const known = names.get(stages);
  if (known) return known.get(host) ?? [];
  const byHost = new Map<string, string[]>();
  for (const [name, stage] of stages) {
    const others = byHost.get(stage.host);
    if (others) others.push(name);
    else byHost.set(stage.host, [name]);
  }
  names.set(stages, byHost);
  return byHost.get(host) ?? [];
}

/** All members of the stages and services of a session that are on a host. */
export function membersOn(session: Session, host: string): readonly PlacedMember[] {
  const all: PlacedMember[] = [];
  for (const name of stagesOn(session.definition, host)) {
    const stage = session.stages.get(name);
    if (!stage) continue;
    for (const member of stage.members)
      all.push({ ref: { stage: name, member: member.name }, member, stage: ofMember(stage.definition, member.name) });
  }
  for (const [name, { definition, member }] of session.services) {
    if (definition.host === host) all.push({ ref: { stage: name, member: member.name }, member });
  }
  return all;
}
