import * as vscode from "vscode";
import { isActive, lastSeen } from "../core/session/judge";
import { memberTitle } from "../core/session/memberTitle";
import type { TreeNode } from "../core/session/nodes";
import type { SeenState } from "../core/session/model";
import { stopDetail } from "../core/session/stopDetail";
import type { CommandContext } from "./shared/context";
import { pickStage, type PickedStage } from "./shared/pick";

const yes = "Stop";
const viewId = "mlSession.stages";

/** Stop Stage…: ends a run, after a yes; or keeps a failed one from being started again by itself. */
export async function stopStage(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickStage(
    context,
    node,
    ({ member }) => isActive(lastSeen(member.state)) || waitsForRetry(lastSeen(member.state)),
    "Stop Stage",
  );
  if (!picked) return;
  if (waitsForRetry(lastSeen(picked.member.state))) await stopRetries(context, picked);
  else await stopRun(context, picked);
}

function waitsForRetry(state: SeenState): boolean {
  return state.kind === "failed" && state.again?.kind === "due";
}

async function stopRetries(context: CommandContext, { session, stage, ref }: PickedStage): Promise<void> {
  const title = `Stop starting ${memberTitle(stage, ref.member)} again?`;
  const detail = "It has failed, and is not started again by itself then: by no window.";
  if ((await vscode.window.showWarningMessage(title, { modal: true, detail }, yes)) !== yes) return;
  await context.launcher.giveUpRetries(session.id, ref);
}

async function stopRun(context: CommandContext, { session, stage, ref }: PickedStage): Promise<void> {
  const name = memberTitle(stage, ref.member);
  const work = await vscode.window.withProgress({ location: { viewId }, title: `Looking at ${name}` }, () =>
    context.launcher.existing(session.id, ref),
  );
  const current = context.sessions.sessions.get(session.id) ?? session;
  const detail = stopDetail(current, ref, work, context.clock.now()).join("\n");
  if ((await vscode.window.showWarningMessage(`Stop ${name}?`, { modal: true, detail }, yes)) !== yes) return;
  await vscode.window.withProgress({ location: { viewId }, title: `Stopping ${name}` }, () =>
    context.launcher.stop(session.id, ref),
  );
}
