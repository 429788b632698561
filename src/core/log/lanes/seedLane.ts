import { bytesOf, ByteCursor } from "./cursor";
import type { Lane } from "./lane";

const cursor = new ByteCursor();
const progress = bytesOf("Progress: ");
const opened = bytesOf(" (");
const error = bytesOf(" error");
const closed = bytesOf("), ");
const rateUnit = bytesOf(" req/s");
const completion = bytesOf(", avg completion: ");
const tokensUnit = bytesOf(" tokens");
const elapsedLabel = bytesOf(", elapsed: ");

/** `Progress: 40/25000 (0 errors), 0.6 req/s, avg completion: 367 tokens, elapsed: 65s`, whole and without prefix. */
export const seedLane: Lane = (segment) => {
  cursor.reset(segment.bytes, segment.start, segment.end);
  if (!cursor.word(progress)) return undefined;
  const done = cursor.count();
  if (!cursor.byte(47)) return undefined;
  const total = cursor.count();
  if (!cursor.word(opened)) return undefined;
  const errors = cursor.count();
  if (!cursor.word(error)) return undefined;
  cursor.byte(115);
  if (!cursor.word(closed)) return undefined;
  const rate = cursor.decimal();
  if (!cursor.word(rateUnit) || !cursor.word(completion)) return undefined;
  const tokens = cursor.decimal();
  if (!cursor.word(tokensUnit) || !cursor.word(elapsedLabel)) return undefined;
  const elapsed = cursor.decimal();
  if (!cursor.byte(115) || !cursor.done()) return undefined;
  // One of them is no number: so is the sum.
  if (!(done + total + errors + rate + tokens + elapsed >= 0)) return undefined;
  return {
    kind: "progress",
    line: segment.line,
    segment: segment.segment,
    offset: segment.lineOffset,
    format: "seed",
    done,
    total,
    unit: "req",
    rate,
    rate_unit: "req/s",
    errors,
    elapsed_s: elapsed,
    metrics: { avg_completion_tokens: tokens },
    role: "main",
    source: "",
  };
};
