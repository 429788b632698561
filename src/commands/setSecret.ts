import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import type { HostDefinition } from "../core/session/definition";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";

interface SecretItem extends vscode.QuickPickItem {
  readonly host: HostDefinition;
}

/** Set Secret…: gives a variable that a host's `secrets` names its value, typed unseen. */
export async function setSecret(context: CommandContext, node?: TreeNode): Promise<void> {
  const items = new Map<string, SecretItem>();
  for (const session of context.sessions.sessions.values()) {
    if (node && node.session !== session.id) continue;
    for (const host of session.definition.hosts.values()) {
      if (node?.kind === "host" && node.host !== host.name) continue;
      for (const name of host.secrets)
        items.set(`${JSON.stringify(host.address)} ${name}`, { label: name, description: host.name, host });
    }
  }
  const all = [...items.values()];
  if (all.length === 0) throw new ExpectedError("No host of an open session names `secrets` in its session file.");
  const picked =
    all.length === 1
      ? all[0]
      : await vscode.window.showQuickPick(all, { title: "Set Secret", matchOnDescription: true });
  if (!picked || (await context.secrets.ask(picked.host, picked.label)) === undefined) return;
  void vscode.window.setStatusBarMessage(`${picked.label} is kept for ${picked.host.name}`, 5000);
}
