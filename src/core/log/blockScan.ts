import code from "./blockScan.wat";

/** Where things are in the memory of blockScan.wat. */
const listsAt = 0x20000;
const blockAt = 0x60000;
const placesAt = 0x68000;
/** Bytes of a place: seven numbers. */
const placeBytes = 28;
/** Bytes of events after which a scan pauses. */
const enoughBytes = 0x10000;
/** Most bytes that are looked at in one scan, with those before them in which a needle may begin. */
const blockBytes = placesAt - blockAt;

/** Stands for a needle behind the last place of a list. */
const endOfList = -1;

/** Of a line that draws over itself by `\r`: all states up to this one are handed over … */
export const firstStates = 256;
/** … then each one whose number these bits of leave zero, and the last. */
export const stateMask = 63;

/** Set in the code of an event that is no needle: that of a byte, a control character other than a tab. */
export const byteEvent = 0x8000;
/** Lines that nobody wants were passed over: how many is the next number, and the event stands where the next one begins. */
export const linesEvent = 0x8100;
/** So were states that are left out: the next number is `count << 16 | place`, where the last of them begins. */
export const statesEvent = 0x8200;

/** Where in a needle a looked-up word begins, and what tells at a glance whether the needle is there. */
export interface Place {
  readonly needle: number;
  /** -1 when the word begins one byte before the needle. */
  readonly offset: number;
  /** Bytes from the word to another word of the needle, which has this value in the bits of the mask. */
  readonly other: number;
  readonly mask: number;
  readonly value: number;
}

/** What a scan looks up. */
export interface NeedleTables {
  /** A bit for each slot: whether a needle may be at a word of this slot. */
  readonly bits: Uint8Array;
  /** For the lower 16 bits of a slot: which of the lists holds the places of its words. */
  readonly listOf: Uint16Array;
  readonly lists: readonly (readonly Place[])[];
  /** The bytes of each needle; 0xff stands for any digit. */
  readonly needles: readonly Uint8Array[];
  /** For each needle, then for the three that stand for a bracket (`NeedleIndex.meter`): bits that say who wants it. */
  readonly kinds: Uint8Array;
}

/** Which bytes of a buffer are looked at. */
export interface Looked {
  readonly bytes: Uint8Array;
  /** No needle begins before it. */
  readonly start: number;
  /** Bytes before it were looked at already. */
  readonly from: number;
  readonly fill: number;
  /** There will be no more bytes: what is undecided for want of them is decided. */
  readonly closing: boolean;
}

/** What of the bytes is wanted: what is not may be passed over in one event. */
export interface Sought {
  /** The number, in its line, of the segment that begins at `start`. */
  readonly segment: number;
  /** Bits of needles that make a segment worth handing over. */
  readonly interest: number;
  /** Bits of needles with which a state is handed over that would be left out. */
  readonly always: number;
  /** Nothing is passed over. */
  readonly all: boolean;
}

/** What a scan found. */
export interface Found {
  /** In the order of their bytes: `place << 16`, with a needle, `byteEvent | byte`, `linesEvent` or `statesEvent`. */
  readonly events: Int32Array;
  /** Where in the buffer the places of events are counted from. */
  readonly origin: number;
  /** Where to go on: before `fill` when more bytes are needed to decide, or when it paused. */
  readonly stop: number;
  /** It found so much that the rest is to be looked at in another scan. */
  readonly paused: boolean;
}

interface Exports {
  readonly end: { readonly value: number };
  scan(
    begin: number,
    from: number,
    fill: number,
    closing: number,
    segment: number,
    interest: number,
    always: number,
    passes: number,
  ): number;
}

let compiled: WebAssembly.Module | undefined;

/** Finds needles, control characters and telling brackets in a block of bytes: blockScan.wat and its memory. */
export class BlockScan {
  readonly #block: Uint8Array;
  readonly #events: Int32Array;
  readonly #eventsAt: number;
  readonly #exports: Exports;
  /** Bytes of the longest needle. */
  readonly #reach: number;

  constructor({ bits, listOf, lists, needles, kinds }: NeedleTables) {
    const bytesAt = lists.reduce((at, list) => at + list.length * placeBytes + 4, placesAt);
    const needlesAt: number[] = [];
    let at = bytesAt;
    for (const bytes of needles) {
      needlesAt.push(at);
      at += bytes.length;
    }
    const kindsAt = at;
    this.#eventsAt = (kindsAt + kinds.length + 3) & ~3;
    // The words at which it pauses are looked at to their end: sixteen bytes that each may be three events.
    const longest = Math.max(...lists.map((list) => list.length));
    const size = this.#eventsAt + enoughBytes + 4 * (longest + 48);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(size / 0x10000) });
    const all = new Uint8Array(memory.buffer);
    all.set(bits);
    all.set(kinds, kindsAt);
    for (const [needle, bytes] of needles.entries()) all.set(bytes, needlesAt[needle]);
    const begins = writeLists(new Int32Array(memory.buffer), lists, { needles, needlesAt });
    new Uint32Array(memory.buffer, listsAt, listOf.length).set(Array.from(listOf, (list) => begins[list] ?? 0));
    this.#events = new Int32Array(memory.buffer, this.#eventsAt);
    this.#block = all.subarray(blockAt, blockAt + blockBytes);
    this.#reach = Math.max(4, ...needles.map((bytes) => bytes.length));
    compiled ??= new WebAssembly.Module(code);
    const places = { events: this.#eventsAt, enough: this.#eventsAt + enoughBytes, kinds: kindsAt };
    const imports = { memory, ...places, meter: needles.length, firstStates, stateMask };
    this.#exports = new WebAssembly.Instance(compiled, { needles: imports }).exports as unknown as Exports;
  }

  /** Looks at bytes of a buffer, at most 16 kB at once. */
  scan({ bytes, start, from, fill, closing }: Looked, { segment, interest, always, all }: Sought): Found {
    // Words lie in the block as they lie in the buffer, or a needle could be passed by between two scans.
    const origin = Math.max(0, start, from - this.#reach) & ~3;
    const shift = blockAt - origin;
    this.#block.set(bytes.subarray(origin, fill));
    const begin = Math.max(start, origin) + shift;
    const flags = [closing ? 1 : 0, segment, interest, always, all ? 0 : 1] as const;
    const stop = this.#exports.scan(begin, from + shift, fill + shift, ...flags) - shift;
    const length = this.#exports.end.value - this.#eventsAt;
    // A copy: whoever is told of an event may scan another text before the next one.
    return { events: this.#events.slice(0, length >> 2), origin, stop, paused: length >= enoughBytes };
  }
}

/** Writes all lists one behind the other. Returns where each begins. */
function writeLists(
  memory: Int32Array,
  lists: NeedleTables["lists"],
  { needles, needlesAt }: { readonly needles: readonly Uint8Array[]; readonly needlesAt: readonly number[] },
): number[] {
  let at = placesAt >> 2;
  return lists.map((list) => {
    const begin = at << 2;
    for (const { needle, offset, other, mask, value } of list) {
      const bytes = needles[needle]?.length ?? 0;
      memory.set([needle, offset, other, mask, value, needlesAt[needle] ?? 0, bytes], at);
      at += placeBytes >> 2;
    }
    memory[at] = endOfList;
    at++;
    return begin;
  });
}
