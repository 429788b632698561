/** Pieces smaller than this are put together: an object for each line would weigh more than the line. */
const blockBytes = 16 * 1024;

interface Block {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly length: number;
}

/** A piece of a file, and where in it it begins. */
export interface KeptBytes {
  readonly offset: number;
  readonly data: Uint8Array;
}

/** The last bytes of a file that grows, in little more memory than they are long. */
export class ByteTail {
  #blocks: Block[] = [];
  #begin = 0;
  #end = 0;

  /** Where in the file the next byte stands, after whatever was kept. */
  get end(): number {
    return this.#end;
  }

  /** The first byte that is kept; `end` while there is none. */
  get start(): number {
    return this.#blocks[0]?.offset ?? this.#end;
  }

  /** Whether something that was pushed since `reset` is no longer kept. */
  get isCut(): boolean {
    return this.start > this.#begin;
  }

  /** Forgets everything; the next byte stands at `offset` of the file. */
  reset(offset: number): void {
    this.#blocks = [];
    this.#begin = offset;
    this.#end = offset;
  }

  /**
   * Appends bytes that follow those before, and lets go of blocks older than the last `most`. The bytes are taken over:
   * nobody may change them.
   */
  push(bytes: Uint8Array, most: number): void {
    if (bytes.length === 0) return;
    const last = this.#blocks.at(-1);
    if (last && last.length + bytes.length <= last.data.length) {
      last.data.set(bytes, last.length);
      this.#blocks[this.#blocks.length - 1] = { ...last, length: last.length + bytes.length };
    } else if (bytes.length >= blockBytes) {
      // What is fetched at once may be much more than is to be kept, and as a part of it would keep all of it.
      const left = Math.max(0, bytes.length - Math.max(most, blockBytes));
      const data = left === 0 ? bytes : bytes.slice(left);
      this.#blocks.push({ offset: this.#end + left, data, length: data.length });
    } else {
      const data = new Uint8Array(blockBytes);
      data.set(bytes);
      this.#blocks.push({ offset: this.#end, data, length: bytes.length });
    }
    this.#end += bytes.length;
    // The newest block stays, however little is asked for.
    for (let next = this.#blocks[1]; next && this.#end - next.offset >= most; next = this.#blocks[1])
      this.#blocks.shift();
  }

  /** What is kept from a byte of the file on, in order. The pieces stay as they are, whatever is pushed later. */
  *from(offset: number): Generator<KeptBytes> {
    for (const { offset: at, data, length } of this.#blocks) {
      const first = Math.max(0, offset - at);
      if (first < length) yield { offset: at + first, data: data.subarray(first, length) };
    }
  }
}
