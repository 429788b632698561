import type { FollowEvent, FollowFrom } from "../../core/following";
import type { MemoryFile, MemoryFiles } from "./files";
import { waiter } from "./waiter";

/** As large as what a channel of a real host would hand over at once. */
const chunkBytes = 64 * 1024;

/** Follows a file of the host in memory until the signal is aborted. Such files grow or are emptied; they are never renamed. */
export async function* followFile(
  files: MemoryFiles,
  path: string,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncIterable<FollowEvent> {
  const wait = waiter(signal);
  const listening = files.onDidChange((changed) => {
    if (changed === path) wait.wake();
  });
  try {
    if (files.get(path) === undefined) yield { kind: "missing" };
    while (files.get(path) === undefined && !signal.aborted) await wait.next();
    const file = files.get(path);
    if (file === undefined) return;
    let offset = startOffset(file, from);
    yield { kind: "opened", position: { ...file.start, offset }, size: file.size, modifiedAt: file.modifiedAt };
    let caughtUp = false;
    for (;;) {
      if (signal.aborted) return;
      if (file.size < offset) {
        offset = 0;
        yield { kind: "restarted", position: file.start, lost: 0 };
      } else if (file.size > offset) {
        const data = file.read(offset, chunkBytes);
        yield { kind: "data", offset, data };
        offset += data.length;
      } else if (!caughtUp) {
        caughtUp = true;
        yield { kind: "caught-up", offset };
      } else {
        await wait.next();
      }
    }
  } finally {
    listening.dispose();
    wait.dispose();
  }
}

function startOffset(file: MemoryFile, from: FollowFrom): number {
  if (from.kind === "end") return Math.max(0, file.size - from.bytes);
  return from.position.inode === file.inode ? Math.min(from.position.offset, file.size) : 0;
}
