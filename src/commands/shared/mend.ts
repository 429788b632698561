import { ExpectedError } from "../../core/errors";
import type { Cure } from "../../core/session/cure";
import { replaceProgram } from "../../core/session/sessionEdit";
import type { CommandContext } from "./context";
import type { PickedStage } from "./pick";

/** Mends the session file as the cure says, and restarts the stage with what it says then. */
export async function mendAndRestart(context: CommandContext, picked: PickedStage, cure: Cure): Promise<void> {
  const { session, ref } = picked;
  const mended = await context.files.edit(session.id, (text) =>
    replaceProgram(text, ref.stage, cure.program, cure.replacement),
  );
  if (!mended) {
    throw new ExpectedError(
      `The command of ${ref.stage} could not be changed by itself: put ${cure.replacement} in place of ${cure.program} in the session file, then restart it.`,
    );
  }
  await context.launcher.restart(session.id, ref);
}
