import type { Clock } from "../core/ports";

/** A time limit that can be stopped and started anew. */
export class Deadline {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #over: AbortSignal;
  readonly #expired: () => void;
  #running = new AbortController();

  /** @param over ends it for good */
  constructor(clock: Clock, ms: number, over: AbortSignal, expired: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#over = over;
    this.#expired = expired;
  }

  /** Starts it from the beginning, or stops it. */
  set(running: boolean): void {
    this.#running.abort();
    if (!running || this.#over.aborted) return;
    this.#running = new AbortController();
    this.#clock
      .sleep(this.#ms, AbortSignal.any([this.#running.signal, this.#over]))
      .then(this.#expired, () => undefined);
  }
}
