import type { Member } from "./model";

/** Log lines of a healthy job come in clumps (stdout to a file is block-buffered), so silence alone needs this much. */
const leastSilenceMs = 15 * 60_000;
/** How many of its own longest gaps a job may be silent. */
const gapFactor = 5;

/**
 * Whether a live member stands still: neither its progress nor, without progress, its log has moved for as long as
 * the session file says (`stalled_after`), else for max(15 min, 5 x the longest gap it ever had). Times are our clock.
 */
export function stalledSince(
  member: Member,
  stalledAfterSeconds: number | undefined,
  now: number,
): { readonly since: number; readonly why: string } | undefined {
  const moved = lastMove(member);
  if (moved === undefined) return undefined;
  const limit =
    stalledAfterSeconds === undefined
      ? Math.max(leastSilenceMs, gapFactor * longestGap(member))
      : stalledAfterSeconds * 1000;
  if (now - moved.at < limit) return undefined;
  return { since: moved.at, why: moved.why };
}

function lastMove(member: Member): { readonly at: number; readonly why: string } | undefined {
  const done = member.series.byName.get("done");
  if (done && done.length > 0 && member.progressAt !== undefined) {
    const { times, values } = done;
    const last = values[values.length - 1];
    // Lines that repeat the same count are no progress: look back to where the count last changed.
    let i = values.length - 1;
    while (i > 0 && values[i - 1] === last) i--;
    return { at: times[i] ?? member.progressAt, why: "its progress stands still" };
  }
  const grewAt = member.log?.grewAt;
  return grewAt === undefined ? undefined : { at: grewAt, why: "its log does not grow" };
}

/** The longest time between two samples of progress, of the last 500, ms. */
function longestGap(member: Member): number {
  const times = member.series.byName.get("done")?.times ?? [];
  let longest = 0;
  for (let i = Math.max(1, times.length - 500); i < times.length; i++) {
    longest = Math.max(longest, (times[i] ?? 0) - (times[i - 1] ?? 0));
  }
  return longest;
}
