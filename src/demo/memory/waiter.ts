import { toDisposable, type Disposable } from "../../core/lifecycle";

/** Lets a loop sleep until somebody wakes it. A wake while nobody sleeps is kept. */
export interface Waiter extends Disposable {
  wake(): void;
  /** Resolves at the next wake or when the signal is aborted. */
  next(): Promise<void>;
}

/** A waiter that an abort wakes too. */
export function waiter(signal: AbortSignal): Waiter {
  let pending = signal.aborted;
  let resume: (() => void) | undefined;
  const wake = (): void => {
    pending = true;
    resume?.();
  };
  signal.addEventListener("abort", wake);
  const stop = toDisposable(() => {
    signal.removeEventListener("abort", wake);
  });
  return {
    wake,
    next: async () => {
      if (!pending)
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      resume = undefined;
      pending = signal.aborted;
    },
    dispose: () => {
      stop.dispose();
    },
  };
}
