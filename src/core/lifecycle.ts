/** What is owned and must be let go. Calling `dispose` twice is harmless. */
export interface Disposable {
  dispose(): void;
}

/** Registers a listener; disposing the result unregisters it. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** Wraps a function so that it runs at most once, as a Disposable. */
export function toDisposable(run: () => void): Disposable {
  let done = false;
  return {
    dispose: () => {
      if (done) return;
      done = true;
      run();
    },
  };
}

/** Several Disposables as one, let go in the reverse order of their making. */
export function combine(...parts: readonly Disposable[]): Disposable {
  return toDisposable(() => {
    for (const part of [...parts].reverse()) part.dispose();
  });
}

/** A source of events. A listener that throws does not keep the others from hearing; `onError` gets what it threw. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError;
  }

  readonly event: Event<T> = (listener) => {
    // A wrapper of its own, so that one function registered twice is heard twice and unregistered apart.
    const own = (value: T): void => {
      listener(value);
    };
    this.#listeners.add(own);
    return toDisposable(() => this.#listeners.delete(own));
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Whether it was aborted by now. A call, because the compiler takes the property for constant across an await. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A signal of its own that aborts with the given one, so that the listeners of many tasks do not pile up on one. */
export function branch(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal]);
}
