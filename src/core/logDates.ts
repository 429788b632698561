import type { LogMark } from "./ports";

/** When a byte of a log was written: after `from`, not after `to`; `at` is the most likely moment between them. */
export interface WrittenAt {
  readonly from: number;
  readonly at: number;
  readonly to: number;
}

/** Tells when the bytes of one file were written, by how large it was at which moments. */
export class LogDates {
  readonly #marks: readonly LogMark[];

  /** @param marks of whatever files, oldest first, any clock */
  constructor(marks: readonly LogMark[], inode: string) {
    // What stood there before it was last cut is not there any more.
    const own = marks.filter((mark) => mark.inode === inode);
    const cut = own.findLastIndex((mark, index) => mark.size < (own[index - 1]?.size ?? 0));
    this.#marks = cut < 0 ? own : own.slice(cut);
  }

  /** Undefined for what was there before the first mark, or came after the last. */
  of(offset: number): WrittenAt | undefined {
    const marks = this.#marks;
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((marks[middle]?.size ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    const [before, after] = [marks[low - 1], marks[low]];
    if (!before || !after) return undefined;
    const share = (offset - before.size) / (after.size - before.size);
    return { from: before.at, at: before.at + share * (after.at - before.at), to: after.at };
  }
}
