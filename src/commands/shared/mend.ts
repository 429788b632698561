import { ExpectedError } from "../../core/errors";
import type { RestartChosen } from "../../core/launcher";
import type { Cure } from "../../core/session/cure";
import type { CommandContext } from "./context";
import type { PickedStage } from "./pick";
import { tellKept } from "./restartQuestion";

/** Mends the session file as the cure says, and restarts the stage with what it says then. */
export async function mendAndRestart(
  context: CommandContext,
  picked: PickedStage,
  cure: Cure,
  chosen: RestartChosen,
): Promise<void> {
  const { session, ref } = picked;
  if (!(await context.files.mend(session.id, ref.stage, cure))) {
    throw new ExpectedError(
      `The command of ${ref.stage} could not be changed by itself: put ${cure.replacement} in place of ${cure.program} in the session file, then restart it.`,
    );
  }
  tellKept((await context.launcher.restart(session.id, ref, chosen)).kept);
}
