import { byteEvent, type Found } from "./blockScan";
import { LeftSegment, type ShownSegment } from "./leftSegment";
import { beginsOddly, isDigit, timeEnd } from "./marks";
import type { NeedleIndex } from "./needles";

/**
 * Passes over a log's bytes and stops only where something may be said. Lines end at `\n`; inside them `\r` begins a new
 * segment. A segment in which no needle stands is counted and forgotten: it is never decoded. Bytes are kept until their
 * segment is complete, so where the stream was cut can never show.
 */

/** Bytes of one segment that are kept; the rest of an endless line is counted, not stored. */
const keptBytes = 1 << 20;
/** Bytes that are taken over at once; a copy of them stays in the processor's cache. */
const blockBytes = 1 << 14;
/** Room for what is written line by line; that for the blocks of a log's past is given back, as there may be hundreds. */
const smallBytes = 1 << 12;

const newline = 10;
const carriageReturn = 13;
const tab = 9;
const blank = 32;
const bracketEvent = byteEvent | 91;
/** Of a line that draws over itself by `\r`: all states up to this one are handed over … */
const firstStates = 256;
/** … then each one whose number these bits of leave zero, and the last. */
const stateMask = 63;

/** What the needles of an index mean for the scanner. */
export interface SoughtNeedles {
  readonly index: NeedleIndex;
  /** For each needle: bits that say who wants it; joined for a segment in `seenKinds`. */
  readonly kinds: Uint8Array;
  /** For each needle: the quick way to read a line that holds only needles of this way; 0 for none. */
  readonly lanes: Uint8Array;
  /** Needles that stand for a bracket with something in or before it. */
  readonly marks: BracketNeedles;
}

/** Indices of the needles for brackets: `[00:10<`, `%[===`, `[#a0f383`, `[DL:`. */
export interface BracketNeedles {
  readonly meter: number;
  readonly share: number;
  readonly tag: number;
}

/** Takes segments; may look at the scanner's fields until it returns. */
export interface SegmentSink {
  /** False when this segment can be left out, unless it turns out to be the last of its line. */
  take(): boolean;
}

/** The position of a complete or unfinished segment in the scanner's buffer, and what was seen in it. */
export class SegmentScanner {
  /** Every segment is handed over, not only those with a needle. */
  all = false;
  /** Bits of needles that alone make a segment worth taking. */
  interest = 255;
  /** Bits of needles with which a state is handed over that would be left out; 255: all are handed over. */
  always = 255;

  bytes: Uint8Array = new Uint8Array(smallBytes);
  start = 0;
  end = 0;
  /** 1-based, counted from where reading began. */
  line = 1;
  /** Index in the line split at `\r`. */
  segment = 0;
  /** First byte of the `\n` line in the file. */
  lineOffset: number;
  /** First byte after the segment and its end in the file. */
  endOffset: number;
  endsLine = false;
  /** The segment can be left out: it is one of too many states of a line. */
  leftOut = false;
  /** The segment was left out before; its needles are not known any more. */
  late = false;
  /** Control characters other than tabs: needles may hide behind them. */
  unclean = false;
  /** Needles of the segment: the first `seenCount` of `seen`, in no order. */
  readonly seen: Int16Array;
  seenCount = 0;
  seenKinds = 0;
  /** The lane that all needles share; 0 for none. */
  lane = 0;
  /** Where the meter's bracket stands. */
  meterAt = 0;

  readonly #sought: SoughtNeedles;
  readonly #sink: SegmentSink;
  readonly #stamps: Uint32Array;
  #stamp = 1;
  #fill = 0;
  /** Bytes before this one were looked at. */
  #scanned = 0;
  #closing = false;
  /** Position in the file of the buffer's first byte. */
  #base: number;
  /** Bytes of the unfinished segment that were not kept. */
  #dropped = 0;
  readonly #left = new LeftSegment();

