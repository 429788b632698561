import { isActive, lastSeen } from "../core/session/judge";
import type { TreeNode } from "../core/session/nodes";
import { isFinished, planOfMembers } from "../core/session/pipelinePlan";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";
import { askHowToStart, tellKept } from "./shared/restartQuestion";
import { startPlan } from "./shared/startPlan";

/** Launch Stage…: starts a stage that is not running; over what is there already only after a question. */
export async function launchStage(context: CommandContext, node?: TreeNode): Promise<void> {
  const title = "Launch Stage";
  if (node?.kind === "stage" && node.member === undefined && (await launchedAll(context, node, title))) return;
  const picked = await pickStage(
    context,
    node,
    ({ stage, member }) => stage.definition.command !== undefined && !isActive(lastSeen(member.state)),
    title,
  );
  const chosen = picked && (await askHowToStart(context, picked, title));
  if (!picked || !chosen) return;
  tellKept((await context.launcher.restart(picked.session.id, picked.ref, chosen)).kept);
}

/** A row of many members stands for all of them: those are launched that are neither finished nor at work. */
async function launchedAll(
  context: CommandContext,
  node: Extract<TreeNode, { readonly kind: "stage" }>,
  title: string,
): Promise<boolean> {
  const session = context.sessions.sessions.get(node.session);
  const members = session?.stages.get(node.stage)?.members ?? [];
  const open = members.filter(({ state }) => !isFinished(state) && !isActive(lastSeen(state)));
  // Where all are finished, one of them is picked to be launched again.
  if (!session || members.length < 2 || open.length === 0) return false;
  const names = open.map(({ name }) => name);
  await startPlan(context, session, planOfMembers(session, node.stage, names), title);
  return true;
}
