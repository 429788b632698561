import type { Member } from "./model";
import type { MetricSeries } from "./series";
import { isWhole, type Written } from "./written";

/** Log lines of a healthy job come in clumps (stdout to a file is block-buffered), so silence alone needs this much. */
const leastSilenceMs = 15 * 60_000;
/** How many of its own longest gaps a job may be silent. */
const gapFactor = 5;
/** A large model is loaded for longer than that before the first output comes; nothing but the log shows it. */
const leastWarmUpMs = 4 * leastSilenceMs;

/** The last sign that a job gets on. */
interface Move {
  readonly at: number;
  /** Until when it is known that there was none after it. */
  readonly until: number;
  /** The longest time between two such signs, ms. */
  readonly gapMs: () => number;
  readonly why: string;
  /** The least silence that counts, where that is not the usual one. */
  readonly leastMs?: number;
}

/**
 * Whether a live member stands still: for as long as the session file says (`stalled_after`), else for max(15 min, 5 x
 * the longest gap it ever had). What it writes decides, where that is counted: a log that goes on over the same outputs
 * is a stall, and outputs that grow while the progress stands still are none. Else its progress decides, else its log.
 * Neither GPUs nor processors are asked: both are busy in a job that hangs. Times are our clock.
 */
export function stalledSince(
  member: Member,
  stalledAfterSeconds: number | undefined,
  now: number,
): { readonly since: number; readonly why: string } | undefined {
  const move = lastMove(member, now);
  if (move === undefined) return undefined;
  const silence = move.until - move.at;
  const least = stalledAfterSeconds === undefined ? (move.leastMs ?? leastSilenceMs) : stalledAfterSeconds * 1000;
  // The gaps are looked at in a silence alone: this is asked at each line.
  if (silence < least || (stalledAfterSeconds === undefined && silence < gapFactor * move.gapMs())) return undefined;
  return { since: move.at, why: move.why };
}

function lastMove(member: Member, now: number): Move | undefined {
  const logged = loggedMove(member, now);
  const { written } = member;
  if (!written || isWhole(written)) return logged;
  if (written.growing) return writtenMove(member, written);
  // Nothing was written in this run yet. While it warms up that says nothing.
  if (isOneForEach(member, written)) return firstOutputDue(member, written);
  return logged && logged.at > written.grewAt ? logged : { ...writtenMove(member, written), until: now };
}

function writtenMove(member: Member, { grewAt, countedAt, longestGapMs }: Written): Move {
  // A log that was quiet before the outputs were says nothing about them.
  const printsOn = Math.max(member.log?.grewAt ?? 0, member.progressAt ?? 0) > grewAt + 60_000;
  const why = printsOn ? "it prints on, but writes nothing new" : "it writes nothing new";
  return { at: grewAt, until: countedAt, gapMs: () => longestGapMs, why };
}

/** Whether each step of its progress makes an output, so that one without the other is work done again. */
function isOneForEach(member: Member, { unit, total }: Written): boolean {
  return unit === "lines" || (unit === "files" && total !== undefined && total === member.progress?.total);
}

function firstOutputDue(member: Member, written: Written): Move {
  const move = writtenMove(member, written);
  const began = beganAt(member.series.byName.get("done"), written.firstAt);
  return began === undefined ? { ...move, leastMs: leastWarmUpMs } : { ...move, at: began };
}

/** When the count first changed after a moment. */
function beganAt(done: MetricSeries | undefined, after: number): number | undefined {
  if (!done) return undefined;
  const { times, values } = done;
  let began: number | undefined;
  for (let i = times.length - 1; i > 0 && (times[i] ?? 0) > after; i--) {
    if (values[i] !== values[i - 1]) began = times[i];
  }
  return began;
}

function loggedMove(member: Member, now: number): Move | undefined {
  const done = member.series.byName.get("done");
  // Lines that repeat the same count are no progress.
  const at = member.progressAt === undefined ? undefined : done?.standsSince;
  if (done && at !== undefined) {
    return { at, until: now, gapMs: () => longestGap(done.times), why: "its progress stands still" };
  }
  const { grewAt, longestGapMs = 0 } = member.log ?? {};
  return grewAt === undefined
    ? undefined
    : { at: grewAt, until: now, gapMs: () => longestGapMs, why: "its log does not grow" };
}

/** The longest time between two samples of progress, of the last 500, ms. */
function longestGap(times: Float64Array): number {
  let longest = 0;
  for (let i = Math.max(1, times.length - 500); i < times.length; i++) {
    longest = Math.max(longest, (times[i] ?? 0) - (times[i - 1] ?? 0));
  }
  return longest;
}
