import { questions } from "./questions";
import { SegmentScanner } from "./scanner";

/** Needles that were seen: the first `seenCount` of `seen`. */
export type SeenNeedles = Pick<SegmentScanner, "seen" | "seenCount" | "seenKinds">;

const encoder = new TextEncoder();
const nothing: SeenNeedles = { seen: new Int16Array(), seenCount: 0, seenKinds: 0 };
let found = nothing;
let shared: SegmentScanner | undefined;

/** The needles of a text whose bytes held control characters, which may hide needles from the scanner of the log. */
export function seenIn(text: string): SeenNeedles {
  shared ??= new SegmentScanner(questions().sought, { take }, 0);
  found = nothing;
  shared.push(encoder.encode(text));
  shared.flush();
  return found;
}

function take(): boolean {
  if (shared !== undefined) {
    const { seen, seenCount, seenKinds } = shared;
    found = { seen: seen.slice(0, seenCount), seenCount, seenKinds };
  }
  return true;
}
