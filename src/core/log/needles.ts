/**
 * Finds any of many fixed texts (needles) in bytes, looking at one aligned word of four bytes at a time.
 *
 * A needle of seven bytes or more covers an aligned word wherever it begins: one of four words, for the four ways in
 * which it can lie. One of six bytes may cover only three bytes of a word; then all 256 words with these three stand
 * for it. One table says for each word (by a hash of it) whether a needle may be there; only then bytes are compared.
 * Most words of a log are nobody's, so most of a log costs one look into the table for four bytes.
 */

/** Bytes of the shortest text that can be a needle. */
const shortestNeedle = 6;

const hashBits = 20;
const hashShift = 32 - hashBits;
/** Lists of needles are kept by the lower bits of a slot: fewer of them stay in the processor's cache. */
export const listMask = 0xffff;
const multiplier = 0x85ebca6b;

/** The slot of a word in the tables. */
export function slotOf(word: number): number {
  return Math.imul(word, multiplier) >>> hashShift;
}

/** A needle and where in it the looked-up word begins: -1 when the word begins one byte before it. */
interface Place {
  readonly needle: number;
  readonly offset: number;
}

/** Stands for any digit; no log holds this byte. */
const anyDigit = 0xff;
/** Ends a list of places. */
const lastPlace = -1;

/**
 * Many needles, known by their index in the list they were given in. Its tables are read by the scanner's inner loop:
 * they are numbers in typed arrays for that reason only.
 */
export class NeedleIndex {
  /** A bit for each slot: whether a needle may be at a word of this slot. */
  readonly bits = new Int32Array(1 << (hashBits - 5));
  /** Where a slot's places begin in `places`, by its lower bits. */
  readonly lists: Uint32Array;
  /**
   * Five numbers a place: the needle; the offset of the word in it; how many words on another word of the needle stands;
   * which bits of that must be what. A negative needle ends a list.
   */
  readonly places: Int32Array;
  /** All needles' bytes; a needle's begin at its entry in `starts` and end at the next. */
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;

  /**
   * @param needles plain text, in which `\d` stands for any digit
   * @throws RangeError for one that is too short, or holds a control character
   */
  constructor(needles: readonly string[]) {
    const unfit = needles.find((text) => !canBeNeedle(text));
    if (unfit !== undefined) throw new RangeError(`"${unfit}" cannot be a needle`);
    const all = needles.map(needleBytes);
    this.bytes = Uint8Array.from(all.flatMap((bytes) => [...bytes]));
    this.starts = new Uint32Array(all.length + 1);
    for (const [needle, bytes] of all.entries()) this.starts[needle + 1] = (this.starts[needle] ?? 0) + bytes.length;
    const lists = new PlaceLists();
    for (const [needle, bytes] of all.entries()) {
      for (let lie = 0; lie < 4; lie++) {
        const place = { needle, offset: bestOffset(bytes, lie) };
        for (const word of wordsOf(bytes, place.offset)) {
          const slot = slotOf(word);
          lists.add(slot & listMask, place);
          this.bits[slot >>> 5] = (this.bits[slot >>> 5] ?? 0) | (1 << (slot & 31));
        }
      }
    }
    const flat: number[] = [];
    const begins = lists.lists.map((list) => {
      const begin = flat.length;
      flat.push(...list.flatMap((place) => numbersOf(place, all[place.needle] ?? new Uint8Array())), lastPlace);
      return begin;
    });
    this.places = Int32Array.from(flat);
    this.lists = Uint32Array.from(lists.listOf, (list) => begins[list] ?? 0);
  }

  /** Whether a byte is what a needle holds at this place of `bytes`. */
  fits(place: number, byte: number): boolean {
    const wanted = this.bytes[place];
    return byte === wanted || (wanted === anyDigit && byte >= 48 && byte <= 57);
  }
}

/** A place as five numbers. The word behind tells more than the one before, unless the needle ends. */
function numbersOf({ needle, offset }: Place, bytes: Uint8Array): number[] {
  const on = offset + 4 < bytes.length - 1 || offset < 4 ? 1 : -1;
  let mask = 0;
  let value = 0;
  for (let at = 0; at < 4; at++) {
    const byte = bytes[offset + 4 * on + at];
    if (byte === undefined) continue;
    // Digits are 0x30 to 0x39.
    mask |= (byte === anyDigit ? 0xf0 : 0xff) << (8 * at);
    value |= (byte === anyDigit ? 0x30 : byte) << (8 * at);
  }
  return [needle, offset, on, mask, value];
}

