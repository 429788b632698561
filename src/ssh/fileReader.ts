import { ExpectedError } from "../core/errors";
import type { FollowEvent, FollowFrom, LogPosition } from "../core/following";
import type { LongChannelPart } from "./longChannel";

/** How many bytes before the reached offset are compared with those of a file, as in logFile.sh. */
export const checkedBytes = 64;

/** Far above any line of ours, characters. */
const maxWords = 1 << 16;
/** What tail may send before the host has said of which file it is, which takes some looks at tail's own descriptor. */
const maxEarly = 64 << 20;

/** What a follow knows from one channel or look to the next. */
export interface Progress {
  from: FollowFrom;
  /** The last bytes given, at most `checkedBytes`. */
  last: Uint8Array;
  /** Whether an event named a position already. */
  begun: boolean;
  /** The size when following began; until it is reached, what comes is not new. */
  catchUpAt: number | undefined;
  /** Why there is nothing to read now, as it was told last: `missing`, a reason, or nothing. */
  away: string;
  /** The largest size that the present file was seen to have. */
  size: number;
  /** The latest time of modification that was told of anything read, the host's clock, ms; undefined where none was. */
  modifiedAt: number | undefined;
  /** How far the file was read that was cut, as long as nothing of its new content was. */
  readBefore: number | undefined;
  /** What is read was rotated away: there is a newer file. */
  rotated: boolean;
}

/** Turns what one channel or look says into events. Bytes that come before the host said whose they are wait. */
export class FileReader {
  readonly #progress: Progress;
  readonly #decoder = new TextDecoder();
  #text = "";
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  #position: LogPosition | undefined;
  #finalSize: number | undefined;
  #modifiedAt = 0;
  /** The next channel is to be opened. */
  done = false;
  /** The host cannot follow by a channel of its own. */
  noTail = false;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** @throws ExpectedError for what our script does not say: a line without end, or a flood before it has named a file */
  *take(part: LongChannelPart): Generator<FollowEvent> {
    if (part.from === "stdout") {
      if (this.#position === undefined) this.#keepEarly(part.data);
      else yield* this.#data(part.data);
    } else {
      const lines = (this.#text + this.#decoder.decode(part.data, { stream: true })).split("\n");
      this.#text = lines.pop() ?? "";
      if (this.#text.length > maxWords) throw new ExpectedError("The host prints a line without end.");
      for (const line of lines) yield* this.#said(line);
    }
    if (this.#finalSize !== undefined && (this.#position?.offset ?? 0) >= this.#finalSize) this.done = true;
  }

  #keepEarly(data: Uint8Array): void {
    this.#earlyBytes += data.length;
    if (this.#earlyBytes > maxEarly) throw new ExpectedError("The host sends a log without saying which it is.");
    this.#early.push(data);
  }

  *#data(data: Uint8Array): Generator<FollowEvent> {
    const position = this.#position;
    if (position === undefined || data.length === 0) return;
    yield { kind: "data", offset: position.offset, data };
    this.#reach({ ...position, offset: position.offset + data.length });
    // A copy of the few bytes: a part of the data would keep all of it.
    const tail = data.subarray(-checkedBytes);
    this.#progress.last = Buffer.concat([this.#progress.last, tail]).subarray(-checkedBytes);
    yield* this.#caughtUp();
  }

  #reach(position: LogPosition): void {
    this.#position = position;
    this.#progress.from = { kind: "position", position };
    if (position.offset > 0) this.#progress.readBefore = undefined;
  }

  *#caughtUp(): Generator<FollowEvent> {
    const { catchUpAt } = this.#progress;
    const offset = this.#position?.offset ?? 0;
    if (catchUpAt === undefined || offset < catchUpAt) return;
    this.#progress.catchUpAt = undefined;
    yield { kind: "caught-up", offset };
  }

  *#said(line: string): Generator<FollowEvent> {
    const [, word, rest = ""] = /^@ (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "missing" || word === "gone") yield* awayNow(this.#progress, "missing");
    else if (word === "unreadable") yield* awayNow(this.#progress, rest);
    else if (word === "moved") this.#moved(rest.split(" ").map(Number));
    else if (word === "again") this.done = true;
    else if (word === "no-tail") this.noTail = true;
    else if (word === "opened") yield* this.#opened(rest.split(" "));
    else if (word === "emptied") yield* this.#emptied(rest.split(" "));
    else if (word === "back" && this.#position !== undefined) {
      const position = this.#position;
      this.#progress.away = "";
      yield { kind: "opened", position, size: position.offset, modifiedAt: this.#modifiedAt };
    }
  }

  #moved([size = 0, modifiedAt = 0]: readonly number[]): void {
    this.#finalSize = size;
    this.#noteModified(modifiedAt);
  }

  /** What is known as a copy of the file later was written after that. */
  #noteModified(at: number): void {
    this.#progress.modifiedAt = Math.max(this.#progress.modifiedAt ?? 0, at);
  }

  *#opened(words: readonly string[]): Generator<FollowEvent> {
    const opening = openingOf(words);
    yield* this.#tellOpening(opening);
    const { device, inode, offset } = opening;
    this.#reach({ device, inode, offset });
    const early = this.#early;
    this.#early = [];
    for (const data of early) yield* this.#data(data);
    yield* this.#caughtUp();
  }

