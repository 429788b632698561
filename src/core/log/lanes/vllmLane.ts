import { peelPrefixes } from "../prefixes";
import { bytesOf, ByteCursor } from "./cursor";
import type { Lane, LaneSegment } from "./lane";

const cursor = new ByteCursor();
const decoder = new TextDecoder();

/** Labels in the order in which all versions print them, as far as they print them. */
const labels = [
  ["Avg prompt throughput: ", "prompt_tok_s"],
  ["Avg generation throughput: ", "gen_tok_s"],
  ["Running: ", "running"],
  ["Swapped: ", "swapped"],
  ["Waiting: ", "waiting"],
  ["Pending: ", "waiting"],
  ["GPU KV cache usage: ", "kv_cache_pct"],
  ["CPU KV cache usage: ", "cpu_kv_cache_pct"],
  ["Prefix cache hit rate: ", "prefix_hit_pct"],
  ["External prefix cache hit rate: ", "ext_prefix_hit_pct"],
  ["MM cache hit rate: ", "mm_hit_pct"],
].map(([label = "", metric = ""]) => ({ bytes: bytesOf(label), metric }));
const tokensUnit = bytesOf(" tokens/s");
const requestsUnit = bytesOf(" reqs");
const next = bytesOf(", ");
const engine = bytesOf("Engine ");
const engineEnd = bytesOf(": ");
const info = bytesOf("INFO ");

/** Who spoke last, as bytes with the parentheses, and as a source. */
let speaker = { bytes: new Uint8Array(), source: "" };

/** `(APIServer pid=1) INFO 11-02 10:00:20 [loggers.py:127] Engine 000: Avg prompt throughput: 5120.8 tokens/s, …` */
export const vllmLane: Lane = (segment) => {
  cursor.reset(segment.bytes, segment.start, segment.end);
  const source = readSpeaker(segment);
  if (source === undefined || !skipRecord()) return undefined;
  if (cursor.word(engine) && (!(cursor.count() >= 0) || !cursor.word(engineEnd))) return undefined;
  const metrics = readLabels();
  if (metrics === undefined) return undefined;
  return {
    kind: "progress",
    line: segment.line,
    segment: segment.segment,
    offset: segment.lineOffset,
    format: "vllm-stats",
    metrics,
    role: "main",
    source,
  };
};

function readLabels(): Record<string, number> | undefined {
  const metrics: Record<string, number> = {};
  let order = 0;
  do {
    let label = labels[order];
    while (label !== undefined && !cursor.word(label.bytes)) label = labels[++order];
    // The first one is what tells the line.
    if (label === undefined || (order > 0 && metrics["prompt_tok_s"] === undefined)) return undefined;
    order++;
    const value = cursor.decimal();
    if (!(value >= 0) || !(cursor.byte(37) || cursor.word(requestsUnit) || cursor.word(tokensUnit))) return undefined;
    metrics[label.metric] = value;
  } while (cursor.word(next));
  cursor.byte(46);
  return cursor.done() ? metrics : undefined;
}

/** The process in parentheses; `""` for none, undefined for anything unusual. */
function readSpeaker(segment: LaneSegment): string | undefined {
  if (segment.bytes[segment.start] !== 40) return "";
  if (speaker.bytes.length > 0 && cursor.word(speaker.bytes)) return speaker.source;
  const close = segment.bytes.indexOf(41, segment.start);
  if (close < 0 || close > segment.start + 100 || close + 2 > segment.end || segment.bytes[close + 1] !== 32)
    return undefined;
  const bytes = segment.bytes.slice(segment.start, close + 2);
  const { source, body, record } = peelPrefixes(`${decoder.decode(bytes)}Engine`);
  if (body !== "Engine" || record) return undefined;
  speaker = { bytes, source };
  cursor.at = close + 2;
  return source;
}

/** `INFO 11-02 10:00:20 [loggers.py:127] `: whether it was there whole, or not at all. */
function skipRecord(): boolean {
  if (!cursor.word(info)) return true;
  if (!skipTime() || !cursor.byte(91)) return false;
  while (cursor.at < cursor.end && isName(cursor.bytes[cursor.at] ?? 0)) cursor.at++;
  return cursor.byte(58) && cursor.count() >= 0 && cursor.byte(93) && cursor.byte(32);
}

/** `11-02 10:00:20 ` */
function skipTime(): boolean {
  const date = cursor.at;
  if (!(cursor.count() >= 0) || !cursor.byte(45) || !(cursor.count() >= 0)) return false;
  if (cursor.at !== date + 5 || !cursor.byte(32)) return false;
  const time = cursor.at;
  return cursor.clock() >= 0 && cursor.at === time + 8 && cursor.byte(32);
}

/** Letters, digits, `_`, `.` and `/`, as in a path. */
function isName(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90) || (byte >= 46 && byte <= 57) || byte === 95;
}
