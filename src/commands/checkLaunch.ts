import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { MemberRef } from "../core/session/events";
import { isActive, lastSeen } from "../core/session/judge";
import { memberTitle } from "../core/session/memberTitle";
import type { Member, Session, Stage } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import { isFinished, stagesFrom } from "../core/session/pipelinePlan";
import { shortState } from "../core/session/stateWords";
import { showCheck } from "./shared/checkList";
import type { CommandContext } from "./shared/context";

const title = "Check Before Launch";

interface StageItem extends vscode.QuickPickItem {
  readonly session: Session;
  readonly stage: Stage;
}

/**
 * Check Before Launch…: what a launch of the stage would meet, all its members at once, as one list; a row with a fix
 * applies it. The last row checks the pipeline from there on.
 */
export async function checkLaunch(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickLaunchable(context, node);
  if (!picked) return;
  const { session, stage } = picked;
  const { name } = stage.definition;
  const member = node?.kind === "stage" ? node.member : undefined;
  const refs = member === undefined ? refsOf(stage) : [{ stage: name, member }];
  const all = stagesFrom(session.definition, name);
  const follow = all.filter((other) => other !== name);
  const asked = { session, refs, name: member === undefined ? name : memberTitle(stage, member), follow };
  if ((await showCheck(context, asked)) !== "follow") return;
  const stages = all.flatMap((other) => session.stages.get(other) ?? []);
  const open = stages.filter((other) => openMembers(other).length > 0);
  const everything = (open.length > 0 ? open : stages).flatMap(refsOf);
  await showCheck(context, { session, refs: everything, name: `${name} and what follows` });
}

/** Those that a launch of the stage would start; where nothing is left to do, all of them. */
function refsOf(stage: Stage): readonly MemberRef[] {
  const open = openMembers(stage);
  return (open.length > 0 ? open : stage.members).map(({ name }) => ({ stage: stage.definition.name, member: name }));
}

function openMembers({ members }: Stage): readonly Member[] {
  return members.filter(({ state }) => !isFinished(state) && !isActive(lastSeen(state)));
}

async function pickLaunchable(
  context: CommandContext,
  node: TreeNode | undefined,
): Promise<Pick<StageItem, "session" | "stage"> | undefined> {
  const items = [...context.sessions.sessions.values()].flatMap((session) =>
    [...session.stages.values()]
      .filter(({ definition }) => definition.command !== undefined)
      .map((stage): StageItem => {
        const description = shortState(lastSeen(stage.state));
        return { label: stage.definition.name, description, detail: session.definition.name, session, stage };
      }),
  );
  if (node?.kind === "stage")
    return items.find(({ session, stage }) => session.id === node.session && stage.definition.name === node.stage);
  if (items.length === 0) throw new ExpectedError(`${title}: no stage of an open session fits.`);
  return items.length === 1 ? items[0] : vscode.window.showQuickPick(items, { title });
}
