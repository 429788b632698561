import type { Launcher } from "../../core/launcher";
import type { SecretStore } from "../../core/launchSecrets";
import type { OpenSessions } from "../../core/openSessions";
import type { PipelineRunner } from "../../core/pipelineRunner";
import type { Cure } from "../../core/session/cure";
import type { SessionDefinition } from "../../core/session/definition";
import type { MemberRef } from "../../core/session/events";
import type { TreeNode } from "../../core/session/nodes";
import type { SessionReader, SessionStore } from "../../core/session/store";
import type { Clock } from "../../core/ports";

/** What commands act with. Made by the entry. */
export interface CommandContext {
  readonly sessions: SessionReader;
  readonly store: SessionStore;
  readonly open: OpenSessions;
  readonly launcher: Launcher;
  readonly pipelines: Pick<PipelineRunner, "start" | "stop">;
  readonly clock: Clock;
  readonly isTrusted: () => boolean;
  readonly files: SessionFiles;
  readonly watches: Watches;
  readonly secrets: KeptSecrets & Pick<SecretStore, "ask">;
  readonly showLog: (session: string, ref: MemberRef, offset?: number) => Promise<void>;
  readonly showCharts: (node?: TreeNode) => void;
  readonly showReport: (session: string) => Promise<void>;
  readonly openDemo: () => Promise<void>;
  readonly showOutput: () => void;
  /** Names of hosts in the user's SSH configuration, for the person to pick from. */
  readonly sshHosts: () => Promise<readonly string[]>;
}

/** The session files behind open sessions. */
export interface SessionFiles {
  /**
   * Changes a stage's command as the cure says, as one edit that can be undone, saves it, and takes it into the picture.
   * False where no edit can be found of which that is sure; then nothing was changed.
   */
  mend(session: string, stage: string, cure: Cure): Promise<boolean>;
  /** Adds an entry to a host's `path` or `setup`, in the same way and with the same promise. */
  addToHost(session: string, host: string, key: "path" | "setup", value: string): Promise<boolean>;
  /** Opens the file, at a place if given. */
  show(session: string, offset?: number): Promise<void>;
}

/** A secret that is kept, without its value. */
export interface KeptSecret {
  readonly key: string;
  /** As the session file called it when it was set. */
  readonly host: string;
  readonly name: string;
}

/** The secrets that are kept on this machine. */
export interface KeptSecrets {
  list(): readonly KeptSecret[];
  forget(secret: KeptSecret): Promise<void>;
}

/** Logs that are watched without a session file; they come back with the workspace. */
export interface Watches {
  add(definition: SessionDefinition): Promise<string>;
  remove(session: string): Promise<void>;
}
