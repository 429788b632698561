import type { TreeNode } from "../core/session/nodes";
import { gravest } from "../core/session/judge";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";

/** Open Log: the followed log of a stage or service, at the line that failed it. */
export async function openLog(context: CommandContext, node?: TreeNode, offset?: number): Promise<void> {
  if (node?.kind === "service") {
    await context.showLog(node.session, { stage: node.service, member: "0" }, offset);
    return;
  }
  const picked = await pickStage(context, node, ({ member }) => member.log !== undefined, "Open Log");
  if (!picked) return;
  await context.showLog(picked.session.id, picked.ref, offset ?? gravest(picked.member.failures)?.offset);
}
