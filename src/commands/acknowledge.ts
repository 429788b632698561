import type { TreeNode } from "../core/session/nodes";
import { isBad, lastSeen } from "../core/session/judge";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";

/** Acknowledge: the failure was seen; it stays in the tree, without the alarm. */
export async function acknowledge(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickStage(
    context,
    node,
    ({ member }) => !member.acknowledged && isBad(lastSeen(member.state)),
    "Acknowledge",
  );
  if (picked) context.store.apply(picked.session.id, { type: "acknowledged", at: context.clock.now(), ...picked.ref });
}
