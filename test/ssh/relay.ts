import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** What a wire can suffer. All but `slow` hold for the connections that are there and those that come meanwhile. */
export type Fault =
  /** All connections end at once, without a goodbye; new ones are taken and ended. */
  | "cut"
  /** As `cut`, but nothing listens: new connections are refused by the system. */
  | "refuse"
  /** Nothing goes through; what was sent comes when it is over. */
  | "stall"
  | "stall-up"
  | "stall-down"
  /** What is sent is lost, and nobody is told; so it stays for connections of that time, also when it is over. */
  | "half-open"
  /** The same for what is sent to the host only. */
  | "half-open-up"
  /** Everything comes late. */
  | "slow";

/** Every kind of fault. */
export const faults: readonly Fault[] = [
  "cut",
  "refuse",
  "stall",
  "stall-up",
  "stall-down",
  "half-open",
  "half-open-up",
  "slow",
];

const slowMs = 150;

/** A wire that can be cut: everything that comes to `port` goes to another port of this machine. */
export interface Relay {
  readonly port: number;
  /** Ends all connections at once, without a goodbye; new ones are taken as before. */
  cut(): void;
  /** Begins a fault, in place of the one before; without one the wire is whole again. */
  suffer(fault?: Fault): Promise<void>;
  stop(): Promise<void>;
}

export async function startRelay(target: number): Promise<Relay> {
  const links = new Set<Link>();
  let fault: Fault | undefined;
  const server = createServer({ noDelay: true }, (near) => {
    if (fault === "cut") {
      near.on("error", () => undefined);
      near.resetAndDestroy();
      return;
    }
    const link = new Link(near, connect({ port: target, host: "127.0.0.1", noDelay: true }), () => links.delete(link));
    links.add(link);
    link.suffer(fault);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const link of links) link.cut();
  };
  return {
    port,
    cut,
    suffer: async (next) => {
      const before = fault;
      fault = next;
      if (next === "cut" || next === "refuse") cut();
      for (const link of links) link.suffer(next);
      if (next === "refuse" && before !== "refuse") server.close();
      if (next !== "refuse" && before === "refuse") await listen(port);
    },
    stop: () => {
      cut();
      return new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

/** One connection through the relay. */
class Link {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #up: Way;
  readonly #down: Way;

  constructor(near: Socket, far: Socket, gone: () => void) {
    this.#near = near;
    this.#far = far;
    this.#up = new Way(near, far);
    this.#down = new Way(far, near);
    let open = 2;
    for (const [socket, way] of [
      [near, this.#up],
      [far, this.#down],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        way.close();
        if (--open === 0) gone();
      });
    }
  }

  suffer(fault: Fault | undefined): void {
    this.#up.hold(fault === "stall" || fault === "stall-up");
    this.#down.hold(fault === "stall" || fault === "stall-down");
    for (const way of [this.#up, this.#down]) way.delay(fault === "slow" ? slowMs : 0);
    if (fault === "half-open" || fault === "half-open-up") this.#up.lose();
    if (fault === "half-open") this.#down.lose();
  }

  cut(): void {
    for (const socket of [this.#near, this.#far]) socket.resetAndDestroy();
  }
}

/** One direction of a connection. What is held back stays with the sender, as on a real wire. */
class Way {
  readonly #from: Socket;
  readonly #to: Socket;
  #held = false;
  #full = false;
  #lost = false;
  #delayMs = 0;
  #late: Promise<void> = Promise.resolve();

  constructor(from: Socket, to: Socket) {
    this.#from = from;
    this.#to = to;
    from.on("data", (data: Buffer) => {
      this.#take(data);
    });
    to.on("drain", () => {
      this.#full = false;
      this.#flow();
    });
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#flow();
  }

  lose(): void {
    this.#lost = true;
    this.#held = false;
    this.#full = false;
    this.#flow();
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** The sender is gone. Whoever is at the other end of a half-open link does not hear of it. */
  close(): void {
    if (this.#lost) return;
    void this.#late.then(() => {
      if (!this.#lost) this.#to.destroySoon();
    });
  }

  #take(data: Buffer): void {
    if (this.#lost) return;
    const ms = this.#delayMs;
    // What is late must not be overtaken by what comes after it.
    this.#late = this.#late.then(async () => {
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      if (this.#lost || this.#to.destroyed) return;
      if (!this.#to.write(data)) {
        this.#full = true;
        this.#flow();
      }
    });
  }

  #flow(): void {
    if (this.#held || this.#full) this.#from.pause();
    else this.#from.resume();
  }
}
