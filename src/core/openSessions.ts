import type { Disposable } from "./lifecycle";
import { Monitor } from "./monitor";
import type { MonitorContext } from "./monitorContext";
import type { HostConnector, HostOps } from "./ports";
import type { SessionDefinition } from "./session/definition";

/** How often ages, stalls and ETAs move on while nothing else happens. */
const tickEveryMs = 5000;

interface OpenSession {
  readonly connector: HostConnector;
  readonly monitors: Map<string, Monitor>;
}

/** The sessions of a window and the monitors of their hosts. */
export class OpenSessions implements Disposable {
  readonly #context: MonitorContext;
  readonly #open = new Map<string, OpenSession>();
  readonly #ending = new AbortController();

  constructor(context: MonitorContext) {
    this.#context = context;
    void this.#tick();
  }

  /** Opens a session, or gives an open one its new definition. Connects to nothing by itself. */
  open(id: string, definition: SessionDefinition, connector: HostConnector): void {
    const { store, clock } = this.#context;
    store.open(id, definition, clock.now());
    const known = this.#open.get(id) ?? { connector, monitors: new Map<string, Monitor>() };
    this.#open.set(id, known);
    for (const [host, monitor] of known.monitors) {
      if (definition.hosts.has(host)) {
        monitor.redefine();
        continue;
      }
      monitor.dispose();
      known.monitors.delete(host);
    }
    for (const host of definition.hosts.keys()) {
      if (!known.monitors.has(host)) known.monitors.set(host, new Monitor(this.#context, id, host, known.connector));
    }
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Lets a session go; its jobs go on. */
  close(id: string): void {
    for (const monitor of this.#open.get(id)?.monitors.values() ?? []) monitor.dispose();
    this.#open.delete(id);
    this.#context.store.close(id);
    this.#context.logs.forget(id);
  }

  /**
   * Connects one host of a session, or all. Throws the first ConnectError after all were tried.
   * @param interactive whether a person may be asked.
   */
  async connect(id: string, host: string | undefined, interactive: boolean): Promise<void> {
    const all = [...(this.#open.get(id)?.monitors ?? [])].filter(([name]) => host === undefined || name === host);
    const results = await Promise.allSettled(all.map(([, monitor]) => monitor.connect(interactive)));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  disconnect(id: string, host: string | undefined): void {
    for (const [name, monitor] of this.#open.get(id)?.monitors ?? []) {
      if (host === undefined || name === host) monitor.disconnect();
    }
  }

  /** The connected host of a session, if it is. */
  opsOf(id: string, host: string): HostOps | undefined {
    return this.#open.get(id)?.monitors.get(host)?.ops;
  }

  dispose(): void {
    this.#ending.abort();
    for (const id of [...this.#open.keys()]) this.close(id);
  }

  async #tick(): Promise<void> {
    const { clock, store } = this.#context;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      for (const id of this.#open.keys()) store.apply(id, { type: "tick", at: clock.now() });
      await clock.sleep(tickEveryMs, signal).catch(() => undefined); // aborted: the loop ends by itself
    }
  }
}
