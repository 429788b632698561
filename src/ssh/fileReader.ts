import type { FollowEvent, FollowFrom, LogPosition } from "../core/ports";
import type { LongChannelPart } from "./longChannel";

/** How many bytes before the reached offset are compared with those of a file, as in logFile.sh. */
export const checkedBytes = 64;

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
}

/** Turns what one channel or look says into events. Bytes that come before the host said whose they are wait. */
export class FileReader {
  readonly #progress: Progress;
  readonly #decoder = new TextDecoder();
  #text = "";
  #early: Uint8Array[] = [];
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

  *take(part: LongChannelPart): Generator<FollowEvent> {
    if (part.from === "stdout") {
      if (this.#position === undefined) this.#early.push(part.data);
      else yield* this.#data(part.data);
    } else {
      const lines = (this.#text + this.#decoder.decode(part.data, { stream: true })).split("\n");
      this.#text = lines.pop() ?? "";
      for (const line of lines) yield* this.#said(line);
    }
    if (this.#finalSize !== undefined && (this.#position?.offset ?? 0) >= this.#finalSize) this.done = true;
  }

  *#data(data: Uint8Array): Generator<FollowEvent> {
    const position = this.#position;
    if (position === undefined || data.length === 0) return;
    yield { kind: "data", offset: position.offset, data };
    this.#reach({ ...position, offset: position.offset + data.length });
    const { last } = this.#progress;
    this.#progress.last = Buffer.concat([last, data]).subarray(-checkedBytes);
    yield* this.#caughtUp();
  }

  #reach(position: LogPosition): void {
    this.#position = position;
    this.#progress.from = { kind: "position", position };
  }

  *#caughtUp(): Generator<FollowEvent> {
    const { catchUpAt } = this.#progress;
    const offset = this.#position?.offset ?? 0;
    if (catchUpAt === undefined || offset < catchUpAt) return;
    this.#progress.catchUpAt = undefined;
    yield { kind: "caught-up", offset };
  }

  *#said(line: string): Generator<FollowEvent> {
    const [, word, rest] = /^@ (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === "missing" || word === "gone") yield* awayNow(this.#progress, "missing");
    else if (word === "unreadable") yield* awayNow(this.#progress, rest ?? "");
    else if (word === "moved") this.#finalSize = Number(rest);
    else if (word === "again") this.done = true;
    else if (word === "no-tail") this.noTail = true;
    else if (word === "opened" && rest !== undefined) yield* this.#opened(rest.split(" "));
    else if (word === "back" && this.#position !== undefined) {
      const position = this.#position;
      this.#progress.away = "";
      yield { kind: "opened", position, size: position.offset, modifiedAt: this.#modifiedAt };
    }
  }

  *#opened(words: readonly string[]): Generator<FollowEvent> {
    const { how, device, inode, offset, size, modified } = openingOf(words);
    const progress = this.#progress;
    const position = { device, inode, offset };
    this.#modifiedAt = modified * 1000;
    // "first" and "same" are what was asked for, "rest" goes on in a file that was rotated away or copied.
    const restarted = how === "cut" || how === "replaced" || how === "between";
    if (restarted) {
      progress.last = new Uint8Array();
      yield { kind: "restarted", position, lost: 0 };
    } else if (!progress.begun || progress.away !== "") {
      yield { kind: "opened", position, size, modifiedAt: this.#modifiedAt };
    }
    if (restarted || !progress.begun || progress.catchUpAt !== undefined) {
      progress.catchUpAt = catchUpFor(how, size, restarted ? undefined : progress.catchUpAt);
    }
    progress.begun = true;
    progress.away = "";
    this.#reach(position);
    const early = this.#early;
    this.#early = [];
    for (const data of early) yield* this.#data(data);
    yield* this.#caughtUp();
  }
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

/** `opened HOW DEVICE INODE OFFSET SIZE MODIFIED`, as follow.sh tells it. */
function openingOf([how = "", device = "", inode = "", ...numbers]: readonly string[]): {
  readonly how: string;
  readonly device: string;
  readonly inode: string;
  readonly offset: number;
  readonly size: number;
  readonly modified: number;
} {
  const [offset = 0, size = 0, modified = 0] = numbers.map(Number);
  return { how, device, inode, offset, size, modified };
}
