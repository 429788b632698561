import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { MemberRef } from "../core/session/events";
import { isActive, lastSeen } from "../core/session/judge";
import { memberTitle } from "../core/session/memberTitle";
import type { Session } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import { list } from "../core/session/words";
import type { CommandContext } from "./shared/context";

/** Stop Pipeline…: nothing more of it is launched; what runs is ended too, if the person wants that. */
export async function stopPipeline(context: CommandContext, node?: TreeNode): Promise<void> {
  const session = await pickPipeline(context, node);
  if (!session) return;
  const running = runningOf(session);
  const names = running.map((ref) => titleOf(session, ref));
  const [launching, all] = ["Stop Launching", "Stop What Runs Too"];
  const detail =
    running.length === 0
      ? "Nothing more of it is launched."
      : `Nothing more of it is launched. ${list(names.slice(0, 10))}${names.length > 10 ? " and others" : ""} can go on, or be stopped now. What they have written stays.`;
  const buttons = running.length === 0 ? [launching] : [launching, all];
  const question = `Stop the pipeline of ${session.definition.name}?`;
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, ...buttons);
  if (answer === undefined) return;
  context.pipelines.stop(session.id);
  if (answer !== all) return;
  const options = { location: { viewId: "mlSession.stages" }, title: "Stopping" };
  const ends = await vscode.window.withProgress(options, () =>
    Promise.allSettled(running.map((ref) => context.launcher.stop(session.id, ref))),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function pickPipeline(context: CommandContext, node: TreeNode | undefined): Promise<Session | undefined> {
  const all = [...context.sessions.sessions.values()].filter(
    ({ id, pipeline }) => (node?.session ?? id) === id && pipeline !== undefined && pipeline.standing !== "through",
  );
  if (all.length === 0) throw new ExpectedError("Stop Pipeline: no pipeline goes on in this window.");
  if (all.length === 1) return all[0];
  const items = all.map((session) => ({ label: session.definition.name, description: session.id, session }));
  return (await vscode.window.showQuickPick(items, { title: "Stop Pipeline" }))?.session;
}

/** Runs of its stages that are under way, whoever launched them. */
function runningOf(session: Session): readonly MemberRef[] {
  return (session.pipeline?.plan.stages ?? []).flatMap((stage) =>
    (session.stages.get(stage)?.members ?? [])
      .filter(({ run, state }) => run !== undefined && isActive(lastSeen(state)))
      .map(({ name }) => ({ stage, member: name })),
  );
}

function titleOf(session: Session, { stage, member }: MemberRef): string {
  const found = session.stages.get(stage);
  return found ? memberTitle(found, member) : stage;
}
