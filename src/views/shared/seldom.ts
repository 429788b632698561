import type { Clock } from "../../core/ports";

/** What is always in sight is drawn anew at most so often, ms; the first change after a quiet time at once. */
const drawEveryMs = 1000;

/** What may be called at any time, done at once or when its time has come, and once for all calls until then. */
export function seldom(clock: Clock, signal: AbortSignal, run: () => void): () => void {
  let doneAt = -Infinity;
  let waiting = false;
  const now = (): void => {
    waiting = false;
    doneAt = clock.now();
    run();
  };
  return () => {
    if (waiting) return;
    const left = doneAt + drawEveryMs - clock.now();
    // A clock that was put back must not make it wait for longer.
    if (left <= 0 || left > drawEveryMs) {
      now();
      return;
    }
    waiting = true;
    void clock.sleep(left, signal).then(now, () => undefined); // aborted: there is no view any more
  };
}
