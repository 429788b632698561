import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickSession } from "./shared/pick";

/** Morning Report: what happened in a session since somebody last looked, or in the last twelve hours. */
export async function morningReport(context: CommandContext, node?: TreeNode): Promise<void> {
  const session = await pickSession(context, node, "Morning Report");
  if (session) await context.showReport(session.id);
}