  /** The file was cut and nothing was written since. Where that will be is told when it is opened. */
  *#emptied(words: readonly string[]): Generator<FollowEvent> {
    const opening = openingOf(words);
    yield* this.#tellOpening(opening);
    const { device, inode, offset } = opening;
    this.#progress.from = { kind: "position", position: { device, inode, offset } };
    yield* this.#caughtUp();
  }

  *#tellOpening(opening: Opening): Generator<FollowEvent> {
    const { how, device, inode, offset, size } = opening;
    const progress = this.#progress;
    const position = { device, inode, offset };
    this.#modifiedAt = opening.modifiedAt;
    this.#noteModified(opening.modifiedAt);
    // "first" and "same" are what was asked for, "rest" goes on in a file that was rotated away or copied. What was cut
    // may begin with nothing, which is passed over.
    const wanted = progress.from.kind === "position" ? progress.from.position.offset : offset;
    const restarted = isRestart(opening, wanted);
    if (restarted) {
      const loss = this.#lossOf(opening, wanted);
      progress.last = new Uint8Array();
      progress.readBefore = how === "cut" ? wanted : progress.readBefore;
      progress.size = 0;
      yield { kind: "restarted", position, ...loss, modifiedAt: this.#modifiedAt };
    } else if (!progress.begun || progress.away !== "") {
      const goesOn = how === "first" ? {} : ({ goesOn: true } as const);
      yield { kind: "opened", position, size, modifiedAt: this.#modifiedAt, ...goesOn };
    }
    if (restarted || !progress.begun || progress.catchUpAt !== undefined) {
      progress.catchUpAt = catchUpFor(how, size, restarted ? undefined : progress.catchUpAt);
    }
    progress.begun = true;
    progress.rotated = how === "rest" || how === "between";
    progress.away = "";
    progress.size = Math.max(progress.size, size);
  }

  /**
   * What is known to be gone unread. That the rest of a file was not found says something only after a time in which
   * nobody read; while it is read, it was read to its end.
   */
  #lossOf({ how, offset, lost, lostMore }: Opening, wanted: number): { lost: number; lostMore?: true } {
    const { begun, size, readBefore } = this.#progress;
    const hole = how === "cut" || how === "same" ? Math.max(0, offset - (readBefore ?? wanted)) : 0;
    const seen = lostMore ? Math.max(0, size - wanted) : 0;
    const all = lost + (offset > 0 ? hole : seen);
    // The hole tells how much there was.
    return lostMore && !begun && offset === 0 ? { lost: all, lostMore } : { lost: all };
  }
}

function isRestart({ how, offset }: Opening, wanted: number): boolean {
  return how === "cut" || how === "replaced" || how === "between" || (how === "same" && offset > wanted);
}

/**
 * Where what was there when following began ends: it may be the rest of a rotated file first, then the new one. A file
 * that is read in parts is caught up with at the size it had first.
 */
function catchUpFor(how: string, size: number, before: number | undefined): number {
  if (how === "rest" || how === "between") return Number.POSITIVE_INFINITY;
  return how === "same" && before !== undefined && Number.isFinite(before) ? before : size;
}

/** Says once why there is nothing to read. */
export function* awayNow(progress: Progress, why: string): Generator<FollowEvent> {
  if (progress.away === why) return;
  progress.away = why;
  yield why === "missing" ? { kind: "missing" } : { kind: "unreadable", reason: why };
}

/** What follow.sh and logPart.sh say of a file that they have opened. */
interface Opening {
  readonly how: string;
  readonly device: string;
  readonly inode: string;
  readonly offset: number;
  readonly size: number;
  readonly modifiedAt: number;
  readonly lost: number;
  readonly lostMore: boolean;
}

/** `opened HOW DEVICE INODE OFFSET SIZE MODIFIED LOST LOST_MORE`. */
function openingOf([how = "", device = "", inode = "", ...numbers]: readonly string[]): Opening {
  const [offset = 0, size = 0, modifiedAt = 0, lost = 0, lostMore = 0] = numbers.map(Number);
  return { how, device, inode, offset, size, modifiedAt, lost, lostMore: lostMore === 1 };
}
