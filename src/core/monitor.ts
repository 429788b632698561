import { retryDelay } from "./backoff";
import { ConnectError, isConnectError, messageOf } from "./errors";
import { Emitter, isAborted, type Disposable, type Event } from "./lifecycle";
import type { MonitorContext, Watch } from "./monitorContext";
import type { HostConnector, HostOps } from "./ports";
import type { HostDefinition } from "./session/definition";
import type { SessionEvent } from "./session/events";

/** A connection that held for less does not end the patience that the tries before it had come to, ms. */
const heldMs = 5000;
/** A link that is asked for a sign of life and gives none for so long is lost, ms. */
const checkMs = 8000;
/**
 * The first try after a lost link is given up after so long, ms, or after so many times what the host needed before: what
 * was sent while the network was away is not sent again for long (TCP), and a new try comes through at once.
 */
const patienceMs = 5000;
const patienceTimes = 3;

/**
 * Keeps the picture of one host of one session true: connects, watches, and comes back by itself after the network
 * was away. Whatever needs a person (a login, a host key) is left standing as a state until somebody clicks.
 */
export class Monitor implements Disposable {
  readonly #context: MonitorContext;
  readonly #session: string;
  readonly #host: string;
  readonly #connector: HostConnector;
  readonly #connects = new Emitter<undefined>();
  /** Fires at each connection. */
  readonly onDidConnect: Event<undefined> = (listener) => this.#connects.event(listener);
  #watch: Watch | undefined;
  #ending: AbortController | undefined;
  #ops: HostOps | undefined;
  /** Ends the wait before the next try. */
  #waiting: AbortController | undefined;
  /** Gives the present connection up, with the reason. */
  #giveUp: ((why: string) => void) | undefined;
  /** By what it was connected last. */
  #connectedBy: HostDefinition | undefined;
  /** How long that took, ms, with what a person was asked; undefined before the first time. */
  #connectedIn: number | undefined;

