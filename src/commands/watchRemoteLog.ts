import * as vscode from "vscode";
import { ExpectedError } from "../core/errors";
import { parseHostAddress } from "../core/session/hostAddress";
import { hostDefaults, stageDefaults } from "../core/session/defaults";
import type { HostDefinition, SessionDefinition, StageDefinition } from "../core/session/definition";
import type { TreeNode } from "../core/session/nodes";
import type { CommandContext } from "./shared/context";

/** Watch Remote Log…: a host and a path, no session file; a job somebody started by hand is seen, red if it is dead. */
export async function watchRemoteLog(context: CommandContext, node?: TreeNode): Promise<void> {
  if (!context.isTrusted())
    throw new ExpectedError("This workspace is in Restricted Mode: nothing is connected to from it.");
  const host = await pickHost(context, node);
  if (!host) return;
  const path = await vscode.window.showInputBox({
    title: `Watch a log on ${host.name}`,
    prompt: "Path of the log on the host; ~/ is the home folder there",
    placeHolder: "/data/synth_25k/inference.log",
    ignoreFocusOut: true,
    validateInput: (text) => (/^(\/|~\/)./.test(text) ? undefined : "A path that begins with / or ~/"),
  });
  if (path === undefined) return;
  const definition = watchDefinition(host, path);
  const session = await context.watches.add(definition);
  const [stage] = definition.stages.keys();
  await vscode.window.withProgress({ location: { viewId: "mlSession.stages" } }, () =>
    context.open.connect(session, undefined, true),
  );
  if (stage !== undefined) await context.showLog(session, { stage, member: "0" });
}

async function pickHost(context: CommandContext, node: TreeNode | undefined): Promise<HostDefinition | undefined> {
  const known = new Map<string, HostDefinition>();
  for (const session of context.sessions.sessions.values()) {
    for (const [name, host] of session.definition.hosts) known.set(name, host);
  }
  if (node?.kind === "host") return known.get(node.host);
  const aliases = (await context.sshHosts()).filter((alias) => !known.has(alias));
  const typed = "$(edit) Type user@host:port…";
  const choice = await vscode.window.showQuickPick(
    [
      ...[...known.keys()].map((label) => ({ label, description: "session file" })),
      ...aliases.map((label) => ({ label, description: "SSH configuration" })),
      { label: typed, description: "" },
    ],
    { title: "Watch Remote Log", placeHolder: "On which host?", ignoreFocusOut: true },
  );
  if (!choice) return undefined;
  if (choice.label !== typed) return known.get(choice.label) ?? hostOf(choice.label);
  const text = await vscode.window.showInputBox({ title: "Host", placeHolder: "user@host:port", ignoreFocusOut: true });
  return text === undefined || text === "" ? undefined : hostOf(text);
}

function hostOf(text: string): HostDefinition {
  const parsed = parseHostAddress(text);
  if (!parsed.ok) throw new ExpectedError(`The host ${parsed.message}`);
  return {
    name: text,
    address: parsed.address,
    ...hostDefaults,
  };
}

function watchDefinition(host: HostDefinition, path: string): SessionDefinition {
  const name =
    path
      .slice(path.lastIndexOf("/") + 1)
      .replace(/[^A-Za-z0-9._-]/g, "_")
      .slice(-64)
      .replace(/^\.+$/, "log") || "log";
  const stage: StageDefinition = {
    ...stageDefaults,
    name,
    host: host.name,
    log: path,
  };
  return {
    name,
    hosts: new Map([[host.name, host]]),
    services: new Map(),
    stages: new Map([[name, stage]]),
  };
}
