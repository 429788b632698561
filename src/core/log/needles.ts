import { BlockScan, type Place } from "./blockScan";
import { anyDigit, ordinaryShare } from "./ordinaryText";

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
const listMask = 0xffff;
const multiplier = 0x85ebca6b;

/** The slot of a word in the tables; also in blockScan.wat. */
function slotOf(word: number): number {
  return Math.imul(word, multiplier) >>> hashShift;
}

/** Many needles, known by their index in the list they were given in, and the search for them. */
export class NeedleIndex {
  readonly scan: BlockScan;
  /**
   * Number of the needle that stands for a meter's bracket, `[00:10<`; the next two are those of a bracket behind a share,
   * `%[===`, and of a tag's, `[#a0f383` or `[DL:`.
   */
  readonly meter: number;

  /**
   * @param needles plain text, in which `\d` stands for any digit
   * @param kinds for each needle, then for the three that stand for a bracket: bits that say who wants it
   * @throws RangeError for one that is too short, or holds a control character
   */
  constructor(needles: readonly string[], kinds: Uint8Array) {
    const unfit = needles.find((text) => !canBeNeedle(text));
    if (unfit !== undefined) throw new RangeError(`"${unfit}" cannot be a needle`);
    this.meter = needles.length;
    const all = needles.map(needleBytes);
    const bits = new Uint8Array(1 << (hashBits - 3));
    const lists = new PlaceLists();
    for (const [needle, bytes] of all.entries()) {
      for (let lie = 0; lie < 4; lie++) {
        const offset = bestOffset(bytes, lie);
        lists.next(placeOf(needle, bytes, offset));
        forEachWord(bytes, offset, (word) => {
          const slot = slotOf(word);
          lists.add(slot & listMask);
          bits[slot >>> 3] = (bits[slot >>> 3] ?? 0) | (1 << (slot & 7));
        });
      }
    }
    this.scan = new BlockScan({ bits, listOf: lists.listOf, lists: lists.lists, needles: all, kinds });
  }
}

/** The word behind tells more than the one before, unless the needle ends. */
function placeOf(needle: number, bytes: Uint8Array, offset: number): Place {
  const other = offset + 4 < bytes.length - 1 || offset < 4 ? 4 : -4;
  let mask = 0;
  let value = 0;
  for (let at = 0; at < 4; at++) {
    const byte = bytes[offset + other + at];
    if (byte === undefined) continue;
    // Digits are 0x30 to 0x39.
    mask |= (byte === anyDigit ? 0xf0 : 0xff) << (8 * at);
    value |= (byte === anyDigit ? 0x30 : byte) << (8 * at);
  }
  return { needle, offset, other, mask, value };
}

/** Lists of places, one for each set of them; most slots share theirs with others. */
class PlaceLists {
  readonly lists: Place[][] = [[]];
  readonly listOf = new Uint16Array(listMask + 1);
  /** A list → the same with the place that is added now. */
  readonly #longer = new Map<number, number>();
  #place: Place | undefined;

  /** Begins with the slots of a place. */
  next(place: Place): void {
    this.#place = place;
    this.#longer.clear();
  }

  add(slot: number): void {
    const list = this.listOf[slot] ?? 0;
    const places = this.lists[list] ?? [];
    const place = this.#place;
    // Two words of one needle may meet in one slot.
    if (place === undefined || places.at(-1) === place) return;
    let longer = this.#longer.get(list);
    if (longer === undefined) {
      longer = this.lists.push([...places, place]) - 1;
      this.#longer.set(list, longer);
    }
    this.listOf[slot] = longer;
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

/** Calls `use` with each word, read as little-endian, that can stand at an offset of a needle. */
function forEachWord(bytes: Uint8Array, offset: number, use: (word: number) => void): void {
  const fill = (at: number, word: number): void => {
    if (at === 4) {
      use(word);
      return;
    }
    const byte = bytes[offset + at];
    const [from, to] = byte === undefined ? [0, 255] : byte === anyDigit ? [48, 57] : [byte, byte];
    for (let one = from; one <= to; one++) fill(at + 1, word | (one << (8 * at)));
  };
  fill(0, 0);
}

/** Where to look in a needle that begins `lie` bytes before an aligned word, modulo 4: what is least looked at in vain. */
function bestOffset(bytes: Uint8Array, lie: number): number {
  let best = lie;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = lie - 4; offset <= bytes.length - 3; offset += 4) {
    if (offset < -1) continue;
    const common = commonness(bytes.subarray(Math.max(0, offset), offset + 4));
    if (common < least) {
      least = common;
      best = offset;
    }
  }
  return best;
}

/** The share of an ordinary log's words that are looked at on behalf of these bytes, at most four. */
function commonness(bytes: Uint8Array): number {
  let word = 0;
  // Words that share a slot by chance: three bytes stand for 256 words, a digit for ten.
  let words = 256 ** (4 - bytes.length);
  for (const [at, byte] of bytes.entries()) {
    word |= byte << (8 * at);
    if (byte === anyDigit) words *= 10;
  }
  return ordinaryShare(word, bytes.length) + words / 2 ** hashBits;
}
