/** Where a segment stands in a buffer and in its line. */
export interface ShownSegment {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly segment: number;
  readonly endOffset: number;
}

/** The state of a line that was left out last: it is read after all when the line ends with it. */
export class LeftSegment implements ShownSegment {
  bytes: Uint8Array = new Uint8Array();
  start = 0;
  end = 0;
  segment = 0;
  endOffset = 0;
  /** Whether there is one. */
  kept = false;

  /** Takes the place of the one before. */
  keep({ bytes, start, end, segment, endOffset }: ShownSegment): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.segment = segment;
    this.endOffset = endOffset;
    this.kept = true;
  }

  /** Copies its bytes out of a buffer that is about to change. */
  copyOutOf(buffer: Uint8Array): void {
    if (!this.kept || this.bytes !== buffer) return;
    this.bytes = buffer.slice(this.start, this.end);
    this.start = 0;
    this.end = this.bytes.length;
  }
}