  constructor(context: MonitorContext, session: string, host: string, connector: HostConnector) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
    this.#connector = connector;
  }

  /** The connected host; undefined while it cannot be reached. */
  get ops(): HostOps | undefined {
    return this.#ops;
  }

  /**
   * Connects, and stays connected until `disconnect`. Resolves when the first try has ended well; throws its
   * ConnectError otherwise (an unreachable host is tried again in the background all the same).
   */
  async connect(interactive: boolean): Promise<void> {
    if (this.#ops) return;
    this.#ending?.abort();
    const ending = new AbortController();
    this.#ending = ending;
    await new Promise<void>((resolve, reject) => {
      void this.#stayConnected(interactive, ending.signal, (error) => {
        if (error === undefined) resolve();
        else reject(error instanceof Error ? error : new Error(messageOf(error)));
      });
    });
  }

  /** Lets the host go; jobs there go on. */
  disconnect(): void {
    if (!this.#ending) return;
    this.#end();
    this.#apply({ type: "disconnected", at: this.#context.clock.now(), host: this.#host, byUser: true, message: "" });
  }

  /**
   * The session says something else of the host. It counts from now on; where it is somewhere else, the old place is let
   * go, and nothing connects to the new one before somebody asks.
   */
  redefine(): void {
    const definition = this.#definition();
    if (!definition || !this.#connectedBy) return;
    if (placeOf(definition) === placeOf(this.#connectedBy)) this.#ops?.redefine(definition);
    else this.disconnect();
  }

  /** Something has changed for the better, as far as can be told: what waits for its next try has it now. */
  tryNow(): void {
    this.#waiting?.abort();
  }

  /** The link may be gone without anybody having said so (the computer slept, the network is another one). */
  async check(): Promise<void> {
    this.tryNow();
    const { clock, logger } = this.#context;
    const giveUp = this.#giveUp;
    const asked = this.#ops?.ping?.();
    if (!asked || !giveUp) return;
    const over = new AbortController();
    const late = clock.sleep(checkMs, over.signal).then(
      () => true,
      () => false,
    );
    // A link that breaks meanwhile says so itself.
    const silent = await Promise.race([asked.then(no, no), late]);
    over.abort();
    if (silent) giveUp(`the host did not answer for ${checkMs / 1000} s`);
    else logger.debug(`${this.#host}: checked`);
  }

  dispose(): void {
    this.#connects.dispose();
    this.#end();
  }

  #definition(): HostDefinition | undefined {
    return this.#context.store.sessions.get(this.#session)?.hosts.get(this.#host)?.definition;
  }

  #end(): void {
    this.#ending?.abort();
    this.#ending = undefined;
    this.#ops?.dispose();
    this.#ops = undefined;
  }

  /** @param settled hears once how the first try ended */
  async #stayConnected(interactive: boolean, signal: AbortSignal, settled: (error?: unknown) => void): Promise<void> {
    const { logger, clock } = this.#context;
    let tries = 0;
    let mayAsk = interactive;
    let tell: ((error?: unknown) => void) | undefined = settled;
    while (!signal.aborted) {
      try {
        const ops = await this.#open(mayAsk, tries, signal);
        tell?.();
        tell = undefined;
        const since = clock.now();
        await this.#watchUntilClosed(ops, signal);
        if (clock.now() - since >= heldMs) tries = 0;
      } catch (error) {
        if (isAborted(signal)) break;
        const delay = retryDelay(tries, clock.now());
        const again = this.#tellFailure(error, delay);
        tell?.(error);
        tell = undefined;
        if (!again) return;
      }
      mayAsk = false;
      await this.#wait(retryDelay(tries++, clock.now()), signal);
    }
    tell?.(signal.reason);
    logger.debug(`${this.#host}: let go`);
  }

  /** For the next try. */
  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    const until = AbortSignal.any([signal, waiting.signal]);
    await this.#context.clock.sleep(ms, until).catch(() => undefined); // aborted: it is time, or the loop ends by itself
    if (this.#waiting === waiting) this.#waiting = undefined;
  }

  /** @param waits before this try, since the link was lost */
  async #open(interactive: boolean, waits: number, signal: AbortSignal): Promise<HostOps> {
    const { clock } = this.#context;
    const definition = this.#definition();
    if (!definition) throw new Error(`The session has no host ${this.#host}.`);
    this.#connectedBy = definition;
    const began = clock.now();
    this.#apply({ type: "connecting", at: began, host: this.#host });
    const known = this.#connectedIn;
    const patience = Math.max(patienceMs, patienceTimes * (known ?? 0)) * 2 ** Math.min(Math.max(0, waits - 1), 20);
    const ops = await (interactive || known === undefined
      ? this.#connector.connect(definition, interactive, signal)
      : this.#connectWithin(patience, definition, signal));
    if (signal.aborted) {
      ops.dispose();
      throw signal.reason;
    }
    this.#ops = ops;
    this.#connectedIn = clock.now() - began;
    // The session file may have been changed meanwhile.
    this.redefine();
    this.#apply({ type: "connected", at: clock.now(), host: this.#host, identity: ops.identity });
    this.#connects.fire(undefined);
    return ops;
  }

  /** @throws ConnectError where it takes longer than `ms`; who comes after that is let go */
  async #connectWithin(ms: number, definition: HostDefinition, signal: AbortSignal): Promise<HostOps> {
    const over = new AbortController();
    const limit = new AbortController();
    const connecting = this.#connector.connect(definition, false, AbortSignal.any([signal, limit.signal]));
    const late = this.#context.clock.sleep(ms, over.signal).then(() => {
      const why = `${this.#host} cannot be reached: it did not answer for ${Math.round(ms / 1000)} s.`;
      throw new ConnectError("unreachable", why);
    });
    try {
      return await Promise.race([connecting, late]);
    } catch (error) {
      limit.abort(error);
      connecting.then(
        (ops) => {
          ops.dispose();
        },
        () => undefined,
      );
      throw error;
    } finally {
      over.abort();
      late.catch(() => undefined);
    }
  }

  async #watchUntilClosed(ops: HostOps, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#context;
    const closed = new AbortController();
    const listening = ops.onDidClose((why) => {
      closed.abort(why);
    });
    this.#giveUp = (why) => {
      closed.abort(why);
    };
    try {
      this.#watch ??= await this.#loadWatch();
      await this.#watch.run(ops, AbortSignal.any([signal, closed.signal]));
    } finally {
      this.#giveUp = undefined;
      listening.dispose();
      ops.dispose();
      if (this.#ops === ops) this.#ops = undefined;
    }
    if (signal.aborted) return;
    const message = typeof closed.signal.reason === "string" ? closed.signal.reason : "the connection was lost";
    logger.warn(`${this.#host}: ${message}`);
    this.#apply({ type: "disconnected", at: clock.now(), host: this.#host, byUser: false, message });
  }

  async #loadWatch(): Promise<Watch> {
    const { HostWatch } = await this.#context.loadWatch();
    return new HostWatch(this.#context, this.#session, this.#host);
  }

  /** Whether it is tried again by itself. */
  #tellFailure(error: unknown, delay: number): boolean {
    const { clock, logger } = this.#context;
    const at = clock.now();
    const reason = isConnectError(error) ? error.reason : "unreachable";
    const again = reason === "unreachable";
    if (!isConnectError(error)) logger.error(`${this.#host}: connecting failed`, error);
    this.#apply({
      type: "connection-failed",
      at,
      host: this.#host,
      reason,
      message: messageOf(error),
      ...(again ? { retryAt: at + delay } : {}),
    });
    return again;
  }

  #apply(event: SessionEvent): void {
    this.#context.store.apply(this.#session, event);
  }
}

const no = (): boolean => false;

/** What a connection is bound to. */
function placeOf({ address, stateDir, loginNode }: HostDefinition): string {
  return JSON.stringify([address, stateDir, loginNode]);
}
