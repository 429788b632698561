import { byteEvent, firstStates, linesEvent, stateMask, statesEvent, type Found, type Sought } from "./blockScan";
import { LeftSegment, type ShownSegment } from "./leftSegment";
import { beginsOddly } from "./marks";
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

/** What the needles of an index mean for the scanner. */
export interface SoughtNeedles {
  readonly index: NeedleIndex;
  /** For each needle: bits that say who wants it; joined for a segment in `seenKinds`. */
  readonly kinds: Uint8Array;
  /** For each needle: the quick way to read a line that holds only needles of this way; 0 for none. */
  readonly lanes: Uint8Array;
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
  readonly #meter: number;
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
    this.#meter = sought.index.meter;
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
    for (let more = true; more;) {
      const { bytes, start, segment, interest, always, all } = this;
      const looked = { bytes, start, from: this.#scanned, fill: this.#fill, closing: this.#closing };
      const sought = { segment, interest, always, all };
      const found = this.#sought.index.scan.scan(looked, sought);
      const followed = this.#follow(found, sought);
      this.#scanned = followed ? Math.max(found.stop, this.start) : this.start;
      more = !followed || found.paused;
    }
  }

  /** Goes through what was found. False when what was read makes more be wanted than was sought, from `start` on. */
  #follow({ events, origin }: Found, sought: Sought): boolean {
    for (let at = 0; at < events.length; at++) {
      const event = events[at] ?? 0;
      const what = event & 0xffff;
      const place = origin + (event >> 16);
      if (what < byteEvent) {
        this.#see(what, place);
      } else if (what === linesEvent) {
        at++;
        this.#passLines(events[at] ?? 0, place);
      } else if (what === statesEvent) {
        at++;
        const more = events[at] ?? 0;
        this.#passStates(more >> 16, origin + (more & 0xffff), place);
      } else if (this.#control(what & ~byteEvent, place) && this.#wantsMore(sought)) {
        return false;
      }
    }
    return true;
  }

  #wantsMore({ interest, always, all }: Sought): boolean {
    return (this.all && !all) || (this.interest & ~interest) !== 0 || (this.always & ~always) !== 0;
  }

  /** Lines that are counted and nothing more; `next` begins behind them. */
  #passLines(count: number, next: number): void {
    this.line += count;
    this.start = next;
    this.endOffset = this.#base + next;
    this.lineOffset = this.endOffset;
  }

  /** States that are left out, the last of which may count after all. */
  #passStates(count: number, last: number, next: number): void {
    this.segment += count - 1;
    this.start = last;
    this.end = next - 1;
    this.endOffset = this.#base + next;
    this.#left.keep(this);
    this.segment++;
    this.start = next;
  }

  #see(needle: number, place: number): void {
    if (this.#stamps[needle] === this.#stamp) return;
    this.#stamps[needle] = this.#stamp;
    if (needle === this.#meter) this.meterAt = place;
    const lane = this.#sought.lanes[needle] ?? 0;
    this.lane = this.seenCount === 0 || lane === this.lane ? lane : 0;
    this.seen[this.seenCount] = needle;
    this.seenCount++;
    this.seenKinds |= this.#sought.kinds[needle] ?? 0;
  }

  /** True when it ends a segment. */
  #control(byte: number, place: number): boolean {
    if (byte !== newline && byte !== carriageReturn) {
      this.unclean = true;
      return false;
    }
    this.#finish(place, byte === newline, 1);
    this.start = place + 1;
    return true;
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
    const seen = (this.seenKinds & this.interest) !== 0;
    if (endsLine && !seen) this.#lastLeft();
    const says = seen || this.unclean || beginsOddly(this.bytes, this.start, this.end);
    if ((says || this.all) && !this.#sink.take()) this.#left.keep(this);
    else if (says || endsLine) this.#left.kept = false;
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
}
