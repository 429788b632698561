import type { Channel, HostCost, Transport } from "../core/ports";
import costScript from "../host/cost.sh";
import type { HostSession } from "./hostSession";

/** Clock ticks of /proc, ms. */
const tickMs = 10;

/** Counts what comes from the host over a transport. */
export class CountedTransport implements Transport {
  readonly label: string;
  readonly onDidClose: Transport["onDidClose"];
  readonly #transport: Transport;
  /** Bytes of the outputs of all commands, without what SSH adds. */
  received = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.label = transport.label;
    this.onDidClose = transport.onDidClose;
  }

  async open(command: string, signal?: AbortSignal): Promise<Channel> {
    const channel = await this.#transport.open(command, signal);
    return { ...methodsOf(channel), stdout: this.#counted(channel.stdout), stderr: this.#counted(channel.stderr) };
  }

  dispose(): void {
    this.#transport.dispose();
  }

  async *#counted(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.received += chunk.length;
      yield chunk;
    }
  }
}

function methodsOf(channel: Channel): Pick<Channel, "write" | "end" | "exit" | "close"> {
  return {
    write: (data) => channel.write(data),
    end: () => {
      channel.end();
    },
    exit: channel.exit,
    close: () => {
      channel.close();
    },
  };
}

/** See `HostOps.cost`. */
export async function costOf(session: HostSession, received: number): Promise<HostCost | undefined> {
  const [answer = ""] = await session.control.ask([costScript], {});
  const [, ticks] = /^@ ticks (\d{1,12})$/.exec(answer) ?? [];
  return ticks === undefined ? undefined : { cpuMs: Number(ticks) * tickMs, bytes: received };
}
