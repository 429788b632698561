import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { GpuSample, HostHistory, LogMark, RunHistory } from "../core/ports";
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
  for (const line of text.split("\n")) reader.line(line);
  return reader.history;
}

class HistoryReader {
  readonly #gpus: GpuSample[] = [];
  readonly #marks = new Map<string, LogMark[]>();
  /** Of this segment: number → run. */
  #runs = new Map<string, string>();
  #fields: readonly string[] = [];
  /** The moment that lines are about, and the one before it; ms. */
  #at = 0;
  #before = 0;
  #known = false;

  get history(): HostHistory {
    const runs = [...this.#marks].map(([run, marks]): RunHistory => ({ run, marks }));
    return { gpus: this.#gpus, runs };
  }

  line(line: string): void {
    const rest = line.slice(2);
    const word = line.slice(0, 2);
    if (word === "v ") this.#begin(rest);
    else if (!this.#known) return;
    else if (word === "t ") this.#moment(Number(rest) * 1000);
    else if (word === "f ") this.#fields = rest.split(",");
    else if (word === "g ") this.#gpu(rest);
    else if (word === "S ") this.#name(rest);
    else if (word === "s ") this.#log(rest.split(" "));
  }

  #begin(version: string): void {
    this.#known = version === "1";
    this.#runs = new Map();
  }

  #moment(at: number): void {
    if (!Number.isFinite(at) || at === this.#at) return;
    this.#before = this.#at;
    this.#at = at;
  }

  #gpu(values: string): void {
    const sample = sampleOf(this.#fields, values, this.#at);
    if (sample) this.#gpus.push(sample);
  }

  #name(rest: string): void {
    const [number = "", path = ""] = rest.split(" ");
    this.#runs.set(number, path.slice(path.lastIndexOf("/") + 1));
  }

  #log([number = "", inode = "", bytes = ""]: readonly string[]): void {
    const run = this.#runs.get(number);
    if (run === undefined || !/^\d+$/.test(inode) || !/^\d+$/.test(bytes)) return;
    const marks: LogMark[] = this.#marks.get(run) ?? [];
    this.#marks.set(run, marks);
    const size = Number(bytes);
    const last = marks.at(-1);
    if (last?.inode === inode && last.size === size) return;
    // It was told of last when it changed, and was looked at since.
    if (last && last.at < this.#before && this.#before < this.#at) marks.push({ ...last, at: this.#before });
    marks.push({ at: this.#at, inode, size });
  }
}
