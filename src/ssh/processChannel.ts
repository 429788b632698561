import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Channel, ExitStatus } from "../core/ports";

/** A child process, its three streams ours. */
export type PipedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * To be called as soon as a process is started: when it ends, Node throws away what nobody listens for yet. With a
 * listener for `readable` it does not.
 */
export function keepUnread(child: PipedProcess): void {
  for (const output of [child.stdout, child.stderr]) {
    output.on("readable", () => {
      // An end that nobody reads up to is no end to a stream.
      if (output.readableLength === 0) output.read(0);
    });
  }
}

/** A process on this machine as a channel. Pulled, never pushed: what is not read stays in the pipes. */
export function processChannel(child: PipedProcess, exit: Promise<ExitStatus>): Channel {
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

/** A stream that was closed by us ends; it does not fail. Who stops early must not hold up the other output. */
async function* readable(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    if (!stream.destroyed) throw error;
  } finally {
    if (!stream.readableEnded && !stream.destroyed) {
      stream.removeAllListeners("readable");
      stream.on("data", () => undefined);
      stream.resume();
    }
  }
}
