import { metricName } from "../formats/metricNames";
import { rememberSteps } from "../formats/trainers";
import { bytesOf, ByteCursor } from "./cursor";
import type { Lane } from "./lane";

const cursor = new ByteCursor();
const between = bytesOf("': ");
const next = bytesOf(", ");
const decoder = new TextDecoder();
const mostKeys = 64;

interface KnownKey {
  readonly bytes: Uint8Array;
  readonly name: string;
}

/** Names of the dictionary that was read last, in their order: the next one mostly has the same. */
const keys: KnownKey[] = [];

/** `{'loss': 1.2345, 'grad_norm': 2.5, 'learning_rate': 5e-05, 'epoch': 0.02}`: plain numbers only. */
export const trainerLane: Lane = (segment, memory) => {
  cursor.reset(segment.bytes, segment.start, segment.end);
  if (!cursor.byte(123)) return undefined;
  const metrics: Record<string, number> = {};
  for (let at = 0; at < mostKeys; at++) {
    if (!cursor.byte(39)) return undefined;
    const name = readKey(at);
    if (name === undefined || !cursor.word(between)) return undefined;
    const value = cursor.number();
    if (!Number.isFinite(value)) return undefined;
    // The first of two that have one name in the product.
    metrics[name] ??= value;
    if (!cursor.word(next)) break;
  }
  if (!cursor.byte(125) || !cursor.done()) return undefined;
  rememberSteps(metrics, memory);
  return {
    kind: "progress",
    line: segment.line,
    segment: segment.segment,
    offset: segment.lineOffset,
    format: "hf-trainer",
    metrics,
    role: "main",
    source: "",
  };
};

function readKey(at: number): string | undefined {
  const known = keys[at];
  if (known !== undefined && cursor.word(known.bytes)) {
    if (cursor.bytes[cursor.at] === 39) return known.name;
    cursor.at -= known.bytes.length;
  }
  const from = cursor.at;
  while (cursor.at < cursor.end && isPlain(cursor.bytes[cursor.at] ?? 0)) cursor.at++;
  const bytes = cursor.bytes.slice(from, cursor.at);
  const name = metricName(decoder.decode(bytes).trim());
  // 100 characters is what the format takes; names of Object's own are no fields.
  if (bytes.length === 0 || bytes.length > 100 || name === "" || name in {}) return undefined;
  keys[at] = { bytes, name };
  return name;
}

/** ASCII without quotes, braces and commas. */
function isPlain(byte: number): boolean {
  return byte >= 32 && byte < 127 && byte !== 39 && byte !== 34;
}
