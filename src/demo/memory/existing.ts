import type { ExistingOutput, ExistingQuery, ExistingWork, SetAside } from "../../core/existingWork";
import type { MemoryFile, MemoryFiles } from "./files";

/** What a restart on the host in memory would meet; it has no checkpoints, and its processes end with their runs. */
export function existingFiles(files: MemoryFiles, query: ExistingQuery, now: number): ExistingWork {
  const outputs: ExistingOutput[] = [];
  for (const pattern of query.outputs) {
    const found = files.matching(files.resolve(pattern, query.cwd));
    const newest = [...found].sort(([, a], [, b]) => b.modifiedAt - a.modifiedAt)[0];
    if (newest === undefined) continue;
    outputs.push({
      pattern,
      files: found.length,
      bytes: found.reduce((sum, [, file]) => sum + file.size, 0),
      ...(query.countLines ? { lines: found.reduce((sum, [, file]) => sum + linesIn(file), 0) } : {}),
      newest: { path: newest[0], at: newest[1].modifiedAt },
    });
  }
  return { now, outputs, processes: [], gpuHolders: [] };
}

function linesIn(file: MemoryFile): number {
  return file.read(0, file.size).filter((byte) => byte === 10).length;
}

/** Renames or copies the outputs; see `RestartOps.setAside`. */
export function setFilesAside(
  files: MemoryFiles,
  query: ExistingQuery,
  how: "move" | "copy",
  now: number,
): readonly SetAside[] {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const moved: SetAside[] = [];
  for (const pattern of query.outputs) {
    for (const [from, file] of files.matching(files.resolve(pattern, query.cwd))) {
      const to = `${from}.before-${stamp}`;
      files.make(to).append(file.read(0, file.size));
      if (how === "move") files.remove(from);
      moved.push({ from, to });
    }
  }
  return moved;
}
