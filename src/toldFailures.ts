import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "./core/errors";
import type { Logger } from "./core/ports";

const keptMs = 30 * 24 * 3600 * 1000;

/**
 * Which failures were told already, in any window of this person and before a restart: one empty file each, made by
 * whoever comes first. The file system decides the race; VS Code's storage has no way to.
 * @param exempt failures of this session (the demo, which begins anew each time) are told each time
 */
export function createClaim(storage: string, exempt: string, logger: Logger): (key: string) => boolean {
  const folder = join(storage, "told");
  let swept = false;
  return (key) => {
    if (key.includes(exempt)) return true;
    try {
      mkdirSync(folder, { recursive: true });
      if (!swept) sweep(folder);
      swept = true;
      writeFileSync(join(folder, createHash("sha256").update(key).digest("hex")), "", { flag: "wx" });
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      // Better told twice than not at all.
      logger.warn(`What was told cannot be remembered: ${messageOf(error)}`);
      return true;
    }
  };
}

function sweep(folder: string): void {
  const oldest = Date.now() - keptMs;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).mtimeMs < oldest) rmSync(file, { force: true });
  }
}
