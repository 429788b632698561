import type { Clock } from "../../src/core/ports";

/** Time that a test moves on; sleepers wake in their order. */
export class HandClock implements Clock {
  #now = 0;
  #sleepers: { at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(new Error("aborted"));
      };
      this.#sleepers.push(sleeper);
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    });
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const next = this.#sleepers.sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > until) break;
      this.#sleepers.shift();
      this.#now = next.at;
      next.wake();
      await settled();
    }
    this.#now = until;
  }

  /** The computer sleeps: the wall clock goes on, timers do not; the next one rings when it wakes. */
  async sleepThrough(ms: number): Promise<void> {
    this.#now += ms;
    for (const sleeper of this.#sleepers) sleeper.at += ms;
    // What looks at the clock each other second wakes first.
    await this.pass(2000);
  }
}

export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
