import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickSession } from "./shared/pick";

/** Stop Watching: lets go of a watched log (or the demo). The job goes on. */
export async function stopWatching(context: CommandContext, node?: TreeNode): Promise<void> {
  const session = await pickSession(context, node, "Stop Watching");
  if (session) await context.watches.remove(session.id);
}
