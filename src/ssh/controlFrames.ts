import { ExpectedError } from "../core/errors";

/** Characters of a mark after the nonce; ours are shorter. */
const longestMark = 100;

/** Who gets what one request prints. */
export interface FrameSink {
  /** The bytes are the sink's: nobody writes to them any more. */
  push(data: Uint8Array): void;
  over(): void;
}

/**
 * Takes the output of control.sh apart: `NONCE ID` opens what a request prints, `NONCE more` closes it, `NONCE ID over`
 * ends the request; each between line feeds. What comes meanwhile is handed on, however long it is. Requests that
 * nobody waits for any more are passed over.
 */
export class ControlFrames {
  readonly #mark: Buffer;
  readonly #sinks: ReadonlyMap<string, FrameSink>;
  #rest: Buffer = Buffer.alloc(0);
  #open: string | undefined;

  constructor(nonce: string, sinks: ReadonlyMap<string, FrameSink>) {
    this.#mark = Buffer.from(`\n${nonce} `);
    this.#sinks = sinks;
  }

  feed(data: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const at = this.#rest.indexOf(this.#mark);
      const end = at < 0 ? -1 : this.#rest.indexOf("\n", at + this.#mark.length);
      // The beginning of a mark may be at the end.
      this.#give(at < 0 ? Math.max(0, this.#rest.length - this.#mark.length + 1) : at);
      if (at >= 0 && (end < 0 ? this.#rest.length : end - at) > this.#mark.length + longestMark)
        throw new ExpectedError("The shell on the host says something else than our script does.");
      if (end < 0) return;
      const line = this.#rest.subarray(this.#mark.length, end - at).toString("latin1");
      this.#rest = this.#rest.subarray(end - at + 1);
      this.#said(line);
    }
  }

  #give(length: number): void {
    const data = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    if (this.#open !== undefined && data.length > 0) this.#sinks.get(this.#open)?.push(data);
  }

  #said(line: string): void {
    const [id = "", word] = line.split(" ");
    if (word === "over") this.#sinks.get(id)?.over();
    else if (this.#open === undefined) this.#open = id === "beat" ? undefined : id;
    else if (id === "more") this.#open = undefined;
  }
}
