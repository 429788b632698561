import type { FormatMemory } from "../formats/format";
import type { ProgressReading } from "../reading";

/** A complete segment as bytes, and where it stands. */
export interface LaneSegment {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly segment: number;
  readonly lineOffset: number;
  /** Where the bracket of a meter stands, if one does. */
  readonly meterAt: number;
}

/**
 * Reads the most frequent form of a format from bytes, without making a string of the line. Gives exactly what the
 * format gives for the line, or undefined: then the format is asked.
 */
export type Lane = (segment: LaneSegment, memory: FormatMemory) => ProgressReading | undefined;
