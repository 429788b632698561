import { isActive, lastSeen } from "../core/session/judge";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";

/** Launch Stage…: starts a stage that is not running. */
export async function launchStage(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickStage(
    context,
    node,
    ({ stage, member }) => stage.definition.command !== undefined && !isActive(lastSeen(member.state)),
    "Launch Stage",
  );
  if (picked) await context.launcher.launch(picked.session.id, picked.ref);
}
