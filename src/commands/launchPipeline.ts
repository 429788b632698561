import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import { lastSeen } from "../core/session/judge";
import type { Session } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import { planOf, stagesFrom, unfinishedNeeds } from "../core/session/pipelinePlan";
import { shortState } from "../core/session/stateWords";
import { list } from "../core/session/words";
import type { CommandContext } from "./shared/context";
import { startPlan } from "./shared/startPlan";

interface StageItem extends vscode.QuickPickItem {
  readonly session: Session;
  readonly stage: string;
}

const title = "Launch Pipeline";

/** Launch Pipeline From Here…: a stage and what needs it, each when what it needs is finished, while the window is open. */
export async function launchPipeline(context: CommandContext, node?: TreeNode): Promise<void> {
  const start = await pickStart(context, node);
  if (!start) return;
  const { session, stage } = start;
  const stages = stagesFrom(session.definition, stage);
  if (stages.length === 0) throw new ExpectedError(`${stage} has no command: it can be watched, not started.`);
  const before = await pickNeeds(session, stages);
  if (!before) return;
  const current = context.sessions.sessions.get(session.id) ?? session;
  await startPlan(context, current, planOf(current, [...before, ...stages]), title);
}

async function pickStart(
  context: CommandContext,
  node: TreeNode | undefined,
): Promise<Pick<StageItem, "session" | "stage"> | undefined> {
  const sessions = [...context.sessions.sessions.values()].filter(({ id }) => (node?.session ?? id) === id);
  const items = sessions.flatMap((session): StageItem[] =>
    [...session.stages.values()].flatMap(({ definition, state }) => {
      if (definition.command === undefined) return [];
      const { name } = definition;
      const after = stagesFrom(session.definition, name).filter((other) => other !== name);
      const detail = after.length === 0 ? session.definition.name : `then ${list(after)}`;
      return [{ label: name, description: shortState(lastSeen(state)), detail, session, stage: name }];
    }),
  );
  if (node?.kind === "stage") return items.find(({ stage }) => stage === node.stage);
  if (items.length === 0) throw new ExpectedError(`${title}: no open session has a stage that can be launched.`);
  return vscode.window.showQuickPick(items, { title, placeHolder: "From which stage on?" });
}

/** What the stages need that nobody launches: shown, and launched with them where the person wants it. */
async function pickNeeds(session: Session, stages: readonly string[]): Promise<readonly string[] | undefined> {
  const needs = unfinishedNeeds(session, stages);
  if (needs.length === 0) return [];
  const items = needs.map((name) => {
    const stage = session.stages.get(name);
    return {
      label: name,
      description: stage ? shortState(lastSeen(stage.state)) : "",
      detail: stage?.definition.command ?? "",
      picked: true,
    };
  });
  const placeHolder = "These are needed and not finished. What is picked is launched too; the rest is waited for.";
  const options = { title, placeHolder, canPickMany: true as const, ignoreFocusOut: true };
  return (await vscode.window.showQuickPick(items, options))?.map(({ label }) => label);
}
