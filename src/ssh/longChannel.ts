import type { Clock, Transport } from "../core/ports";
import { messageOf } from "../core/errors";
import { openScript, type Script } from "./scriptChannel";

/** The host ends a script whose channel was silent for so long, seconds, and so do we. */
const silenceSeconds = 90;

/** Bytes of either output. Those of one output are in order; between the two there is none. */
export interface LongChannelPart {
  readonly from: "stdout" | "stderr";
  readonly data: Uint8Array;
}

/** A script that goes on until it is aborted. */
export interface LongChannel {
  /** The word that marks what the script says of itself. */
  readonly nonce: string;
  /** Ends when the script ended; throws when the host was silent for too long, and the signal's reason when aborted. */
  readonly parts: AsyncIterable<LongChannelPart>;
  /** To the script's standard input. Rejects when the channel is closed. */
  write(data: string | Uint8Array): Promise<void>;
  close(): void;
}

/**
 * Starts a script that runs until the channel closes, keeps it alive (both sides give it up after the variable
 * `silence_limit`, seconds), and merges its outputs with back-pressure: a chunk is asked for only when the one before it
 * was taken.
 */
export async function openLongScript(
  transport: Transport,
  clock: Clock,
  script: Script,
  signal: AbortSignal,
): Promise<LongChannel> {
  signal.throwIfAborted();
  const { channel, nonce, stdout, stderr } = await openScript(transport, script, signal);
  const silenceMs = Number(script.variables["silence_limit"] ?? silenceSeconds) * 1000;
  const over = new AbortController();
  const queue = new Handover<LongChannelPart>();
  let heardAt = clock.now();
  const finish = (error?: unknown): void => {
    over.abort();
    signal.removeEventListener("abort", onAbort);
    channel.close();
    queue.end(error);
  };
  const onAbort = (): void => {
    finish(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const pump = async (from: LongChannelPart["from"], source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const data of source) {
      heardAt = clock.now();
      await queue.put({ from, data });
    }
  };
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(silenceMs / 3, over.signal);
      // What waits to be taken by our own consumer is not the host's silence.
      if (clock.now() - heardAt > silenceMs && !queue.waiting) {
        throw new Error(`The host was silent for ${silenceMs / 1000} s.`);
      }
      await channel.write("\n");
    }
  };
  beat().catch((error: unknown) => {
    if (!over.signal.aborted) finish(new Error(`The channel to the host broke: ${messageOf(error)}`, { cause: error }));
  });
  const pumps = [pump("stdout", stdout), pump("stderr", stderr)];
  for (const one of pumps) {
    one.catch((error: unknown) => {
      if (!saysNothing(error)) finish(error);
    });
  }
  void Promise.allSettled(pumps).then((results) => {
    const failed = results.find((result) => result.status === "rejected");
    finish(failed?.reason);
  });
  return { nonce, parts: queue, write: (data) => channel.write(data), close: finish };
}

/** Where no shell ran, either output may hold the words that say why. */
function saysNothing(error: unknown): boolean {
  return messageOf(error).endsWith("did not run our script.");
}

/** Values from several writers to one reader; a writer goes on when its value was taken. */
class Handover<T> implements AsyncIterable<T> {
  readonly #waiting: { value: T; taken: () => void }[] = [];
  #over: { error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  get waiting(): boolean {
    return this.#waiting.length > 0;
  }

  put(value: T): Promise<void> {
    if (this.#over !== undefined) return Promise.resolve();
    return new Promise((taken) => {
      this.#waiting.push({ value, taken });
      this.#wake();
    });
  }

  end(error: unknown): void {
    this.#over ??= { error: error === undefined || error instanceof Error ? error : new Error(messageOf(error)) };
    for (const { taken } of this.#waiting) taken();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        yield next.value;
        next.taken();
      } else if (this.#over !== undefined) {
        if (this.#over.error !== undefined) throw this.#over.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
