import * as vscode from "vscode";
import { ExpectedError } from "../../core/errors";
import type { MemberRef } from "../../core/session/events";
import { lastSeen } from "../../core/session/judge";
import { memberTitle } from "../../core/session/memberTitle";
import type { Member, Session, Stage } from "../../core/session/model";
import type { TreeNode } from "../../core/session/nodes";
import { shortState } from "../../core/session/stateWords";
import type { CommandContext } from "./context";

/** One member of a stage of an open session. */
export interface PickedStage {
  readonly session: Session;
  readonly stage: Stage;
  readonly member: Member;
  readonly ref: MemberRef;
}

interface StageItem extends vscode.QuickPickItem {
  readonly choice: PickedStage;
}

/**
 * The stage a command is for: the row it was called on, or the only one that fits, or the one the person picks.
 * Undefined: they picked none.
 */
export async function pickStage(
  context: CommandContext,
  node: TreeNode | undefined,
  fits: (picked: PickedStage) => boolean,
  title: string,
): Promise<PickedStage | undefined> {
  const called = allStages(context).filter((picked) => isCalledOn(picked, node));
  const [row] = called;
  // A row of many members stands for all of them; which one is meant is asked.
  if (node?.kind === "stage" && called.length < 2) return row;
  const candidates = called.filter(fits);
  if (candidates.length === 0) throw new ExpectedError(`${title}: no stage of an open session fits.`);
  const [only] = candidates;
  if (candidates.length === 1 && only) return only;
  const items: StageItem[] = candidates.map((picked) => ({
    label: memberTitle(picked.stage, picked.ref.member),
    description: shortState(lastSeen(picked.member.state)),
    detail: picked.session.definition.name,
    choice: picked,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.choice;
}

function isCalledOn({ session, ref }: PickedStage, node: TreeNode | undefined): boolean {
  if (node?.kind !== "stage") return true;
  return session.id === node.session && ref.stage === node.stage && (node.member ?? ref.member) === ref.member;
}

/** The session a command is for: the row's, or the only one, or the one the person picks. */
export async function pickSession(
  context: CommandContext,
  node: TreeNode | undefined,
  title: string,
): Promise<Session | undefined> {
  const { sessions } = context.sessions;
  if (node) return sessions.get(node.session);
  const all = [...sessions.values()];
  if (all.length === 0) throw new ExpectedError(`${title}: no session is open.`);
  if (all.length === 1) return all[0];
  const items = all.map((session) => ({ label: session.definition.name, description: session.id, session }));
  return (await vscode.window.showQuickPick(items, { title }))?.session;
}

function allStages(context: CommandContext): readonly PickedStage[] {
  const all: PickedStage[] = [];
  for (const session of context.sessions.sessions.values()) {
    for (const [name, stage] of session.stages) {
      for (const member of stage.members)
        all.push({ session, stage, member, ref: { stage: name, member: member.name } });
    }
  }
  return all;
}
