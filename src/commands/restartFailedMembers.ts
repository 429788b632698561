import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import { isBad, lastSeen } from "../core/session/judge";
import type { Member, Session, Stage } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import { planOfMembers } from "../core/session/pipelinePlan";
import { amount } from "../core/session/words";
import type { CommandContext } from "./shared/context";
import { startPlan } from "./shared/startPlan";

interface StageItem extends vscode.QuickPickItem {
  readonly session: Session;
  readonly stage: Stage;
}

const title = "Restart Failed Members";

/** Restart Failed Members…: those of a stage's members that failed, as many at once as their GPUs let them. */
export async function restartFailedMembers(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickBroken(context, node);
  if (!picked) return;
  const { session, stage } = picked;
  const names = broken(stage).map(({ name }) => name);
  await startPlan(context, session, planOfMembers(session, stage.definition.name, names), title);
}

async function pickBroken(
  context: CommandContext,
  node: TreeNode | undefined,
): Promise<Pick<StageItem, "session" | "stage"> | undefined> {
  const all = [...context.sessions.sessions.values()].flatMap((session): StageItem[] =>
    [...session.stages.values()]
      .filter((stage) => stage.definition.command !== undefined && stage.members.length > 1 && broken(stage).length > 0)
      .map((stage) => ({
        label: stage.definition.name,
        description: `${amount(broken(stage).length, "member")} failed`,
        detail: session.definition.name,
        session,
        stage,
      })),
  );
  const fitting =
    node?.kind === "stage"
      ? all.filter(({ session, stage }) => session.id === node.session && stage.definition.name === node.stage)
      : all;
  if (fitting.length === 0) throw new ExpectedError(`${title}: no member of a stage has failed.`);
  return fitting.length === 1 ? fitting[0] : vscode.window.showQuickPick(fitting, { title });
}

function broken({ members }: Stage): readonly Member[] {
  return members.filter(({ state }) => isBad(lastSeen(state)));
}
