import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** A wire that can be cut: everything that comes to `port` goes to another port of this machine. */
export interface Relay {
  readonly port: number;
  /** Ends all connections at once, without a goodbye; new ones are taken as before. */
  cut(): void;
  /** Refuses (`false`) or takes new connections. */
  open(taken: boolean): void;
  stop(): Promise<void>;
}

export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let taken = true;
  const server = createServer((near) => {
    if (!taken) {
      near.destroy();
      return;
    }
    const far = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    open: (value) => {
      taken = value;
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