  /** @param offset where in the file the first byte stands */
  constructor(sought: SoughtNeedles, sink: SegmentSink, offset: number) {
    this.#sought = sought;
    this.#sink = sink;
    this.#stamps = new Uint32Array(sought.kinds.length);
    this.seen = new Int16Array(sought.kinds.length);
    this.#base = offset;
    this.lineOffset = offset;
    this.endOffset = offset;
  }

  /** Hands over what these bytes complete. They may be used again afterwards. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const room = this.start + keptBytes - this.#fill;
      if (room <= 0) {
        at = this.#drop(chunk, at);
        continue;
      }
      const taken = Math.min(blockBytes, room, chunk.length - at);
      this.#append(chunk.subarray(at, at + taken));
      at += taken;
    }
    if (chunk.length < smallBytes / 2) this.#shrink();
  }

  #shrink(): void {
    if (this.bytes.length === smallBytes || this.#fill > smallBytes / 2) return;
    const small = new Uint8Array(smallBytes);
    small.set(this.bytes.subarray(0, this.#fill));
    this.bytes = small;
  }

  /** Ends the unfinished line, as if the file were complete. */
  flush(): void {
    if (this.#fill === this.start) {
      this.#lastLeft();
      return;
    }
    this.#close();
    this.#finish(this.#fill, true, 0);
    this.#base += this.#dropped;
    this.#dropped = 0;
    this.start = this.#fill;
    this.#scanned = this.#fill;
  }

  /**
   * Makes the unfinished segment the current one without ending it; what was left out before it, when it is empty. False
   * when there is neither.
   */
  peek(): boolean {
    this.end = this.#fill;
    this.endOffset = this.#base + this.#fill + this.#dropped;
    return this.end > this.start;
  }

  /** Runs `use` with the segment that was left out last as the current one, if there is one. */
  withLeft(use: () => void): void {
    const { bytes, start, end, segment, endOffset } = this;
    if (!this.#left.kept) return;
    this.#show(this.#left);
    this.late = true;
    use();
    this.late = false;
    this.#show({ bytes, start, end, segment, endOffset });
  }

  #show(segment: ShownSegment): void {
    this.bytes = segment.bytes;
    this.start = segment.start;
    this.end = segment.end;
    this.segment = segment.segment;
    this.endOffset = segment.endOffset;
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#fill + bytes.length;
    if (needed > this.bytes.length) {
      const more = new Uint8Array(Math.max(2 * this.bytes.length, needed + 8) & ~3);
      more.set(this.bytes.subarray(0, this.#fill));
      this.bytes = more;
    }
    this.bytes.set(bytes, this.#fill);
    this.#fill = needed;
    this.#scan();
    this.#compact();
  }

  /** Moves what is still needed to the front, by whole words: needles are looked for at places in words. */
  #compact(): void {
    this.#left.copyOutOf(this.bytes);
    const shift = this.start & ~3;
    if (shift === 0) return;
    this.bytes.copyWithin(0, shift, this.#fill);
    this.#fill -= shift;
    this.#scanned -= shift;
    this.start -= shift;
    this.meterAt -= shift;
    this.#base += shift;
  }

  /** Looks for the end of a segment of which enough is kept. Returns the place in the chunk to go on from. */
  #drop(chunk: Uint8Array, from: number): number {
    const feed = chunk.indexOf(newline, from);
    const back = chunk.indexOf(carriageReturn, from);
    const endsLine = back < 0 || (feed >= 0 && feed < back);
    const at = endsLine ? feed : back;
    if (at < 0) {
      this.#dropped += chunk.length - from;
      return chunk.length;
    }
    this.#dropped += at - from;
    this.#close();
    this.#finish(this.#fill, endsLine, 1);
    // The end itself was not stored.
    this.#base += this.#dropped + 1;
    this.#dropped = 0;
    this.start = this.#fill;
    this.#scanned = this.#fill;
    this.#compact();
    return at + 1;
  }

  /** What was left undecided for want of bytes gets none. */
  #close(): void {
    this.#closing = true;
    this.#scan();
    this.#closing = false;
  }

  #scan(): void {
    let found: Found;
    do {
      const { bytes, start } = this;
      const looked = { bytes, start, from: this.#scanned, fill: this.#fill, closing: this.#closing };
      found = this.#sought.index.scan.scan(looked);
      const undecided = this.#follow(found);
      this.#scanned = Math.max(undecided ?? found.stop, this.start);
      if (undecided !== undefined) return;
    } while (found.paused);
  }

  /** Goes through what was found. Returns the word of a bracket that more bytes are needed for to decide what it means. */
  #follow({ events, origin }: Found): number | undefined {
    for (const event of events) {
      const what = event & 0xffff;
      const place = origin + (event >> 16);
      if (what < byteEvent) this.#see(what);
      else if (what !== bracketEvent) this.#control(what & ~byteEvent, place);
      else if (!this.#bracket(place)) return place & ~3;
    }
    return undefined;
  }

  #see(needle: number): void {
    if (this.#stamps[needle] === this.#stamp) return;
    this.#stamps[needle] = this.#stamp;
    const lane = this.#sought.lanes[needle] ?? 0;
    this.lane = this.seenCount === 0 || lane === this.lane ? lane : 0;
    this.seen[this.seenCount] = needle;
    this.seenCount++;
    this.seenKinds |= this.#sought.kinds[needle] ?? 0;
  }

  #control(byte: number, place: number): void {
    if (byte === newline || byte === carriageReturn) {
      this.#finish(place, byte === newline, 1);
      this.start = place + 1;
    } else if (byte !== tab) {
      this.unclean = true;
    }
  }

