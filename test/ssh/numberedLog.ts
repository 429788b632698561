import { appendFileSync, copyFileSync, existsSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";

/** What a log may suffer. `rename` and `date` keep every line; `copy` keeps those that were there when it was copied. */
export type Rotation = "rename" | "date" | "copy" | "cut" | "replace" | "delete";

interface Sibling {
  path: string;
  readonly from: number;
  to: number;
}

/** Where a follower of a numbered log stands. */
interface Sightings {
  /** How often each line came whole, by its number. */
  readonly seen: Uint8Array;
  /** The highest line that came. */
  last: number;
  /** Lines that came and were never written like this. */
  readonly strange: string[];
}

/** A log of numbered lines, and what becomes of each of them. */
export class NumberedLog {
  readonly name: string;
  readonly path: string;
  readonly sightings: Sightings;
  /** Lines that were taken away, whether anybody had read them or not. */
  readonly destroyed: Uint8Array;
  /** As `performance.now()`. */
  rotatedAt = -Infinity;
  readonly #total: number;
  #written = 0;
  /** The first line that is in the file itself. */
  #liveFrom = 1;
  /** The end of a line whose beginning is in the file already. */
  #rest: Buffer = Buffer.alloc(0);
  /** Oldest first. */
  #siblings: Sibling[] = [];
  #dates = 0;

  constructor(name: string, path: string, total: number) {
    this.name = name;
    this.path = path;
    this.#total = total;
    this.sightings = { seen: new Uint8Array(total + 1), last: 0, strange: [] };
    this.destroyed = new Uint8Array(total + 1);
  }

  get written(): number {
    return this.#written;
  }

  line(n: number): string {
    return `Progress: ${n}/${this.#total} (0 errors), 3.1 req/s, avg completion: 412 tokens, elapsed: ${Math.floor(n / 3)}s [${this.name}]`;
  }

  /** Appends lines; the last one up to `held` bytes before its end, which come with the next ones. */
  write(count: number, held = 0): void {
    const lines: string[] = [];
    for (let i = 0; i < count && this.#written < this.#total; i++) lines.push(`${this.line(++this.#written)}\n`);
    this.#append(this.path, Buffer.from(lines.join("")), held);
  }

  /** @param more lines that come when the file was renamed or copied, and before it is new or cut */
  rotate(how: Rotation, more: number): void {
    this.write(0);
    if (!existsSync(this.path)) return;
    this.rotatedAt = performance.now();
    const last = this.#written;
    if (how === "rename" || how === "copy") this.#shift();
    const to = how === "date" ? `${this.path}-2026${String(1000 + this.#dates++)}` : `${this.path}.1`;
    if (how === "rename" || how === "date") this.#rename(to, more);
    else if (how === "copy") {
      copyFileSync(this.path, to);
      this.#siblings.push({ path: to, from: this.#liveFrom, to: last });
      this.write(more);
      truncateSync(this.path, 0);
      this.#destroy(last + 1);
    } else {
      this.#destroy(this.#liveFrom);
      if (how === "cut") truncateSync(this.path, 0);
      else if (how === "delete") rmSync(this.path);
      else {
        writeFileSync(`${this.path}.new`, "");
        renameSync(`${this.path}.new`, this.path);
      }
    }
    this.#liveFrom = this.#written + 1;
    this.#purge();
  }

  /** Takes what a follower read; lines that are not whole yet come again with the rest of them. */
  saw(line: string): void {
    const { seen, strange } = this.sightings;
    const n = Number(/^Progress: (\d+)\//.exec(line)?.[1] ?? 0);
    if (n < 1 || n > this.#written || line !== this.line(n)) {
      if (strange.length < 20) strange.push(line);
      return;
    }
    seen[n] = (seen[n] ?? 0) + 1;
    this.sightings.last = Math.max(this.sightings.last, n);
  }

  /** Whether all lines that were not taken away have come. */
  get whole(): boolean {
    const { seen } = this.sightings;
    for (let n = 1; n <= this.#written; n++) if (seen[n] === 0 && this.destroyed[n] === 0) return false;
    return true;
  }

  #append(path: string, data: Buffer, held: number): void {
    const all = Buffer.concat([this.#rest, data]);
    const length = Math.max(0, all.length - held);
    this.#rest = all.subarray(length);
    if (length > 0) appendFileSync(path, all.subarray(0, length));
  }

  /** The job keeps its file open: what it writes until it hears of the rotation goes to the old one. */
  #rename(to: string, more: number): void {
    renameSync(this.path, to);
    const lines: string[] = [];
    for (let i = 0; i < more && this.#written < this.#total; i++) lines.push(`${this.line(++this.#written)}\n`);
    this.#append(to, Buffer.from(lines.join("")), 0);
    this.#siblings.push({ path: to, from: this.#liveFrom, to: this.#written });
    writeFileSync(this.path, "");
  }

  #shift(): void {
    // From the oldest on, so that none is written over.
    this.#siblings.forEach((sibling, index) => {
      const next = `${this.path}.${this.#siblings.length - index + 1}`;
      renameSync(sibling.path, next);
      sibling.path = next;
    });
  }

  #destroy(from: number): void {
    for (let n = from; n <= this.#written; n++) this.destroyed[n] = 1;
  }

  /** As logrotate: the oldest go, here once all of them was read. */
  #purge(): void {
    const { seen } = this.sightings;
    while (this.#siblings.length > 4) {
      const [oldest] = this.#siblings;
      if (!oldest || seen.subarray(oldest.from, oldest.to + 1).includes(0)) return;
      rmSync(oldest.path);
      this.#siblings.shift();
    }
  }
}
