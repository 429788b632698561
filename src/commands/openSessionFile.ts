import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickSession } from "./shared/pick";

/** Open Session File, at the stage or service if a row was given. */
export async function openSessionFile(context: CommandContext, node?: TreeNode): Promise<void> {
  const session = await pickSession(context, node, "Open Session File");
  if (!session) return;
  const { definition } = session;
  const named = node?.kind === "stage" ? definition.stages.get(node.stage) : undefined;
  const service = node?.kind === "service" ? definition.services.get(node.service) : undefined;
  await context.files.show(session.id, (named ?? service)?.range.from);
}
