import * as vscode from "vscode";
import { isActive, lastSeen } from "../core/session/judge";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";

/** Stop Stage…: ends a run, after a yes. */
export async function stopStage(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickStage(context, node, ({ member }) => isActive(lastSeen(member.state)), "Stop Stage");
  if (!picked) return;
  const { signal, graceSeconds } = picked.stage.definition.stop;
  const yes = "Stop";
  const detail = `Its processes get SIG${signal}, and after ${graceSeconds} s SIGKILL.`;
  const answer = await vscode.window.showWarningMessage(`Stop ${picked.ref.stage}?`, { modal: true, detail }, yes);
  if (answer !== yes) return;
  await vscode.window.withProgress(
    { location: { viewId: "mlSession.stages" }, title: `Stopping ${picked.ref.stage}` },
    () => context.launcher.stop(picked.session.id, picked.ref),
  );
}
