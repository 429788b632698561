import { isActive, lastSeen } from "../core/session/judge";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";
import { askHowToStart, tellKept } from "./shared/restartQuestion";

/** Launch Stage…: starts a stage that is not running; over what is there already only after a question. */
export async function launchStage(context: CommandContext, node?: TreeNode): Promise<void> {
  const title = "Launch Stage";
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
