import { generateKeyPairSync } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import ssh2 from "ssh2";
import type { AuthContext, Connection, ServerChannel, Session } from "ssh2";

/** What the fixture does; everything that is left out is friendly. */
export interface ServerBehaviour {
  /** Default: everybody may come in. */
  authenticate?(context: AuthContext): void;
  /** Default: the channel stays open and silent. */
  exec?(command: string, channel: ServerChannel): void;
  /** Told of each client that has connected, before it says anything. */
  onConnection?(connection: Connection): void;
  onSession?(session: Session): void;
  /** Default: as many as are asked for. */
  acceptSession?(): boolean;
}

/** An SSH server in this process, for what a real one does not do on demand. */
export interface SshServer {
  readonly port: number;
  /** As known_hosts would name it. */
  readonly knownHostsLine: string;
  readonly connections: Connection[];
  /** The TCP connections under them: pause one, and the link is half-open. */
  readonly sockets: Socket[];
  /** What each client calls itself: `OpenSSH_9.2p1 …`, `ssh2js1.17.0`. */
  readonly clients: string[];
  stop(): Promise<void>;
}

export async function startSshServer(behaviour: ServerBehaviour = {}): Promise<SshServer> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "sec1", format: "pem" });
  const connections: Connection[] = [];
  const sockets: Socket[] = [];
  const clients: string[] = [];
  const server = new ssh2.Server({ hostKeys: [key] }, (connection, { header }) => {
    connections.push(connection);
    clients.push(header.versions.software);
    behaviour.onConnection?.(connection);
    connection.on("error", () => undefined);
    connection.on("authentication", (context) => {
      if (behaviour.authenticate === undefined) context.accept();
      else behaviour.authenticate(context);
    });
    connection.on("session", (accept, reject) => {
      if (behaviour.acceptSession?.() === false) {
        reject();
        return;
      }
      const session = accept();
      behaviour.onSession?.(session);
      session.on("exec", (acceptExec, _reject, info) => {
        const channel = acceptExec();
        channel.on("error", () => undefined);
        behaviour.exec?.(info.command, channel);
      });
    });
  });
  // ssh2's server passes its connections on as a TCP server does; its own types leave that out.
  const tcp: unknown = Reflect.get(server, "_srv");
  if (tcp instanceof Object && "on" in tcp && typeof tcp.on === "function") {
    Reflect.apply(tcp.on, tcp, ["connection", (socket: Socket) => sockets.push(socket)]);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  return {
    port,
    knownHostsLine: `[127.0.0.1]:${port} ${parsed.type} ${parsed.getPublicSSH().toString("base64")}`,
    connections,
    sockets,
    clients,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
