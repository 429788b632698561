import type { LogPosition } from "../../core/following";
import type { Clock, OutputCheck, OutputReport } from "../../core/ports";
import { Emitter } from "../../core/lifecycle";

/** A file of the host in memory. Bytes that were only added as a size read as zeros and take no memory. */
export class MemoryFile {
  #bytes = new Uint8Array(256);
  size = 0;
  modifiedAt: number;
  readonly inode: string;

  constructor(inode: string, at: number) {
    this.inode = inode;
    this.modifiedAt = at;
  }

  /** What it takes of this machine's memory. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  get start(): LogPosition {
    return { device: "1", inode: this.inode, offset: 0 };
  }

  append(data: Uint8Array): void {
    const size = this.size + data.length;
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(data, this.size);
    this.size = size;
  }

  /** A copy, so that what was given out does not change. */
  read(offset: number, length: number): Uint8Array {
    const from = Math.min(Math.max(0, offset), this.size);
    const part = new Uint8Array(Math.min(length, this.size - from));
    part.set(this.#bytes.subarray(from, from + part.length));
    return part;
  }
}

function linesOf(file: MemoryFile): number {
  return file.read(0, file.size).filter((byte) => byte === 10).length;
}

/** The files of the host in memory. There are no folders: a path's parents simply exist. */
export class MemoryFiles {
  readonly #files = new Map<string, MemoryFile>();
  readonly #changed = new Emitter<string>();
  readonly #home: string;
  readonly #clock: Clock;
  #inodes = 100;

  /** Fires with a path whenever that file comes into being or grows. */
  readonly onDidChange = this.#changed.event;

  constructor(home: string, clock: Clock) {
    this.#home = home;
    this.#clock = clock;
  }

  /** The absolute path without `.` and `..`; `~/` is the home folder, as is the folder where none is given. */
  resolve(path: string, cwd: string = this.#home): string {
    const whole = path === "~" || path.startsWith("~/") ? this.#home + path.slice(1) : path;
    const absolute = whole.startsWith("/") ? whole : `${this.resolve(cwd)}/${whole}`;
    const parts: string[] = [];
    for (const part of absolute.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  get(path: string): MemoryFile | undefined {
    return this.#files.get(path);
  }

  /** The file, made empty if it was not there. */
  make(path: string): MemoryFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    this.#inodes += 1;
    const file = new MemoryFile(String(this.#inodes), this.#clock.now());
    this.#files.set(path, file);
    this.#changed.fire(path);
    return file;
  }

  append(path: string, text: string): void {
    this.make(path).append(new TextEncoder().encode(text));
    this.#touch(path);
  }

  grow(path: string, bytes: number): void {
    this.make(path).size += bytes;
    this.#touch(path);
  }

  /** Empties the file, as `> file` does, and keeps its identity. */
  empty(path: string): void {
    this.make(path).size = 0;
    this.#touch(path);
  }

  remove(path: string): void {
    this.#files.delete(path);
    this.#changed.fire(path);
  }

  check(check: OutputCheck, cwd: string | undefined): OutputReport {
    const counted = new Set<MemoryFile>();
    const missing: string[] = [];
    for (const pattern of check.files) {
      const found = this.matching(this.resolve(pattern, cwd));
      if (found.length === 0) missing.push(pattern);
      for (const [, file] of found) counted.add(file);
    }
    const bytes = [...counted].reduce((sum, file) => sum + file.size, 0);
    const least = check.minBytes ?? 0;
    const detail =
      missing.length > 0
        ? `nothing matches ${missing.join(", ")}`
        : bytes < least
          ? `${bytes} bytes of at least ${least}`
          : "";
    const count = check.outputs && this.#count(check.outputs, cwd);
    const short = count !== undefined && count < (check.outputsAtLeast ?? 0);
    return {
      ok: detail === "" && !short,
      bytes,
      files: counted.size,
      detail: short ? `${count} of ${check.outputsAtLeast ?? 0} outputs are there` : detail,
      ...(count === undefined ? {} : { count }),
    };
  }

  #count({ files: patterns, count }: NonNullable<OutputCheck["outputs"]>, cwd: string | undefined): number {
    const files = new Set(patterns.flatMap((one) => this.matching(this.resolve(one, cwd)).map(([, file]) => file)));
    if (count === "files") return files.size;
    return [...files].reduce((sum, file) => sum + (count === "bytes" ? file.size : linesOf(file)), 0);
  }

  /** Files that the glob names, and those below a folder that it names. */
  matching(pattern: string): readonly (readonly [string, MemoryFile])[] {
    const shell = pattern.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*/g, "[^/]*");
    const glob = new RegExp(`^${shell.replace(/\?/g, "[^/]")}(?:/|$)`);
    return [...this.#files].filter(([path]) => glob.test(path));
  }

  #touch(path: string): void {
    this.make(path).modifiedAt = this.#clock.now();
    this.#changed.fire(path);
  }
}
