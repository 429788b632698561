import { homedir, userInfo } from "node:os";
import * as vscode from "vscode";
import { windowHosts } from "./core/editorWindow";
import type { Clock, HostConnector, Logger } from "./core/ports";
import type { HostDefinition } from "./core/session/definition";
import type { Prompter, TrustedKeys } from "./core/trust";
import { readSettings } from "./settings";

const keysMemory = "mlSession.trustedHostKeys";
const quietMemory = "mlSession.hostsThatAskNothing";

/** What the connector over the user's SSH is made from. */
export interface SshSideOptions {
  readonly memory: vscode.Memento;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isTrusted: () => boolean;
}

/** The user's SSH as the product sees it: loaded at first use, asks through VS Code, remembers what it may. */
export interface SshSide {
  readonly connector: HostConnector;
  /** Whether the last login there asked nothing, so that it may be repeated without a click. */
  readonly asksNothing: (host: HostDefinition) => boolean;
}

export function createSshSide(options: SshSideOptions): SshSide {
  const { memory, clock, logger, isTrusted } = options;
  let asked = 0;
  const prompter = createPrompter(() => asked++);
  let made: { readonly by: string; readonly connector: HostConnector } | undefined;
  /** One for all hosts while the settings stay: it puts one question at a time, and knows which hosts are for the system's ssh. */
  const load = async (): Promise<HostConnector> => {
    const { createConnector } = await import("./ssh/connector");
    const { sshConfigFile, sshClient } = readSettings();
    const by = JSON.stringify([sshConfigFile, sshClient]);
    if (made?.by === by) return made.connector;
    const connector = createConnector({
      isTrusted,
      prompter,
      trustedKeys: trustedKeys(memory),
      clock,
      logger,
      env: process.env,
      home: homedir(),
      user: userInfo().username,
      sshClient,
      ...(sshConfigFile === "" ? {} : { sshConfigFile }),
    });
    made = { by, connector };
    return connector;
  };
  const connector: HostConnector = {
    connect: async (host, interactive, signal) => {
      const before = asked;
      const ops = await (await load()).connect(host, interactive, signal);
      await rememberQuiet(memory, host, asked === before);
      return ops;
    },
  };
  return { connector, asksNothing: (host) => quietHosts(memory).includes(addressOf(host)) };
}

/** The host that the window itself is about goes first; this machine last, where it can be watched. */
export function withWindowHost(hosts: readonly string[], kind: vscode.ExtensionKind): readonly string[] {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const { remoteName } = vscode.env;
  const { own, local } = windowHosts({
    kind: kind === vscode.ExtensionKind.UI ? "ui" : "workspace",
    platform: process.platform,
    ...(remoteName === undefined ? {} : { remoteName }),
    ...(folder === undefined ? {} : { authority: folder.authority }),
  });
  return [...new Set([...(own === undefined ? [] : [own]), ...hosts, ...(local ? ["local"] : [])])];
}

function quietHosts(memory: vscode.Memento): readonly string[] {
  return memory.get<readonly string[]>(quietMemory, []);
}

async function rememberQuiet(memory: vscode.Memento, host: HostDefinition, quiet: boolean): Promise<void> {
  const others = quietHosts(memory).filter((address) => address !== addressOf(host));
  await memory.update(quietMemory, quiet ? [...others, addressOf(host)] : others);
}

function addressOf(host: HostDefinition): string {
  return JSON.stringify(host.address);
}

/** Kept in the profile of this machine; never synchronised (`setKeysForSync` is not called). */
function trustedKeys(memory: vscode.Memento): TrustedKeys {
  const lines = (): readonly string[] => memory.get<readonly string[]>(keysMemory, []);
  return {
    lines,
    remember: async (line) => {
      await memory.update(keysMemory, [...lines().filter((known) => known !== line), line]);
    },
  };
}

/** @param count hears of each question whose answer the next login needs again; a host key is asked for once. */
function createPrompter(count: () => void): Prompter {
  return {
    confirmHostKey: async ({ host, keyType, fingerprint }) => {
      const yes = "Connect and Remember";
      const detail = `Nobody vouched for its ${keyType} key yet. Compare its fingerprint with what the host's administrator says:\n\n${fingerprint}`;
      const title = `Is this the host ${host}?`;
      return (await vscode.window.showWarningMessage(title, { modal: true, detail }, yes)) === yes;
    },
    ask: async ({ title, prompt, secret }) => {
      count();
      return vscode.window.showInputBox({ title, prompt, password: secret, ignoreFocusOut: true });
    },
  };
}