  /** @param endBytes bytes of the segment's end */
  #finish(place: number, endsLine: boolean, endBytes: number): void {
    this.end = place;
    this.endsLine = endsLine;
    this.endOffset = this.#base + place + this.#dropped + endBytes;
    this.leftOut = !endsLine && this.#isOneOfMany();
    if (this.leftOut && this.#saysNothingElse()) {
      this.#left.keep(this);
      this.#next(false);
      return;
    }
    const worth = this.#isWorth();
    if (endsLine && !worth) this.#lastLeft();
    if (worth && !this.#sink.take()) this.#left.keep(this);
    else if (worth || endsLine) this.#left.kept = false;
    this.#next(endsLine);
  }

  /** It is one of too many states of a line, of which not all are read. */
  #isOneOfMany(): boolean {
    return this.segment >= firstStates && (this.segment & stateMask) !== 0 && this.always !== 255;
  }

  /** It shows progress, and nothing for which it must be read. */
  #saysNothingElse(): boolean {
    return !this.unclean && (this.seenKinds & this.interest) !== 0 && (this.seenKinds & this.always) === 0;
  }

  #isWorth(): boolean {
    const seen = (this.seenKinds & this.interest) !== 0;
    return seen || this.unclean || this.all || beginsOddly(this.bytes, this.start, this.end);
  }

  #next(endsLine: boolean): void {
    this.#stamp++;
    this.seenCount = 0;
    this.seenKinds = 0;
    this.lane = 0;
    this.unclean = false;
    if (!endsLine) {
      this.segment++;
      return;
    }
    this.line++;
    this.segment = 0;
    this.lineOffset = this.endOffset;
  }

  /** The line ends, or the file: the last state that was left out counts after all. */
  #lastLeft(): void {
    this.withLeft(() => this.#sink.take());
    this.#left.kept = false;
  }

  /** Looks behind a `[`, and one byte before it. False when more bytes are needed. */
  #bracket(place: number): boolean {
    const { bytes } = this;
    const { meter, share, tag } = this.#sought.marks;
    const before = place > this.start ? bytes[place - 1] : 0;
    if (before === 37) this.#see(share);
    const next = place + 1 < this.#fill ? bytes[place + 1] : undefined;
    if (next === undefined) return this.#closing;
    if (next === 35 || next === 68) this.#see(tag);
    if (before !== blank || !isDigit(next)) return true;
    const time = timeEnd(bytes, place + 1, this.#fill);
    if (time < 0) return this.#closing;
    if (time > 0 && this.#stamps[meter] !== this.#stamp) {
      this.#see(meter);
      this.meterAt = place;
    }
    return true;
  }
}
