import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { MemberRef } from "../core/session/events";
import { isBad, lastSeen } from "../core/session/judge";
import { memberTitle } from "../core/session/memberTitle";
import type { Member, Session, Stage } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import { planOfRefs } from "../core/session/pipelinePlan";
import { causeWithExit, shortState } from "../core/session/stateWords";
import { amount, firstSentence } from "../core/session/words";
import type { CommandContext } from "./shared/context";
import { startPlan } from "./shared/startPlan";

interface Broken {
  readonly session: Session;
  readonly stages: readonly Stage[];
}

interface StageItem extends vscode.QuickPickItem {
  readonly broken: Broken;
}

interface MemberItem extends vscode.QuickPickItem {
  readonly ref: MemberRef;
}

const title = "Restart Failed Members";

/**
 * Restart Failed Members…: of those of a stage's members that failed (or of a session's stages), all or a choice, as many
 * at once as their GPUs let them.
 */
export async function restartFailedMembers(context: CommandContext, node?: TreeNode): Promise<void> {
  const picked = await pickBroken(context, node);
  if (!picked) return;
  const { session } = picked;
  const all = picked.stages.flatMap((stage) => broken(stage).map((member) => itemOf(stage, member)));
  const [only] = all;
  // A single one is asked about by Restart Stage, with its cures.
  if (only && all.length === 1) {
    await vscode.commands.executeCommand("mlSession.restartStage", { kind: "stage", session: session.id, ...only.ref });
    return;
  }
  const placeHolder = "What is picked is restarted; the others stay as they are.";
  const options = { title, placeHolder, canPickMany: true as const, ignoreFocusOut: true, matchOnDescription: true };
  const chosen = await vscode.window.showQuickPick(all, options);
  if (!chosen || chosen.length === 0) return;
  const current = context.sessions.sessions.get(session.id) ?? session;
  const refs = chosen.map(({ ref }) => ref);
  await startPlan(context, current, planOfRefs(current, refs), title);
}

function itemOf(stage: Stage, { name, state, run }: Member): MemberItem {
  const seen = lastSeen(state);
  const cause = seen.kind === "failed" ? causeWithExit(firstSentence(seen.cause), run) : shortState(seen);
  const ref = { stage: stage.definition.name, member: name };
  return { label: memberTitle(stage, name), description: cause, picked: true, ref };
}

async function pickBroken(context: CommandContext, node: TreeNode | undefined): Promise<Broken | undefined> {
  const found = [...context.sessions.sessions.values()].map((session): Broken => {
    const stages = [...session.stages.values()];
    return {
      session,
      stages: stages.filter((stage) => stage.definition.command !== undefined && broken(stage).length > 0),
    };
  });
  const all = found
    .filter(({ session, stages }) => stages.length > 0 && (node?.session ?? session.id) === session.id)
    .flatMap((one): readonly Broken[] => {
      if (node?.kind === "session") return [one];
      const own = one.stages.filter(({ definition, members }) =>
        node?.kind === "stage" ? definition.name === node.stage : members.length > 1,
      );
      return own.map((stage) => ({ session: one.session, stages: [stage] }));
    });
  if (all.length === 0) throw new ExpectedError(`${title}: no member of a stage has failed.`);
  if (all.length === 1) return all[0];
  const items = all.map((one): StageItem => {
    const [stage] = one.stages;
    const description = `${amount(stage ? broken(stage).length : 0, "member")} failed`;
    return {
      label: stage?.definition.name ?? "",
      description,
      detail: one.session.definition.name,
      broken: one,
    };
  });
  return (await vscode.window.showQuickPick(items, { title }))?.broken;
}

function broken({ members }: Stage): readonly Member[] {
  return members.filter(({ state }) => isBad(lastSeen(state)));
}