/** Lists of places, one for each set of them; most slots share theirs with others. */
class PlaceLists {
  readonly lists: (readonly Place[])[] = [[]];
  readonly listOf = new Uint16Array(listMask + 1);
  readonly #longer = new Map<string, number>();

  add(slot: number, place: Place): void {
    const list = this.listOf[slot] ?? 0;
    const places = this.lists[list] ?? [];
    // Two words of one needle may meet in one slot.
    if (places.includes(place)) return;
    const key = `${list} ${place.needle} ${place.offset}`;
    const known = this.#longer.get(key) ?? this.lists.length;
    if (known === this.lists.length) this.lists.push([...places, place]);
    this.#longer.set(key, known);
    this.listOf[slot] = known;
  }
}

/** Whether a text can be a needle. */
export function canBeNeedle(text: string): boolean {
  const bytes = needleBytes(text);
  return bytes.length >= shortestNeedle && bytes.every((byte) => byte >= 32 || byte === 9);
}

function needleBytes(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text.replaceAll("\\d", "\0"));
  return bytes.map((byte) => (byte === 0 ? anyDigit : byte));
}

const digits = Array.from("0123456789", (digit) => digit.charCodeAt(0));
const allBytes = Array.from({ length: 256 }, (_, byte) => byte);

/** All words, read as little-endian, that can stand at an offset of a needle. */
function wordsOf(bytes: Uint8Array, offset: number): number[] {
  let words = [0];
  for (let at = 0; at < 4; at++) {
    const byte = bytes[offset + at];
    const choices = byte === undefined ? allBytes : byte === anyDigit ? digits : [byte];
    words = words.flatMap((word) => choices.map((choice) => word | (choice << (8 * at))));
  }
  return words;
}

/** Where to look in a needle that begins `lie` bytes before an aligned word, modulo 4: the word least seen in logs. */
function bestOffset(bytes: Uint8Array, lie: number): number {
  let best = lie;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = lie - 4; offset <= bytes.length - 3; offset += 4) {
    if (offset < -1) continue;
    const common = commonness(bytes, offset);
    if (common < least) {
      least = common;
      best = offset;
    }
  }
  return best;
}

/** Ordinary log text: what it holds is looked at in vain. */
const ordinary =
  'INFO:     127.0.0.1:50 - "POST /v1/chat/completions HTTP/1.1" 200 OK DEBUG WARNING ERROR error errors failed ' +
  "failure exception Exception request requests connection Connection received Received params: model models token " +
  "tokens file files not found no such for with from the and this that is are was were will be been has have in on of " +
  "to at by an or a loading loaded Loading using Using used memory device cuda CUDA torch torch/utils python " +
  "site-packages /lib/python3.12/ __init__.py line DeprecationWarning: UserWarning: FutureWarning: deprecated default " +
  "value set config process worker workers server client node rank training Training train loss step steps epoch batch " +
  "data dataset checkpoint checkpoint.py: save saved saving shape dtype max_ min size length True False None null true " +
  "false 2026-11-02 10:00:20,123 http:// https:// .json .jsonl .py: , ' : = throughput:     - (0 [logger.py:42] logging " +
  "SamplingParams(n=1, temperature=0.7, max_tokens=16, ignore_eos=False) output input sample samples shard shard-01 " +
  "rows question questions answer when then than sum all over before after generate generated generation compute " +
  "computed complete completed pid=42 running waiting GPU usage: engine Engine progress Progress: prompt Avg cache tokens/s, ";

/** Texts of two to four characters in it. */
const ordinaryParts = new Set(
  [2, 3, 4].flatMap((length) => Array.from(ordinary, (_, at) => ordinary.slice(at, at + length))),
);

function commonness(bytes: Uint8Array, offset: number): number {
  const known = bytes.subarray(Math.max(0, offset), offset + 4);
  const text = String.fromCharCode(...known);
  // Three bytes stand for 256 words, a digit for ten.
  let common = known.length < 4 ? 120 : 0;
  for (const byte of known) if (byte === anyDigit) common += 50;
  if (ordinaryParts.has(text)) common += 100;
  for (let at = 0; at + 2 <= text.length; at++) if (ordinaryParts.has(text.slice(at, at + 2))) common += 5;
  for (let at = 0; at + 3 <= text.length; at++) if (ordinaryParts.has(text.slice(at, at + 3))) common += 15;
  for (const byte of known) if (byte === 32 || (byte >= 97 && byte <= 122)) common++;
  return common;
}
