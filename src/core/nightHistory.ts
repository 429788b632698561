import { messageOf } from "./errors";
import { isAborted } from "./lifecycle";
import type { MonitorContext } from "./monitorContext";
import type { HostOps, LogMark } from "./ports";

/** Who was away for less has missed nothing: the recorder looks each 10 s. */
const shortestMs = 20_000;
/** So long the rest waits for it; a host that takes longer is shown without its past. */
const patienceMs = 15_000;

/** What the flight recorder of a host kept while this window was not connected, fetched at each connection. */
export class NightHistory {
  readonly #context: Pick<MonitorContext, "store" | "clock" | "logger">;
  readonly #session: string;
  readonly #host: string;
  /** By run; our clock. */
  readonly #marks = new Map<string, readonly LogMark[]>();
  /** Until when all was seen, our clock. */
  #seenUntil = 0;
  #complete = false;
  #loaded: Promise<void> = Promise.resolve();

  constructor(context: Pick<MonitorContext, "store" | "clock" | "logger">, session: string, host: string) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
  }

  /** Resolves when what was missed is in the picture, or is not waited for any longer. Never rejects. */
  get loaded(): Promise<void> {
    return this.#loaded;
  }

  /** How the log of a run grew, our clock; oldest first. */
  marksOf(run: string): readonly LogMark[] {
    return this.#marks.get(run) ?? [];
  }

  /** The connection begins. */
  connected(ops: HostOps, signal: AbortSignal): void {
    const { clock } = this.#context;
    if (clock.now() - this.#seenUntil < shortestMs) return;
    this.#complete = false;
    const patience = clock.sleep(patienceMs, signal).catch(() => undefined); // aborted: nobody waits any more
    this.#loaded = Promise.race([this.#load(ops, signal), patience]);
  }

  /** The connection has ended: from now on something may be missed. */
  lost(): void {
    if (this.#complete) this.#seenUntil = this.#context.clock.now();
  }

  async #load(ops: HostOps, signal: AbortSignal): Promise<void> {
    const { store, clock, logger } = this.#context;
    const { clockOffsetMs } = ops.identity;
    try {
      const { gpus, runs } = await ops.history(Math.max(0, this.#seenUntil + clockOffsetMs));
      if (signal.aborted) return;
      for (const { run, marks } of runs) {
        const known = this.marksOf(run);
        const last = known.at(-1)?.at ?? -Infinity;
        const more = marks.map((mark) => ({ ...mark, at: mark.at - clockOffsetMs })).filter(({ at }) => at > last);
        this.#marks.set(run, [...known, ...more]);
      }
      this.#complete = true;
      if (gpus.length > 0)
        store.apply(this.#session, { type: "gpu-history", at: clock.now(), host: this.#host, samples: gpus });
    } catch (error) {
      if (!isAborted(signal)) logger.debug(`${this.#host}: what was missed: ${messageOf(error)}`);
    }
  }
}
