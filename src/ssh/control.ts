import type { Clock, Transport } from "../core/ports";
import { ExpectedError } from "../core/errors";
import controlScript from "../host/control.sh";
import logFile from "../host/logFile.sh";
import { ControlFrames, type FrameSink } from "./controlFrames";
import { openLongScript, type LongChannel } from "./longChannel";
import { assignmentsOf, compact, type ScriptVariables } from "./scriptChannel";

/** How control.sh runs a request; see there. */
type Mode = "ask" | "stream" | "launch";

const maxAnswer = 64 << 20;

/** What the control channel needs of its surroundings. */
export interface ControlOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** After so many seconds without a sign of life the host ends all that the channel runs. */
  readonly silenceSeconds: number;
}

interface Link {
  readonly channel: LongChannel;
  readonly sinks: Map<string, Inbox>;
}

interface Request {
  readonly id: string;
  readonly link: Link;
  readonly inbox: Inbox;
}

/**
 * The one shell a connection keeps (control.sh). Scripts run in it beside each other, without a channel and without the
 * login's start-up files for each. A channel that broke fails what is under way; the next request opens a new one.
 */
export class Control {
  readonly #options: ControlOptions;
  readonly #over = new AbortController();
  #link: Promise<Link> | undefined;
  #count = 0;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  /**
   * Runs a script that answers and ends; its lines.
   * @throws ExpectedError when it did not come to its end; what the transport throws
   */
  async ask(parts: readonly string[], variables: ScriptVariables): Promise<readonly string[]> {
    return linesOf(await this.#answer("ask", parts, variables));
  }

  /** As `ask`, for launch.sh, which must run in the foreground. */
  async launch(parts: readonly string[], variables: ScriptVariables): Promise<readonly string[]> {
    return linesOf(await this.#answer("launch", parts, variables));
  }

  /** As `ask`, for a script that prints bytes itself. */
  read(parts: readonly string[], variables: ScriptVariables): Promise<Buffer> {
    return this.#answer("stream", parts, variables);
  }

  /** What a script prints that goes on until it is aborted; ends when it ends or when the link breaks. */
  async *stream(parts: readonly string[], variables: ScriptVariables, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    signal.throwIfAborted();
    yield* this.#output(await this.#request("stream", parts, variables), signal);
  }

  /** As `stream`, for a script that waits to be woken: `again` does, and rejects when the link is broken. */
  async repeat(
    parts: readonly string[],
    variables: ScriptVariables,
  ): Promise<{ readonly output: AsyncIterable<Uint8Array>; readonly again: () => Promise<void> }> {
    const request = await this.#request("stream", parts, variables);
    const { id, link } = request;
    const output = this.#output(request, new AbortController().signal);
    return { output, again: () => link.channel.write(`again ${id}\n`) };
  }

  async *#output({ id, link, inbox }: Request, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const stop = (): void => {
      inbox.over();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      yield* inbox;
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", stop);
      // Where nobody listens any more, the script must not go on.
      if (link.sinks.delete(id)) link.channel.write(`stop ${id}\n`).catch(() => undefined);
    }
  }

  dispose(): void {
    this.#over.abort(new ExpectedError("The connection was given up."));
  }

  async #answer(mode: Mode, parts: readonly string[], variables: ScriptVariables): Promise<Buffer> {
    const { id, link, inbox } = await this.#request(mode, parts, variables);
    try {
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of inbox) {
        size += chunk.length;
        if (size > maxAnswer) {
          // What goes on and on would keep the others waiting.
          link.channel.close();
          throw new ExpectedError(`The host's answer is larger than ${maxAnswer} bytes.`);
        }
        chunks.push(chunk);
      }
      const answer = Buffer.concat(chunks);
      const mark = Buffer.from(`@ end ${link.channel.nonce}\n`);
      if (answer.length < mark.length || !answer.subarray(-mark.length).equals(mark))
        throw new ExpectedError("The script was stopped on the host before it had answered.");
      return answer.subarray(0, -mark.length);
    } finally {
      link.sinks.delete(id);
    }
  }

  async #request(mode: Mode, parts: readonly string[], variables: ScriptVariables): Promise<Request> {
    const text = Buffer.from([...assignmentsOf(variables), ...parts.map(compact)].join("\n"), "utf8");
    const link = await (this.#link ??= this.#open());
    const id = `${++this.#count}`;
    const inbox = new Inbox();
    link.sinks.set(id, inbox);
    try {
      await link.channel.write(Buffer.concat([Buffer.from(`${mode} ${id} ${text.length}\n`), text]));
    } catch (error) {
      // What ended the channel says more than that it takes no input, and comes by the channel itself.
      void this.#options.clock.sleep(lastWordsMs).then(() => {
        inbox.fail(new ExpectedError(broken, { cause: error }));
      });
    }
    return { id, link, inbox };
  }

  async #open(): Promise<Link> {
    const { transport, clock, silenceSeconds } = this.#options;
    const script = { parts: [logFile, controlScript], variables: { silence_limit: silenceSeconds } };
    try {
      const channel = await openLongScript(transport, clock, script, this.#over.signal);
      const link: Link = { channel, sinks: new Map() };
      void this.#pump(link);
      return link;
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
  }

  async #pump({ channel, sinks }: Link): Promise<void> {
    const frames = new ControlFrames(channel.nonce, sinks);
    let cause: unknown;
    try {
      for await (const part of channel.parts) if (part.from === "stdout") frames.feed(part.data);
    } catch (error) {
      cause = error;
    }
    this.#link = undefined;
    channel.close();
    const failure = cause instanceof Error ? cause : new ExpectedError(broken);
    for (const inbox of sinks.values()) inbox.fail(failure);
    sinks.clear();
  }
}

/** How long a channel that takes no input any more may take to say why. */
const lastWordsMs = 2000;

const broken = "The link broke, or the shell on the host was ended, before it had answered.";

function linesOf(answer: Buffer): readonly string[] {
  return answer.length === 0 ? [] : answer.toString("utf8").replace(/\n$/, "").split("\n");
}

/** What one request printed, in order. Not bounded by the reader's pace: the other requests use the same channel. */
class Inbox implements FrameSink, AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;

  push(data: Uint8Array): void {
    this.#chunks.push(data);
    this.#wake();
  }

  over(): void {
    this.#end ??= {};
    this.#wake();
  }

  fail(error: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#end?.error !== undefined) throw this.#end.error;
      else if (this.#end !== undefined) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
