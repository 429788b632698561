import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Channel, ExitStatus, Transport } from "../core/ports";
import { ConnectError } from "../core/errors";
import { Emitter } from "../core/lifecycle";

/**
 * This machine as a host: a command runs through the user's login shell, as sshd would run it.
 * @param isTrusted asked at every opening, so that no caller can forget it
 */
export function createLocalTransport(isTrusted: () => boolean): Transport {
  const closed = new Emitter<string>();
  const open = new Set<Channel>();
  let disposed = false;
  return {
    label: "this machine",
    onDidClose: closed.event,
    open: async (command, signal) => {
      if (!isTrusted()) {
        throw new ConnectError("untrusted", "The workspace is not trusted, so nothing is run on this machine.");
      }
      if (process.platform === "win32") {
        throw new ConnectError("unsupported", "Windows cannot be a host of a session; use WSL or a Linux machine.");
      }
      if (disposed) throw new ConnectError("unreachable", "The connection to this machine was given up.");
      signal?.throwIfAborted();
      const channel = await start(command);
      open.add(channel);
      void channel.exit.then(() => open.delete(channel));
      return channel;
    },
    dispose: () => {
      disposed = true;
      for (const channel of [...open]) channel.close();
      closed.dispose();
    },
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

async function start(command: string): Promise<Channel> {
  const shell = process.env["SHELL"] ?? "/bin/sh";
  // A group of its own, so that signals meant for the editor do not reach it.
  const child: Child = spawn(shell, ["-c", command], { detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const exit = exitOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(new ConnectError("no-shell", `The shell ${shell} cannot be started: ${error.message}`));
    });
  });
  // A pipe whose reader is gone is told by `write`, not by an event that nobody hears.
  child.stdin.on("error", () => undefined);
  return {
    stdout: readable(child.stdout),
    stderr: readable(child.stderr),
    write: (data) =>
      new Promise((resolve, reject) => {
        child.stdin.write(data, (error) => {
          if (error === null || error === undefined) resolve();
          else reject(error);
        });
      }),
    end: () => {
      child.stdin.end();
    },
    exit,
    close: () => {
      child.stdin.destroy();
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}

/** A stream that was closed by us ends; it does not fail. */
async function* readable(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    if (!stream.destroyed) throw error;
  }
}

function exitOf(child: Child): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      if (signal !== null) resolve({ kind: "signal", signal });
      else if (code !== null && code >= 0 && code <= 255) resolve({ kind: "code", code });
      else resolve({ kind: "unknown" });
    });
    child.once("error", () => {
      resolve({ kind: "unknown" });
    });
  });
}
