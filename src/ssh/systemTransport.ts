import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ConnectError, ExpectedError } from "../core/errors";
import { Emitter, isAborted } from "../core/lifecycle";
import type { Channel, Clock, ExitStatus, Logger, Transport } from "../core/ports";
import { ChannelPlaces, rejected } from "./channelPlaces";
import { keepUnread, processChannel, type PipedProcess } from "./processChannel";
import { failureOfSsh } from "./systemErrors";
import type { PrivateFolder } from "./systemFolder";
import { SystemLog } from "./systemLog";
import type { Master } from "./systemMaster";
import { aliveOptions, answers, endGroup, sharedOptions, sshArguments, startSsh, type SystemSsh } from "./systemSsh";

/**
 * What carries the commands: a master of ours, one that the user has (ControlMaster), or, where ssh cannot share a
 * connection (Windows), a login for a single command, which nobody is asked for.
 */
export type SystemLink =
  | { readonly kind: "own"; readonly master: Master }
  | { readonly kind: "shared"; readonly socket: string }
  | { readonly kind: "single" };

/** What a transport needs to know of its surroundings. */
export interface SystemTransportOptions {
  readonly label: string;
  readonly ssh: SystemSsh;
  readonly link: SystemLink;
  /** Removed when the transport is disposed of. */
  readonly folder: PrivateFolder;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

const openLimitMs = 10_000;
/** As over ssh2. */
const maxChannels = 8;
/** How often it is looked whether a command has begun: the file that tells it is written within milliseconds. */
const lookEveryMs = 10;

/** A command that ssh was started for. */
interface Started {
  readonly child: PipedProcess;
  /** What ssh itself says; apart from what the command prints. */
  readonly logFile: string;
  /** Settles when ssh has ended and all it printed was read. */
  readonly closed: Promise<number | undefined>;
  /** How many ends of channels the master had told before. */
  readonly since: number;
}

/** Commands by the system's `ssh`, a process each. */
export class SystemTransport implements Transport {
  readonly label: string;
  readonly #options: SystemTransportOptions;
  readonly #closed = new Emitter<string>();
  readonly onDidClose = this.#closed.event;
  readonly #places: ChannelPlaces;
  readonly #channels = new Set<Channel>();
  /** Aborted when the link is gone or let go; the reason is an ExpectedError. */
  readonly #gone = new AbortController();
  #count = 0;

  constructor(options: SystemTransportOptions) {
    this.label = options.label;
    this.#options = options;
    this.#places = new ChannelPlaces(maxChannels, options.label, options.clock);
    const { link } = options;
    if (link.kind === "own")
      void link.master.ended.then((words) => {
        this.#lose(`ssh ended: ${words}`);
      });
  }

