import type { Clock } from "./ports";

/** The clock of this machine. Timers are passed in, since core has none of its own. */
export function createClock(timers: {
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
}): Clock {
  return {
    now: timers.now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const fail = (): void => {
          cancel();
          reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
        };
        const cancel = timers.after(ms, () => {
          signal?.removeEventListener("abort", fail);
          resolve();
        });
        if (signal?.aborted) fail();
        else signal?.addEventListener("abort", fail, { once: true });
      }),
  };
}
