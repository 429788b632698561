import { spawn } from "node:child_process";
import type { Channel, ExitStatus, Transport } from "../core/ports";
import { ConnectError } from "../core/errors";
import { Emitter } from "../core/lifecycle";
import { keepUnread, processChannel, type PipedProcess } from "./processChannel";

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

async function start(command: string): Promise<Channel> {
  const shell = process.env["SHELL"] ?? "/bin/sh";
  // A group of its own, so that signals meant for the editor do not reach it.
  const child: PipedProcess = spawn(shell, ["-c", command], { detached: true, stdio: ["pipe", "pipe", "pipe"] });
  keepUnread(child);
  const exit = exitOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(new ConnectError("no-shell", `The shell ${shell} cannot be started: ${error.message}`));
    });
  });
  return processChannel(child, exit);
}

function exitOf(child: PipedProcess): Promise<ExitStatus> {
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
