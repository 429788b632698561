import type { Client, ClientChannel } from "ssh2";
import { ConnectError, ExpectedError, messageOf } from "../core/errors";
import { Emitter } from "../core/lifecycle";
import type { Channel, Clock, Logger, Transport } from "../core/ports";
import { ChannelPlaces, rejected } from "./channelPlaces";
import { Ssh2Channel } from "./ssh2Channel";

/** What a transport needs to know of its surroundings. */
export interface Ssh2TransportOptions {
  readonly label: string;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once when the link is no longer wanted or is gone: lets go of jump hosts and proxies. */
  readonly release: () => void;
  /** New session keys after so many bytes; 1 GiB (RFC 4253, 9). */
  readonly rekeyBytes?: number;
}

const openLimitMs = 10_000;
/** OpenSSH allows 10 sessions a connection (MaxSessions); some are left for channels that are still being closed. */
const maxChannels = 8;
const rekeyMs = 3_600_000;

/** Commands over an ssh2 client that has logged in. Takes the client over: disposing ends it. */
export class Ssh2Transport implements Transport {
  readonly label: string;
  readonly #client: Client;
  readonly #options: Ssh2TransportOptions;
  readonly #closed = new Emitter<string>();
  readonly onDidClose = this.#closed.event;
  readonly #channels = new Set<Ssh2Channel>();
  readonly #places: ChannelPlaces;
  /** Aborted when the link is gone or let go; the reason is an ExpectedError. */
  readonly #gone = new AbortController();
  #bytes = 0;
  #lastClosed = Number.NEGATIVE_INFINITY;

  constructor(client: Client, options: Ssh2TransportOptions) {
    this.label = options.label;
    this.#client = client;
    this.#options = options;
    this.#places = new ChannelPlaces(maxChannels, options.label, options.clock);
    client.on("error", (error) => {
      // An agent's refusal is told as an error of the client, and ends nothing.
      if (error.level !== "agent") this.#lose(lossOf(error));
    });
    client.on("end", () => {
      this.#lose("the host closed the connection");
    });
    client.on("close", () => {
      this.#lose("the connection was cut");
    });
    void this.#rekeyHourly();
  }

  async open(command: string, signal?: AbortSignal): Promise<Channel> {
    if (!this.#options.isTrusted()) {
      throw new ConnectError("untrusted", `Nothing is run on ${this.label}: the workspace is in Restricted Mode.`);
    }
    signal?.throwIfAborted();
    await this.#places.take(this.#gone.signal, signal);
    let open = false;
    try {
      const channel = new Ssh2Channel(await this.#openPatiently(command, signal), {
        counted: (bytes) => {
          this.#count(bytes);
        },
        closed: (closed) => {
          this.#channels.delete(closed);
          this.#lastClosed = this.#options.clock.now();
          this.#places.give();
        },
      });
      open = true;
      this.#channels.add(channel);
      const close = (): void => {
        channel.close();
      };
      signal?.addEventListener("abort", close, { once: true });
      void channel.exit.then(() => signal?.removeEventListener("abort", close));
      if (this.#gone.signal.aborted) channel.finish();
      return channel;
    } finally {
      if (!open) this.#places.give();
    }
  }

  dispose(): void {
    this.#closed.dispose();
    this.#lose("disconnected");
  }

  /**
   * sshd counts a session until it has tidied up after the channel's close, and refuses what arrives in the same
   * breath. So one refusal right after a close is tried again, once and not at once; any other stands.
   */
  async #openPatiently(command: string, signal: AbortSignal | undefined): Promise<ClientChannel> {
    try {
      return await this.#openInTime(command, signal);
    } catch (error) {
      const { clock } = this.#options;
      if (!isChannelRefusal(error) || clock.now() - this.#lastClosed > 1000) throw error;
      await clock.sleep(250, signal);
      return this.#openInTime(command, signal);
    }
  }

  /** A half-open link never answers: the wait is bounded, and then the whole link is given up. */
  async #openInTime(command: string, signal: AbortSignal | undefined): Promise<ClientChannel> {
    const over = new AbortController();
    const opened = this.#exec(command);
    const late = this.#options.clock.sleep(openLimitMs, over.signal).then(() => {
      const cause = "the host did not answer for 10 s";
      this.#lose(cause);
      throw new ExpectedError(`The connection to ${this.label} is lost: ${cause}.`);
    });
    try {
      return await Promise.race([
        opened,
        late,
        rejected(this.#gone.signal, over.signal),
        rejected(signal, over.signal),
      ]);
    } catch (error) {
      // Whoever asked does not wait any more; what opens after that must not stay open.
      opened.then(abandon, () => undefined);
      throw error;
    } finally {
      over.abort();
    }
  }

  #exec(command: string): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      try {
        this.#client.exec(command, (error, stream) => {
          if (error === undefined) resolve(stream);
          else reject(this.#refusal(error));
        });
      } catch (error) {
        reject(this.#refusal(error));
      }
    });
  }

  #refusal(error: unknown): ExpectedError {
    const message = messageOf(error);
    if (!isRefusedOpen(error)) {
      return new ExpectedError(`${this.label} did not run the command: ${message}.`, { cause: error });
    }
    const open = this.#channels.size;
    return new ExpectedError(
      `${this.label} allows no further channel beside the ${open} open now (MaxSessions of its SSH server).`,
      { cause: error },
    );
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < (this.#options.rekeyBytes ?? 1 << 30)) return;
    this.#bytes = 0;
    this.#rekey();
  }

  async #rekeyHourly(): Promise<void> {
    try {
      for (;;) {
        await this.#options.clock.sleep(rekeyMs, this.#gone.signal);
        this.#rekey();
      }
    } catch {
      // The link is gone.
    }
  }

  /** ssh2 answers the host's wish for new keys but never has one itself; only its inner protocol object can ask. */
  #rekey(): void {
    const protocol: unknown = Reflect.get(this.#client, "_protocol");
    if (typeof protocol !== "object" || protocol === null) return;
    const rekey: unknown = Reflect.get(protocol, "rekey");
    if (typeof rekey === "function") Reflect.apply(rekey, protocol, []);
    this.#options.logger.debug(`${this.label}: new session keys asked for`);
  }

  #lose(cause: string): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(new ExpectedError(`The connection to ${this.label} is lost: ${cause}.`));
    this.#client.end();
    this.#options.release();
    this.#closed.fire(cause);
    // After ssh2 has handed on what it still had.
    setImmediate(() => {
      for (const channel of [...this.#channels]) channel.finish();
    });
  }
}

function isRefusedOpen(error: unknown): boolean {
  return messageOf(error).includes("Channel open failure");
}

function isChannelRefusal(error: unknown): boolean {
  return error instanceof Error && isRefusedOpen(error.cause);
}

function abandon(stream: ClientChannel): void {
  stream.on("error", () => undefined);
  stream.stderr.on("error", () => undefined);
  stream.resume();
  stream.stderr.resume();
  stream.close();
}

function lossOf(error: Error & { level?: string }): string {
  if (error.message === "Keepalive timeout") return "the host did not answer for a minute";
  if (error.level === "client-socket") return `the network connection broke (${messageOf(error)})`;
  return messageOf(error);
}
