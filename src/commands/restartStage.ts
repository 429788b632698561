import * as vscode from "vscode";
import type { Cure } from "../core/session/cure";
import { ofMember, type StageKind } from "../core/session/definition";
import { memberTitle } from "../core/session/memberTitle";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { mendAndRestart } from "./shared/mend";
import { pickStage, type PickedStage } from "./shared/pick";
import { askHowToStart, tellKept } from "./shared/restartQuestion";

interface Way extends vscode.QuickPickItem {
  readonly cure?: Cure;
}

/** Restart Stage…, and by kind: Restart Download, Restart Inference, Restart Extraction, Restart Training. */
export async function restartStage(context: CommandContext, node?: TreeNode, kind?: StageKind): Promise<void> {
  const title = kind === undefined ? "Restart Stage" : `Restart ${kind[0]?.toUpperCase() ?? ""}${kind.slice(1)}`;
  const picked = await pickStage(
    context,
    node,
    ({ stage }) => stage.definition.command !== undefined && (kind === undefined || stage.definition.kind === kind),
    title,
  );
  if (!picked) return;
  const way = await pickWay(picked, title);
  if (!way) return;
  const chosen = await askHowToStart(context, picked, title);
  if (!chosen) return;
  if (way.cure) await mendAndRestart(context, picked, way.cure, chosen);
  else tellKept((await context.launcher.restart(picked.session.id, picked.ref, chosen)).kept);
}

/** Where cures were found on the host they are offered first; else there is nothing to choose. */
async function pickWay({ member, ref, stage }: PickedStage, title: string): Promise<Way | undefined> {
  const { command = "" } = ofMember(stage.definition, ref.member);
  const unchanged: Way = { label: "$(debug-restart) Restart unchanged", detail: command };
  if (member.cures.length === 0) return unchanged;
  const ways: Way[] = member.cures.map((cure) => ({
    label: `$(lightbulb) ${cure.title}`,
    detail: `${cure.detail}. The session file is changed: ${cure.program} becomes ${cure.replacement}.`,
    cure,
  }));
  return vscode.window.showQuickPick([...ways, unchanged], { title: `${title}: ${memberTitle(stage, ref.member)}` });
}
