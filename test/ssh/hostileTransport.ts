import { Emitter } from "../../src/core/lifecycle";
import type { Channel, ExitStatus, Transport } from "../../src/core/ports";

/** What the host says, from its first byte on; `exit` ends the channel. */
export interface HostileShell {
  readonly say: (text: string | Uint8Array) => Promise<void>;
  readonly sayAside: (text: string | Uint8Array) => Promise<void>;
  readonly exit: (status: ExitStatus) => void;
  /** The nonce of the script that was sent: whoever answers has read it. */
  readonly nonce: string;
  /** Requests of the control channel as they come: mode, id and script. */
  readonly requests: AsyncIterable<{ readonly mode: string; readonly id: string; readonly script: string }>;
}

/** A host that reads our scripts and then does as `behave` wants, without any shell behind it. */
export function hostileTransport(behave: (shell: HostileShell, count: number) => Promise<void>): Transport {
  const closed = new Emitter<string>();
  const open = new Set<Channel>();
  let count = 0;
  return {
    label: "hostile",
    onDidClose: closed.event,
    open: () => {
      const channel = hostileChannel((shell) => behave(shell, count++));
      open.add(channel);
      return Promise.resolve(channel);
    },
    dispose: () => {
      for (const channel of open) channel.close();
      closed.dispose();
    },
  };
}

function hostileChannel(behave: (shell: HostileShell) => Promise<void>): Channel {
  const [stdout, stderr, requests] = [new Pipe<Uint8Array>(), new Pipe<Uint8Array>(), new Pipe<Request>()];
  let status: ExitStatus = { kind: "unknown" };
  let ended: (exit: ExitStatus) => void = () => undefined;
  const exit = new Promise<ExitStatus>((resolve) => {
    ended = resolve;
  });
  const close = (): void => {
    for (const pipe of [stdout, stderr, requests]) pipe.end();
    ended(status);
  };
  const input = new Input(requests, (nonce) => {
    const say = (pipe: Pipe<Uint8Array>) => (text: string | Uint8Array) => pipe.put(Buffer.from(text));
    const shell: HostileShell = {
      say: say(stdout),
      sayAside: say(stderr),
      exit: (given) => {
        status = given;
        close();
      },
      nonce,
      requests,
    };
    behave(shell).catch(close);
  });
  return {
    stdout,
    stderr,
    exit,
    write: (data) => {
      input.take(Buffer.from(data));
      return Promise.resolve();
    },
    end: () => undefined,
    close,
  };
}

interface Request {
  readonly mode: string;
  readonly id: string;
  readonly script: string;
}

/** What the product sends: a length and a script, then requests as control.sh reads them. */
class Input {
  readonly #requests: Pipe<Request>;
  readonly #started: (nonce: string) => void;
  #rest = Buffer.alloc(0);
  #nonce: string | undefined;

  constructor(requests: Pipe<Request>, started: (nonce: string) => void) {
    this.#requests = requests;
    this.#started = started;
  }

  take(data: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end < 0) return;
      const [mode = "", id = "", size] = this.#rest.subarray(0, end).toString().split(" ");
      const length = Number(this.#nonce === undefined ? mode : (size ?? 0));
      if (this.#rest.length < end + 1 + length) return;
      const script = this.#rest.subarray(end + 1, end + 1 + length).toString();
      this.#rest = this.#rest.subarray(end + 1 + length);
      if (this.#nonce === undefined) {
        this.#nonce = /^nonce='([0-9a-f]+)'$/m.exec(script)?.[1] ?? "";
        this.#started(this.#nonce);
      } else if (size !== undefined) {
        this.#requests.put({ mode, id, script }).catch(() => undefined); // The channel was closed meanwhile.
      }
    }
  }
}

/** From one writer to one reader; the writer goes on when its value was taken. Ends for both by `end`. */
class Pipe<T> implements AsyncIterable<T> {
  readonly #values: { readonly value: T; readonly taken: () => void; readonly lost: (error: Error) => void }[] = [];
  #over = false;
  #wake: () => void = () => undefined;

  put(value: T): Promise<void> {
    if (this.#over) return Promise.reject(new Error("closed"));
    return new Promise((taken, lost) => {
      this.#values.push({ value, taken, lost });
      this.#wake();
    });
  }

  end(): void {
    this.#over = true;
    for (const { lost } of this.#values.splice(0)) lost(new Error("closed"));
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#values.shift();
      if (next !== undefined) {
        yield next.value;
        next.taken();
      } else if (this.#over) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
