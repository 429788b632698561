import { ExpectedError, messageOf } from "../core/errors";
import type { Clock } from "../core/ports";

const queueLimitMs = 30_000;

/**
 * The channels that one connection carries at once. Who comes when all are in use waits for one to be given back, in
 * order, up to 30 s.
 */
export class ChannelPlaces {
  readonly #most: number;
  readonly #label: string;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(most: number, label: string, clock: Clock) {
    this.#most = most;
    this.#label = label;
    this.#clock = clock;
  }

  /**
   * @param gone aborted when the connection is lost
   * @throws ExpectedError after 30 s; the reason of either signal
   */
  async take(gone: AbortSignal, signal: AbortSignal | undefined): Promise<void> {
    gone.throwIfAborted();
    while (this.#taken >= this.#most) {
      const over = new AbortController();
      let mine: () => void = () => undefined;
      const room = new Promise<void>((resolve) => {
        mine = resolve;
        this.#waiting.push(resolve);
      });
      try {
        const late = this.#clock.sleep(queueLimitMs, over.signal).then(() => {
          throw new ExpectedError(`All ${this.#most} channels to ${this.#label} are in use.`);
        });
        await Promise.race([room, late, rejected(gone, over.signal), rejected(signal, over.signal)]);
      } catch (error) {
        over.abort();
        const index = this.#waiting.indexOf(mine);
        if (index >= 0) this.#waiting.splice(index, 1);
        else this.#waiting.shift()?.(); // Was called and cannot come: the next one may.
        throw error;
      }
      over.abort();
    }
    this.#taken++;
  }

  give(): void {
    this.#taken--;
    this.#waiting.shift()?.();
  }
}

/** Rejects with the signal's reason when it aborts; forgotten when `over` aborts. */
export function rejected(signal: AbortSignal | undefined, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal === undefined) return;
    const aborted = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error(messageOf(signal.reason)));
    };
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { signal: over });
  });
}
