import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickSession } from "./shared/pick";

/** Disconnect: one host, or all hosts of a session. Jobs go on. */
export async function disconnect(context: CommandContext, node?: TreeNode): Promise<void> {
  const session = await pickSession(context, node, "Disconnect");
  if (session) context.open.disconnect(session.id, node?.kind === "host" ? node.host : undefined);
}
