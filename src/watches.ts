import type * as vscode from "vscode";
import type { Watches } from "./commands/shared/context";
import type { HostConnector } from "./core/ports";
import type { OpenSessions } from "./core/openSessions";
import type { HostDefinition, SessionDefinition, StageDefinition } from "./core/session/definition";

const memoryKey = "mlSession.watches";

/** A definition as JSON keeps it. */
interface KeptWatch {
  readonly name: string;
  readonly host: HostDefinition;
  readonly stage: StageDefinition;
}

/** Watched logs, kept with the workspace; what they were watching is in the picture again when it opens. */
export class WorkspaceWatches implements Watches {
  readonly #open: OpenSessions;
  readonly #connector: HostConnector;
  readonly #memory: vscode.Memento;
  /** Closes a session that is not a watch (the demo). */
  readonly #closeOther: (session: string) => Promise<void>;

  constructor(
    open: OpenSessions,
    connector: HostConnector,
    memory: vscode.Memento,
    closeOther: (session: string) => Promise<void>,
  ) {
    this.#open = open;
    this.#connector = connector;
    this.#memory = memory;
    this.#closeOther = closeOther;
  }

  /** The ids of what was watched when the workspace was last open, now open again. */
  restore(): readonly string[] {
    return this.#kept().map((kept) => this.#openOne(kept));
  }

  async add(definition: SessionDefinition): Promise<string> {
    const [host] = definition.hosts.values();
    const [stage] = definition.stages.values();
    if (!host || !stage) throw new Error("A watch has one host and one log.");
    const kept: KeptWatch = { name: definition.name, host, stage };
    const id = this.#openOne(kept);
    await this.#memory.update(memoryKey, [...this.#kept().filter((one) => idOf(one) !== id), kept]);
    return id;
  }

  async remove(session: string): Promise<void> {
    if (!session.startsWith("watch:")) {
      await this.#closeOther(session);
      return;
    }
    this.#open.close(session);
    await this.#memory.update(
      memoryKey,
      this.#kept().filter((one) => idOf(one) !== session),
    );
  }

  #kept(): readonly KeptWatch[] {
    return this.#memory.get<readonly KeptWatch[]>(memoryKey, []);
  }

  #openOne({ name, host, stage }: KeptWatch): string {
    const id = idOf({ name, host, stage });
    const definition: SessionDefinition = {
      name,
      hosts: new Map([[host.name, host]]),
      services: new Map(),
      stages: new Map([[stage.name, stage]]),
    };
    this.#open.open(id, definition, this.#connector);
    return id;
  }
}

function idOf({ host, stage }: KeptWatch): string {
  return `watch:${host.name}:${stage.log ?? ""}`;
}
