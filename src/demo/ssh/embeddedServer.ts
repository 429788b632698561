import { spawn, type ChildProcess } from "node:child_process";
import type { AddressInfo } from "node:net";
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel, type Session } from "ssh2";
import { ExpectedError, messageOf } from "../../core/errors";
import type { Disposable } from "../../core/lifecycle";
import type { Logger } from "../../core/ports";

/** What the server needs to know. */
export interface EmbeddedServerOptions {
  readonly user: string;
  /** The private host key, OpenSSH's format. */
  readonly hostKey: string;
  /** The one public key that may log in, as a line of authorized_keys. */
  readonly clientKey: string;
  /** Where and in which environment commands run. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logger: Logger;
}

/** An SSH server inside this process, which runs commands on this machine and offers nothing else. */
export interface EmbeddedServer extends Disposable {
  /** On 127.0.0.1. */
  readonly port: number;
}

/** How long a command whose channel was closed may take to tidy up. */
const graceMs = 1000;

/** Listens on a free port of 127.0.0.1. Disposing it ends every connection and what runs in their channels. */
export async function startServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const allowed = ssh2.utils.parseKey(options.clientKey);
  if (allowed instanceof Error) throw allowed;
  const connections = new Set<Connection>();
  const children = new Set<ChildProcess>();
  const run = (channel: ServerChannel, session: Session, command: string): void => {
    const child = runCommand(command, channel, session, options);
    children.add(child);
    child.once("close", () => children.delete(child));
  };
  const server = new ssh2.Server({ hostKeys: [options.hostKey], ident: "demo" }, (connection) => {
    connections.add(connection);
    connection.on("close", () => connections.delete(connection));
    connection.on("error", (error: Error) => {
      options.logger.debug(`Demo server: ${error.message}`);
    });
    connection.on("authentication", (context) => {
      if (mayLogIn(context, options.user, allowed)) context.accept();
      else context.reject(["publickey"]);
    });
    connection.on("session", (accept) => {
      const session = accept();
      session.on("exec", (acceptExec, _reject, { command }) => {
        run(acceptExec(), session, command);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    dispose: () => {
      server.close();
      for (const connection of connections) connection.end();
      for (const child of children) signalGroup(child, "SIGKILL");
    },
  };
}

/** Only the one user with the one key; a signature is asked for before anything is granted. */
function mayLogIn(context: AuthContext, user: string, allowed: ParsedKey): boolean {
  if (context.method !== "publickey" || context.username !== user) return false;
  const { key, blob, signature, hashAlgo } = context;
  if (key.algo !== allowed.type || !key.data.equals(allowed.getPublicSSH())) return false;
  if (signature === undefined || blob === undefined) return true; // only asks whether the key would do
  return allowed.verify(blob, signature, hashAlgo);
}

/** Runs a command as sshd would: pipes, its own process group, and the exit told after the last byte. */
function runCommand(
  command: string,
  channel: ServerChannel,
  session: Session,
  { cwd, env, logger }: EmbeddedServerOptions,
): ChildProcess {
  const child = spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  let open = true;
  let running = true;
  channel.on("close", () => {
    open = false;
    // A shell that ended may have left others, which hold its outputs.
    if (running) endGroup(child);
  });
  channel.on("error", (error: Error) => {
    logger.debug(`Demo channel: ${error.message}`);
  });
  session.on("signal", (accept, _reject, { name }) => {
    signalGroup(child, `SIG${name}` as NodeJS.Signals);
    // The client may have asked for no answer; then there is nothing to accept.
    (accept as typeof accept | undefined)?.();
  });
  // The command may end before it has read everything: then the rest is let go.
  child.stdin.on("error", () => channel.resume());
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr);
  child.on("error", (error) => {
    channel.stderr.write(`${messageOf(error)}\n`);
  });
  child.on("close", (code, signal) => {
    running = false;
    if (!open) return;
    channel.resume();
    // Both outputs are empty once these have come: the stderr by `finish`, the stdout by an empty write after it.
    channel.stderr.end(() => {
      channel.write(Buffer.alloc(0), () => {
        if (signal === null) channel.exit(code ?? 255);
        else channel.exit(signal.replace(/^SIG/, ""), false, "");
        channel.end();
      });
    });
  });
  return child;
}

function endGroup(child: ChildProcess): void {
  signalGroup(child, "SIGHUP");
  const timer = setTimeout(() => {
    signalGroup(child, "SIGKILL");
  }, graceMs);
  child.once("close", () => {
    clearTimeout(timer);
  });
  timer.unref();
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already, or the signal's name means nothing here.
  }
}

/** A new ed25519 key pair, in OpenSSH's formats. */
export function newKeyPair(): { readonly private: string; readonly public: string } {
  // Some keys come out malformed, where a leading zero byte was dropped; such a pair does not fit together.
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const pair = ssh2.utils.generateKeyPairSync("ed25519");
    if (fit(pair)) return pair;
  }
  throw new ExpectedError("No SSH key could be made for the demo.");
}

function fit(pair: { readonly private: string; readonly public: string }): boolean {
  const hidden = ssh2.utils.parseKey(pair.private);
  const open = ssh2.utils.parseKey(pair.public);
  if (hidden instanceof Error || open instanceof Error) return false;
  const text = Buffer.from("demo");
  const signature: unknown = hidden.sign(text);
  return Buffer.isBuffer(signature) && open.verify(text, signature);
}