  async open(command: string, signal?: AbortSignal): Promise<Channel> {
    const { isTrusted, link } = this.#options;
    if (!isTrusted()) {
      throw new ConnectError("untrusted", `Nothing is run on ${this.label}: the workspace is in Restricted Mode.`);
    }
    signal?.throwIfAborted();
    if (link.kind === "single" && this.#channels.size > 0) throw this.#refusedOpen();
    await this.#places.take(this.#gone.signal, signal);
    let channel: Channel | undefined;
    try {
      channel = await this.#open(command, signal);
      return channel;
    } finally {
      if (channel === undefined) this.#places.give();
    }
  }

  dispose(): void {
    this.#closed.dispose();
    this.#lose("disconnected");
  }

  async #open(command: string, signal: AbortSignal | undefined): Promise<Channel> {
    const started = this.#start(command);
    const { child } = started;
    const over = new AbortController();
    const late = this.#options.clock.sleep(openLimitMs, over.signal).then(() => {
      const cause = "the host did not answer for 10 s";
      this.#lose(cause);
      throw new ExpectedError(`The connection to ${this.label} is lost: ${cause}.`);
    });
    let id: string;
    try {
      const gone = rejected(this.#gone.signal, over.signal);
      id = await Promise.race([this.#begun(started, over.signal), late, gone, rejected(signal, over.signal)]);
    } catch (error) {
      endGroup(child);
      void rm(started.logFile, { force: true });
      throw error;
    } finally {
      over.abort();
    }
    const exit = started.closed.then((code) => this.#statusOf(started, id, code));
    return this.#channelOf(child, exit, signal);
  }

  #channelOf(child: PipedProcess, exit: Promise<ExitStatus>, signal: AbortSignal | undefined): Channel {
    const piped = processChannel(child, exit);
    const close = (): void => {
      endGroup(child);
      piped.close();
    };
    const channel: Channel = { ...piped, close };
    this.#channels.add(channel);
    signal?.addEventListener("abort", close, { once: true });
    void exit.then(() => {
      signal?.removeEventListener("abort", close);
      this.#channels.delete(channel);
      this.#places.give();
    });
    if (signal?.aborted === true || this.#gone.signal.aborted) close();
    return channel;
  }

  #start(command: string): Started {
    const { ssh, folder, link } = this.#options;
    const logFile = join(folder.path, `log${++this.#count}`);
    const way =
      link.kind === "single"
        ? ["-S", "none", "-o", "ControlMaster=no", "-o", "BatchMode=yes", ...aliveOptions(ssh.host)]
        : sharedOptions(link.kind === "own" ? link.master.socket : link.socket);
    const since = link.kind === "own" ? link.master.log.ends : 0;
    const own = [...way, "-o", "LogLevel=DEBUG1", "-E", logFile];
    const child = startSsh(["ssh"], sshArguments(ssh, own, command), { ...ssh.env, SSH_ASKPASS_REQUIRE: "never" });
    keepUnread(child);
    const closed = new Promise<number | undefined>((resolve) => {
      child.on("close", (code) => {
        resolve(code ?? undefined);
      });
    });
    return { child, logFile, closed, since };
  }

  /** Waits until the host runs the command; the channel's number in the master. */
  async #begun({ child, logFile, closed }: Started, over: AbortSignal): Promise<string> {
    const begun = /master session id: (\d+)|^debug1: Sending command: /m;
    const ended = new AbortController();
    for (const event of ["exit", "error"]) {
      child.once(event, () => {
        ended.abort();
      });
    }
    while (!over.aborted) {
      const last = isAborted(ended.signal);
      const said = await readFile(logFile, "utf8").catch(() => "");
      const found = begun.exec(said);
      if (found !== null) return found[1] ?? "";
      if (last) {
        child.stdout.destroy();
        child.stderr.destroy();
        await closed;
        throw await this.#failedOpen(said);
      }
      await pause(lookEveryMs);
    }
    throw new ExpectedError("given up");
  }

  async #failedOpen(said: string): Promise<Error> {
    const log = new SystemLog();
    log.feed(`${said}\n`);
    const words = log.words.join("\n");
    if (/Session open refused|session request failed|open failed/i.test(words)) return this.#refusedOpen();
    const { link, ssh } = this.#options;
    if (link.kind === "single") {
      return failureOfSsh({ log, label: this.label, user: ssh.host.user, interactive: false, keyAsked: false });
    }
    const cause = "the shared connection does not answer any more";
    this.#lose(cause);
    return new ExpectedError(`The connection to ${this.label} is lost: ${cause}.`);
  }

  #refusedOpen(): ExpectedError {
    const beside = `beside the ${this.#channels.size} open now`;
    const why = this.#options.link.kind === "single" ? "one for each login" : "MaxSessions of its SSH server";
    return new ExpectedError(`${this.label} allows no further channel ${beside} (${why}).`);
  }

  /**
   * ssh ends with 255 where it failed itself and where the command was killed, and a command may end with 255 too. Only
   * what ssh's log shows to have come from the host is believed.
   */
  async #statusOf({ logFile, since }: Started, id: string, code: number | undefined): Promise<ExitStatus> {
    const { link, ssh } = this.#options;
    const said = await readFile(logFile, "utf8").catch(() => "");
    void rm(logFile, { force: true });
    if (code === undefined) return { kind: "unknown" };
    if (code !== 255) return { kind: "code", code };
    if (link.kind === "single") return this.#endOfLogin(said);
    if (link.kind === "shared") {
      if (!this.#gone.signal.aborted && !(await answers(ssh, link.socket))) this.#lose("the shared connection ended");
      return { kind: "unknown" };
    }
    const { log } = link.master;
    // The master tells its log before it tells us; the two ways to here need not be equally fast.
    for (let looks = 0; looks < 20 && log.endOf(id, since) === undefined; looks++) await pause(lookEveryMs);
    return log.endOf(id, since) === "status" ? { kind: "code", code } : { kind: "unknown" };
  }

  #endOfLogin(said: string): ExitStatus {
    const log = new SystemLog();
    log.feed(`${said}\n`);
    const end = log.endOf("0", 0);
    if (end === undefined) this.#lose(`ssh ended: ${log.words.at(-1) ?? "without a word"}`);
    return end === "status" ? { kind: "code", code: 255 } : { kind: "unknown" };
  }

  #lose(cause: string): void {
    if (this.#gone.signal.aborted) return;
    const { link, folder } = this.#options;
    this.#gone.abort(new ExpectedError(`The connection to ${this.label} is lost: ${cause}.`));
    if (link.kind === "own") link.master.end();
    this.#closed.fire(cause);
    for (const channel of [...this.#channels]) channel.close();
    void folder.remove();
  }
}
