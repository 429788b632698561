import type { ProgressReading } from "./log/reading";
import type { WrittenAt } from "./logDates";

/** A reading and when it was printed, ms since 1970. */
export interface TimedReading {
  readonly reading: ProgressReading;
  readonly at: number;
}

/**
 * Dates readings of a log that is read late, so that a night read in one go does not look like a burst. Where it is known
 * when the byte at its offset was written (`writtenAt`), a reading is dated by that, and its printed elapsed time tells
 * only where between the two moments. Else the last one was printed when the file last grew (`endedAt`); from there back,
 * the printed elapsed times tell the distances. A reading without one is as old as the next that has one. Where elapsed
 * falls, an earlier start of the job begins; it ended, as far as anybody can tell, when the later one began.
 */
export function dateBacklog(
  readings: readonly ProgressReading[],
  endedAt: number,
  writtenAt: (offset: number) => WrittenAt | undefined = () => undefined,
): readonly TimedReading[] {
  const dated: TimedReading[] = [];
  let at = endedAt;
  let told = endedAt; // by the printed elapsed times
  let next: number | undefined; // elapsed of the reading after, in the same start
  for (const reading of [...readings].reverse()) {
    const elapsed = reading.elapsed_s;
    const known = writtenAt(reading.offset);
    if (elapsed !== undefined) {
      // A fall of elapsed (seen backwards: a rise) is another start of the job: what came after began at its own zero.
      if (next !== undefined) told -= elapsed <= next ? (next - elapsed) * 1000 : next * 1000;
      next = elapsed;
      if (known) told = Math.min(Math.max(told, known.from), known.to);
      at = Math.min(at, told);
    } else if (known) {
      at = Math.min(at, known.at);
    }
    dated.push({ reading, at });
  }
  return dated.reverse();
}
