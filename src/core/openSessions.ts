import type { Disposable } from "./lifecycle";
import { Monitor } from "./monitor";
import type { MonitorContext } from "./monitorContext";
import type { HostConnector, HostOps } from "./ports";
import type { SessionDefinition } from "./session/definition";
import { keepSeriesWithin } from "./session/seriesBudget";

/** How often it is looked whether the computer slept. */
const sleepCheckMs = 2000;
/** A clock that went on by so much more than it should has slept, ms. */
const jumpMs = 10_000;

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
    void this.#watchForSleep();
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
      if (!known.monitors.has(host)) known.monitors.set(host, this.#newMonitor(id, host, known.connector));
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

  /** Hosts that are away are tried again now: somebody looks, or something tells that the network is back. */
  tryNow(): void {
    for (const monitor of this.#monitors()) monitor.tryNow();
  }

  /** The computer slept, or its network is another one: links that may be gone unnoticed are checked at once. */
  checkLinks(): void {
    // What breaks meanwhile is told by the link itself.
    for (const monitor of this.#monitors()) void monitor.check();
  }

  dispose(): void {
    this.#ending.abort();
    for (const id of [...this.#open.keys()]) this.close(id);
  }

  #newMonitor(id: string, host: string, connector: HostConnector): Monitor {
    const monitor = new Monitor(this.#context, id, host, connector);
    // Where one host is back, the others may be: the cause of all is mostly the same.
    monitor.onDidConnect(() => {
      this.tryNow();
    });
    return monitor;
  }

  #monitors(): readonly Monitor[] {
    return [...this.#open.values()].flatMap(({ monitors }) => [...monitors.values()]);
  }

  /** Timers stand still while a computer sleeps, the wall clock does not. */
  async #watchForSleep(): Promise<void> {
    const { clock, logger } = this.#context;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const before = clock.now();
      await clock.sleep(sleepCheckMs, signal).catch(() => undefined); // aborted: the loop ends by itself
      if (clock.now() - before < sleepCheckMs + jumpMs) continue;
      logger.info("The computer slept; the links to all hosts are checked.");
      this.checkLinks();
    }
  }

  async #tick(): Promise<void> {
    const { clock, store } = this.#context;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      for (const id of this.#open.keys()) store.apply(id, { type: "tick", at: clock.now() });
      keepSeriesWithin(store.sessions.values());
      await clock.sleep(tickEveryMs, signal).catch(() => undefined); // aborted: the loop ends by itself
    }
  }
}
