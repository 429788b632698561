import type * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import type { DocumentSelector } from "vscode-languageclient/node";
import type { LanguageServerOptions } from "../protocol/language";

/** Where documents lie that the server reads. Logs of remote hosts have their failures from the store instead. */
const schemes = ["file", "vscode-remote", "untitled"];

const documentSelector: DocumentSelector = schemes.flatMap((scheme) => [
  { scheme, language: "yaml", pattern: "**/ml-session.yaml" },
  { scheme, language: "yaml", pattern: "**/ml-session.local.yaml" },
  { scheme, language: "log" },
  { scheme, pattern: "**/*.log" },
]);

/** What the client needs from the extension. */
export interface LanguageClientContext {
  /** Absolute path of the server's bundle. */
  readonly serverModule: string;
  readonly output: vscode.LogOutputChannel;
  readonly logDiagnostics: boolean;
}

/** Starts the language server in a process of its own. Rejects if it cannot be started. */
export async function startLanguageClient(context: LanguageClientContext): Promise<{ stop(): Promise<void> }> {
  const options: LanguageServerOptions = { logDiagnostics: context.logDiagnostics };
  const client = new LanguageClient(
    "ml-session",
    "ML Session",
    { module: context.serverModule, transport: TransportKind.ipc },
    { documentSelector, initializationOptions: options, outputChannel: context.output },
  );
  await client.start();
  return {
    stop: async () => {
      // Stopping one that is still starting or has crashed throws; either way nothing is left to stop.
      if (client.isRunning()) await client.stop();
    },
  };
}
