import type { FailureReading } from "../reading";
import type { LinePlace } from "./tracebacks";

type PlacedFields = Pick<FailureReading, "kind" | "line" | "segment" | "offset" | "startLine" | "endOffset" | "text">;

/** The fields of a failure reading that say where it stands. */
export function placed(place: LinePlace, startLine: number): PlacedFields {
  return {
    kind: "failure",
    line: place.line,
    segment: place.segment,
    offset: place.offset,
    startLine,
    endOffset: place.endOffset,
    text: place.text.trim().slice(0, 500),
  };
}
