import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { CommandContext } from "./shared/context";

/** Forget Secret…: takes values out of the editor's secret storage. Runs that have them keep them. */
export async function forgetSecret(context: CommandContext): Promise<void> {
  const items = context.secrets.list().map((kept) => ({ label: kept.name, description: kept.host, kept }));
  if (items.length === 0) throw new ExpectedError("No secret is kept on this machine.");
  const picked = await vscode.window.showQuickPick(items, { title: "Forget Secret", canPickMany: true });
  for (const { kept } of picked ?? []) await context.secrets.forget(kept);
}
