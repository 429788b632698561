import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { GpuSample, HostHistory, LogMark, OutputMark, RunHistory } from "../core/ports";
import historyScript from "../host/history.sh";
import { sampleOf } from "./gpus";
import type { HostSession } from "./hostSession";

/** Before packing; 14 hours of eight GPUs. */
const mostBytes = 4_000_000;
const mostUnpacked = 64_000_000;
const unpack = promisify(gunzip);

/** See `HostOps.history`. */
export async function readHistory(session: HostSession, since: number): Promise<HostHistory> {
  const variables = { ...session.variables, since: Math.max(0, Math.floor(since / 1000)), limit: mostBytes };
  const answer = await session.control.read([historyScript], variables);
  // What gzip makes begins so (RFC 1952, 2.3.1); our own lines are ASCII.
  const packed = answer[0] === 0x1f && answer[1] === 0x8b;
  return historyOf((packed ? await unpack(answer, { maxOutputLength: mostUnpacked }) : answer).toString("utf8"));
}

/** Reads the lines of recorder.sh (there stands what they mean); one that cannot be understood is passed over. */
export function historyOf(text: string): HostHistory {
  const reader = new HistoryReader();
  let start = 0;
  // Not by split: an array of a night's lines costs more than the lines.
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    reader.line(text.slice(start, end));
    start = end + 1;
  }
  reader.line(text.slice(start));
  return reader.history;
}

/** The values of a sample, by the names that nvidia-smi has for them. */
const measured = [
  ["utilization.gpu", "utilisation"],
  ["memory.used", "memoryUsedMib"],
  ["memory.total", "memoryTotalMib"],
  ["temperature.gpu", "temperatureC"],
  ["power.draw", "powerW"],
  ["power.limit", "powerLimitW"],
] as const;
type Measured = (typeof measured)[number][1];
type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
/** index, uuid and name come first in all lists of fields. */
const headLength = 3;

interface RunMarks {
  readonly log: LogMark[];
  readonly outputs: OutputMark[];
}

class HistoryReader {
  readonly #gpus: GpuSample[] = [];
  readonly #marks = new Map<string, RunMarks>();
  /** Of this segment: number → run. */
  #runs = new Map<string, string>();
  /** Of this segment: index → index, uuid and name. */
  #heads = new Map<string, Pick<GpuSample, "index" | "uuid" | "name">>();
  #fields: readonly string[] = [];
  /** What the values of a "d" line are, in their order. */
  #columns: readonly (Measured | undefined)[] = [];
  /** The moment that lines are about, and the one before it; ms. */
  #at = 0;
  #before = 0;
  #known = false;

  get history(): HostHistory {
    const runs = [...this.#marks].map(([run, { log, outputs }]): RunHistory => ({ run, marks: log, outputs }));
    return { gpus: this.#gpus, runs };
  }

  line(line: string): void {
    const word = line.slice(0, 2);
    const rest = line.slice(2);
    if (word === "v ") this.#begin(rest);
    else if (this.#known) this.#ofSegment(word, rest);
  }

  #ofSegment(word: string, rest: string): void {
    switch (word) {
      case "d ":
        this.#gpu(rest);
        return;
      case "t ":
        this.#moment(Number(rest) * 1000);
        return;
      case "s ":
        this.#log(rest.split(" "));
        return;
      case "o ":
        this.#written(rest.split(" "));
        return;
      case "f ":
        this.#fieldsAre(rest.split(","));
        return;
      case "G ":
        this.#gpuIs(rest);
        return;
      case "g ":
        this.#whole(rest);
        return;
      case "S ":
        this.#name(rest);
    }
  }

  #begin(version: string): void {
    this.#known = version === "1";
    this.#runs = new Map();
    this.#heads = new Map();
  }

  #moment(at: number): void {
    if (!Number.isFinite(at) || at === this.#at) return;
    this.#before = this.#at;
    this.#at = at;
  }

  #fieldsAre(fields: readonly string[]): void {
    this.#fields = fields;
    this.#columns = fields.slice(headLength).map((field) => measured.find(([name]) => name === field)?.[1]);
  }

  #gpuIs(rest: string): void {
    const [index = "", uuid = "", ...name] = rest.split(",").map((part) => part.trim());
    if (/^\d{1,3}$/.test(index) && uuid !== "")
      this.#heads.set(index, { index: Number(index), uuid, name: name.join(", ") });
  }

  #gpu(rest: string): void {
    const [index = "", ...values] = rest.split(",");
    const head = this.#heads.get(index);
    if (head === undefined || values.length !== this.#columns.length) return;
    // One object, filled in the same order for each of a night's tens of thousands of lines.
    const sample: Mutable<GpuSample> = { index: head.index, uuid: head.uuid, name: head.name, at: this.#at };
    for (let column = 0; column < values.length; column++) {
      const name = this.#columns[column];
      const value = numberOf(values[column]);
      if (name !== undefined && value !== undefined) sample[name] = value;
    }
    this.#gpus.push(sample);
  }

  /** As spools had it that were written by an older version. */
  #whole(values: string): void {
    const sample = sampleOf(this.#fields, values, this.#at);
    if (sample) this.#gpus.push(sample);
  }

  #name(rest: string): void {
    const [number = "", path = ""] = rest.split(" ");
    this.#runs.set(number, path.slice(path.lastIndexOf("/") + 1));
  }

  #marksOf(number: string): RunMarks | undefined {
    const run = this.#runs.get(number);
    if (run === undefined) return undefined;
    const known = this.#marks.get(run) ?? { log: [], outputs: [] };
    this.#marks.set(run, known);
    return known;
  }

  #log([number = "", inode = "", bytes = ""]: readonly string[]): void {
    if (!/^\d+$/.test(inode) || !isCount(bytes)) return;
    const marks = this.#marksOf(number)?.log;
    if (marks === undefined) return;
    const size = Number(bytes);
    const last = marks.at(-1);
    if (last?.inode === inode && last.size === size) return;
    // It was told of last when it changed, and was looked at since.
    if (last && last.at < this.#before && this.#before < this.#at) marks.push({ ...last, at: this.#before });
    marks.push({ at: this.#at, inode, size });
  }

  #written([number = "", kind, count = "", bytes = "", newest = "", all = ""]: readonly string[]): void {
    if (kind !== "lines" && kind !== "files" && kind !== "bytes") return;
    if (![count, bytes, newest].every(isCount)) return;
    this.#marksOf(number)?.outputs.push({
      at: this.#at,
      kind,
      count: Number(count),
      bytes: Number(bytes),
      ...(Number(newest) > 0 ? { newestAt: Number(newest) * 1000 } : {}),
      ...(isCount(all) ? { totalBytes: Number(all) } : {}),
    });
  }
}

function isCount(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

/** `[N/A]`, `[Not Supported]`, `ERR!`: the driver gives none. */
function numberOf(text = ""): number | undefined {
  const value = Number(text);
  // Of blanks alone Number makes a zero.
  return Number.isFinite(value) && (value !== 0 || text.trim() !== "") ? value : undefined;
}
