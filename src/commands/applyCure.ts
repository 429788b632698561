import type { TreeNode } from "../core/session/nodes";
import { ExpectedError } from "../core/errors";
import type { CommandContext } from "./shared/context";
import { mendAndRestart } from "./shared/mend";
import { pickStage } from "./shared/pick";
import { askHowToStart } from "./shared/restartQuestion";

/** The quick fix on a failing line: mends with exactly the cure that was shown there. */
export async function applyCure(context: CommandContext, node?: TreeNode, replacement?: string): Promise<void> {
  const picked = await pickStage(context, node, ({ member }) => member.cures.length > 0, "Apply Cure");
  if (!picked) return;
  const { cures } = picked.member;
  const cure =
    cures.find((one) => one.replacement === replacement) ?? (replacement === undefined ? cures[0] : undefined);
  if (!cure) throw new ExpectedError(`This cure of ${picked.ref.stage} is no longer at hand.`);
  const chosen = await askHowToStart(context, picked, cure.title);
  if (chosen) await mendAndRestart(context, picked, cure, chosen);
}
