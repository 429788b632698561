import * as vscode from "vscode";
import { ofMember } from "../core/session/definition";
import { mainProgram } from "../core/session/mainProgram";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";
import { pickStage } from "./shared/pick";
import { searchProgram } from "./shared/programSearch";

/** Find Program on Host…: where a stage's program is, which shells find it, and edits by which a launch does. */
export async function findProgram(context: CommandContext, node?: TreeNode): Promise<void> {
  const title = "Find Program on Host";
  const picked = await pickStage(context, node, ({ stage }) => stage.definition.command !== undefined, title);
  if (!picked) return;
  const { command = "" } = ofMember(picked.stage.definition, picked.ref.member);
  const program = await vscode.window.showInputBox({
    title: `${title}: ${picked.stage.definition.host}`,
    prompt: "The program's name, as the command has it",
    value: mainProgram(command)?.word ?? "",
    validateInput: (text) => (/^[\w.+/~-]*[\w.+-]$/.test(text.trim()) ? undefined : "A name such as hf or torchrun"),
  });
  if (program === undefined) return;
  await searchProgram(context, picked, program.trim(), command);
}
