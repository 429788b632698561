import * as vscode from "vscode";
import type { KeptSecret, KeptSecrets } from "./commands/shared/context";
import type { SecretStore } from "./core/launchSecrets";
import type { HostDefinition } from "./core/session/definition";

/** Which secrets are kept, without their values: SecretStorage cannot list what it holds before VS Code 1.107. */
const listMemory = "mlSession.keptSecrets";

/**
 * Secrets in the editor's SecretStorage. A value belongs to the host's address, not to the name that a session file gives
 * it: a file that calls another machine by a known name does not get what was typed for the known one.
 */
export function createSecrets(storage: vscode.SecretStorage, memory: vscode.Memento): SecretStore & KeptSecrets {
  const list = (): readonly KeptSecret[] => memory.get<readonly KeptSecret[]>(listMemory, []);
  const without = (key: string): readonly KeptSecret[] => list().filter((kept) => kept.key !== key);
  const ask = async (host: HostDefinition, name: string): Promise<string | undefined> => {
    const typed = await vscode.window.showInputBox({
      title: `${name} on ${host.name}`,
      prompt:
        "Kept in the editor's secret storage; goes into the environment of what is launched there, and nowhere else",
      password: true,
      ignoreFocusOut: true,
    });
    // Pasted tokens come with blanks around them.
    const value = typed?.trim();
    if (value === undefined || value === "") return undefined;
    const key = keyOf(host, name);
    await storage.store(key, value);
    await memory.update(listMemory, [...without(key), { key, host: host.name, name }]);
    return value;
  };
  return {
    get: async (host, name) => storage.get(keyOf(host, name)),
    ask,
    list,
    forget: async ({ key }) => {
      await storage.delete(key);
      await memory.update(listMemory, without(key));
    },
  };
}

function keyOf(host: HostDefinition, name: string): string {
  return `mlSession.secret ${JSON.stringify(host.address)} ${name}`;
}
