import type { ExistingWork } from "../existingWork";
import { ofMember } from "./definition";
import { dependantsOf } from "./dependants";
import type { MemberRef } from "./events";
import { checkpointThere } from "./existingWords";
import type { Session } from "./model";
import { runText } from "./restartPlan";
import { list } from "./words";

/**
 * What a person should know before a run is stopped: how long it went on and how far it is, its newest checkpoint, what
 * waits for it, and how it is ended. Lines of plain words; may quote a host.
 * @param work undefined where the host could not be asked
 */
export function stopDetail(
  session: Session,
  ref: MemberRef,
  work: ExistingWork | undefined,
  now: number,
): readonly string[] {
  const stage = session.stages.get(ref.stage);
  const member = stage?.members.find(({ name }) => name === ref.member);
  if (!stage || !member) return [];
  const { stop, kind } = ofMember(stage.definition, ref.member);
  const checkpoint = work && checkpointThere(work);
  const saves = kind === "training" ? "No checkpoint of it was found." : undefined;
  const waiting = dependantsOf(session, ref.stage);
  return [
    `It has been running for ${runText(member, now)}.`,
    checkpoint === undefined ? work && saves : `Its newest checkpoint is ${checkpoint}.`,
    waiting.length === 0 ? undefined : `${list(waiting)} ${waiting.length === 1 ? "needs" : "need"} it.`,
    `Its processes get SIG${stop.signal}, and after ${stop.graceSeconds} s SIGKILL.`,
  ].filter((line) => line !== undefined);
}
