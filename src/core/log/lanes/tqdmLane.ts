import { isAuxiliary, labelOf } from "../formats/tqdm";
import type { FormatMemory } from "../formats/format";
import { peelPrefixes } from "../prefixes";
import { bytesOf, ByteCursor } from "./cursor";
import type { Lane, LaneSegment } from "./lane";

const cursor = new ByteCursor();
const decoder = new TextDecoder();
const iterations = bytesOf("it/s]");
const seconds = bytesOf("s/it]");
const fill = 124;

/** What stood before the percentage last, and the label it makes. */
let known = { bytes: new Uint8Array(), label: "" };

/** ` 23%|██▎       | 117/500 [00:31<01:42,  3.73it/s]`, with or without a label, nothing behind it. */
export const tqdmLane: Lane = (segment, memory) => {
  const { meterAt } = segment;
  const counts = countsAt(segment, meterAt - 2);
  const percent = counts < 0 ? -1 : percentAt(segment, counts - 2);
  const label = percent < 0 ? undefined : readLabel(segment, percent);
  if (label === undefined) return undefined;
  cursor.reset(segment.bytes, counts, segment.end);
  const done = cursor.count();
  cursor.at++;
  const total = cursor.count();
  cursor.at = meterAt + 1;
  const elapsed = cursor.clock();
  if (!cursor.byte(60)) return undefined;
  const left = cursor.clock();
  if (!cursor.byte(44) || !cursor.byte(32)) return undefined;
  while (cursor.byte(32)) continue;
  const printed = cursor.decimal();
  const rate = cursor.word(iterations) ? printed : cursor.word(seconds) ? 1 / printed : Number.NaN;
  if (!cursor.done() || !(done + total + elapsed + left + rate < Number.POSITIVE_INFINITY)) return undefined;
  return reading(segment, { done, total, elapsed, left, rate, label }, memory);
};

interface Meter {
  readonly done: number;
  readonly total: number;
  readonly elapsed: number;
  readonly left: number;
  readonly rate: number;
  readonly label: string;
}

function reading(segment: LaneSegment, meter: Meter, memory: FormatMemory): ReturnType<Lane> {
  const { done, total, elapsed, left, rate, label } = meter;
  const bare = {
    kind: "progress",
    line: segment.line,
    segment: segment.segment,
    offset: segment.lineOffset,
    format: "tqdm",
    done,
    total,
    unit: "it",
    rate,
    rate_unit: "it/s",
    elapsed_s: elapsed,
    eta_s: left,
    role: isAuxiliary(label, meter, memory) ? "aux" : "main",
    source: "",
  } as const;
  return label === "" ? bare : { ...bare, label };
}

/** Where `117/500` begins that ends at `last`; -1 when it does not stand there, behind a bar. */
function countsAt({ bytes, start }: LaneSegment, last: number): number {
  let at = last;
  while (at > start && isDigit(bytes[at])) at--;
  if (at === last || bytes[at] !== 47) return -1;
  const slash = at;
  at--;
  while (at > start && isDigit(bytes[at])) at--;
  return at === slash - 1 || bytes[at] !== 32 || bytes[at - 1] !== fill ? -1 : at + 1;
}

/** Where `23%|██▎  |` begins whose last sign stands at `last`; -1 when it does not. */
function percentAt({ bytes, start }: LaneSegment, last: number): number {
  let at = last - 1;
  while (at > start && bytes[at] !== fill && last - at < 400) at--;
  if (at <= start + 1 || bytes[at] !== fill || bytes[at - 1] !== 37) return -1;
  at -= 2;
  const percent = at;
  while (at >= start && isDigit(bytes[at])) at--;
  return at === percent || percent - at > 3 ? -1 : at + 1;
}

/** The label before the percentage; undefined for what the format must judge. */
function readLabel({ bytes, start, end }: LaneSegment, percent: number): string | undefined {
  let last = percent;
  while (last > start && bytes[last - 1] === 32) last--;
  if (last === start) return percent - start > 6 ? undefined : "";
  if (last - start === known.bytes.length) {
    let same = 0;
    while (same < known.bytes.length && bytes[start + same] === known.bytes[same]) same++;
    if (same === known.bytes.length) return known.label;
  }
  const text = decoder.decode(bytes.subarray(start, end));
  const label = labelOf(decoder.decode(bytes.subarray(start, last)));
  const peeled = peelPrefixes(text);
  // A first sign that may open a quotation, a prefix, a download that makes others its details: the format's business.
  if (label === undefined || /^[`=-]/.test(text) || peeled.body.length !== text.length || label.startsWith("Fetching "))
    return undefined;
  known = { bytes: bytes.slice(start, last), label };
  return label;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}
