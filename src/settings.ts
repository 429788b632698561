import * as vscode from "vscode";

/** The user's settings, read anew at each asking. */
export interface Settings {
  readonly notifications: boolean;
  readonly connectAutomatically: boolean;
  readonly logDiagnostics: boolean;
  /** `""`: the user's own. */
  readonly sshConfigFile: string;
  readonly sshClient: "automatic" | "built-in" | "system";
}

/**
 * The SSH configuration may name programs to run, so it is taken from the user's settings alone, whatever a workspace
 * says: the manifest's scope is not relied upon.
 */
export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration("mlSession");
  return {
    notifications: section.get("notifications.enabled", true),
    connectAutomatically: section.get("connectAutomatically", true),
    logDiagnostics: section.get("logDiagnostics", true),
    sshConfigFile: section.inspect<string>("ssh.configFile")?.globalValue ?? "",
    sshClient: clientOf(section.inspect<string>("ssh.client")?.globalValue),
  };
}

function clientOf(value: string | undefined): Settings["sshClient"] {
  return value === "built-in" || value === "system" ? value : "automatic";
}
