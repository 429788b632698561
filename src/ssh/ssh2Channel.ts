import type { ClientChannel } from "ssh2";
import type { Readable } from "node:stream";
import { ExpectedError } from "../core/errors";
import type { Channel, ExitStatus } from "../core/ports";

/** How a channel reports to the link that carries it. */
export interface ChannelOwner {
  /** Bytes that went through, either way. */
  counted(bytes: number): void;
  /** Called once, when the host has let the channel go or the link is lost. */
  closed(channel: Ssh2Channel): void;
}

/** One command over ssh2. Pulled, never pushed: what is not read stays in ssh2's window of 2 MiB and then on the host. */
export class Ssh2Channel implements Channel {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  readonly exit: Promise<ExitStatus>;
  readonly #stream: ClientChannel;
  readonly #owner: ChannelOwner;
  /** Aborted by our side's close: nothing more is wanted. */
  readonly #over = new AbortController();
  /** Aborted when the channel or its link is gone: nothing more will come. */
  readonly #gone = new AbortController();
  /** Ends of the writes under way. A signal made for each write would stay with the channel for as long as it lives. */
  readonly #writing = new Set<() => void>();
  #status: ExitStatus = { kind: "unknown" };
  #settle: (status: ExitStatus) => void = () => undefined;
  #closed = false;

  constructor(stream: ClientChannel, owner: ChannelOwner) {
    this.#stream = stream;
    this.#owner = owner;
    this.exit = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.stdout = this.#chunks(stream);
    this.stderr = this.#chunks(stream.stderr);
    // An `error` without a listener would end the whole extension host. What it means arrives as `close`.
    stream.on("error", () => undefined);
    stream.stderr.on("error", () => undefined);
    // An end that nobody reads up to is no end to a stream: without this `exit` would wait for a reader of nothing.
    for (const output of [stream, stream.stderr]) {
      output.on("readable", () => {
        if (output.readableLength === 0) output.read(0);
      });
    }
    stream.on("exit", (code: number | null, signal?: string) => {
      if (code !== null) this.#status = { kind: "code", code };
      else if (signal !== undefined) this.#status = { kind: "signal", signal };
    });
    stream.on("close", () => {
      // ssh2 waits for the end of stdout only.
      if (stream.stderr.readableEnded) this.finish();
      else stream.stderr.once("close", this.finish);
    });
  }

  async write(data: string | Uint8Array): Promise<void> {
    const gone = (): ExpectedError => new ExpectedError("The command on the host has ended, it takes no more input.");
    if (this.#over.signal.aborted || this.#gone.signal.aborted || !this.#stream.writable) throw gone();
    await new Promise<void>((resolve, reject) => {
      // ssh2 never calls back for a write that a closing channel swallowed.
      const lost = (): void => {
        reject(gone());
      };
      this.#writing.add(lost);
      this.#stream.write(data, () => {
        this.#writing.delete(lost);
        resolve();
      });
    });
    this.#owner.counted(data.length);
  }

  end(): void {
    if (this.#stream.writable) this.#stream.end();
  }

  close(): void {
    if (this.#closed || this.#over.signal.aborted) return;
    this.#over.abort();
    this.#loseWrites();
    // What is still under way is thrown away; unread, it would keep the channel from closing.
    for (const stream of [this.#stream, this.#stream.stderr]) {
      stream.removeAllListeners("readable");
      throwAway(stream);
    }
    this.#stream.close();
  }

  /** The last of the channel: the host has closed it, or the link that carried it is gone. */
  readonly finish = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.#gone.abort();
    this.#loseWrites();
    this.#owner.closed(this);
    this.#settle(this.#status);
  };

  #loseWrites(): void {
    for (const lost of this.#writing) lost();
    this.#writing.clear();
  }

  async *#chunks(stream: Readable): AsyncGenerator<Uint8Array> {
    const ended = endOf(stream, AbortSignal.any([this.#over.signal, this.#gone.signal]));
    try {
      while (!this.#over.signal.aborted) {
        const chunk: unknown = stream.read();
        if (chunk instanceof Uint8Array) {
          this.#owner.counted(chunk.length);
          yield chunk;
          continue;
        }
        if (ended.reached()) return;
        await ended.more();
      }
    } finally {
      ended.dispose();
      // A reader that stops early must not stall the channel for the other one.
      if (!stream.readableEnded) throwAway(stream);
    }
  }
}

/**
 * Lets a stream run dry. `resume` alone does not do: when the last `readable` listener goes, Node stops a stream on the
 * next tick that nobody listens to for data.
 */
function throwAway(stream: Readable): void {
  stream.removeAllListeners("readable");
  stream.on("data", () => undefined);
  stream.resume();
}

/** Waits for a stream to have something to read, to end, or to be of no interest any more. */
function endOf(stream: Readable, gone: AbortSignal): { reached(): boolean; more(): Promise<void>; dispose(): void } {
  let reached = stream.readableEnded || gone.aborted;
  let wake: () => void = () => undefined;
  const readable = (): void => {
    wake();
  };
  const end = (): void => {
    reached = true;
    wake();
  };
  stream.on("readable", readable);
  stream.on("end", end);
  stream.on("close", end);
  gone.addEventListener("abort", end);
  return {
    reached: () => reached,
    more: () =>
      new Promise((resolve) => {
        wake = resolve;
        // Between the empty read and this promise something may have come.
        if (reached || stream.readableLength > 0) resolve();
      }),
    dispose: () => {
      stream.removeListener("readable", readable);
      stream.removeListener("end", end);
      stream.removeListener("close", end);
      gone.removeEventListener("abort", end);
    },
  };
}
