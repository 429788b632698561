import type { LogState } from "./model";
import { bytes } from "./words";

/** What of a log is gone unread, in words; undefined where nothing is. */
export function lostText({ lost, lostMore }: Pick<LogState, "lost" | "lostMore">): string | undefined {
  if (lost === 0) return lostMore ? "some of it may be gone that nobody read" : undefined;
  return `${lostMore ? "at least " : ""}${bytes(lost)} could not be read`;
}
