import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { LogReader } from "../../src/core/log/reader";
import type { Reading } from "../../src/core/log/reading";
import { fuzzReader } from "../unit/logFuzz";
import { pathologicalGrowth } from "../unit/logPathological";
import { median, print, setting } from "./figure";
import { writeMix, type MixKind } from "./mix";

const patterns = resolve("test/fixtures/bench/patterns.txt");
const chunkBytes = 1 << 16;

/** What reading a file made and took. */
interface Scan {
  readonly ms: number;
  /** Of all threads of this process, garbage collection included. */
  readonly cpuMs: number;
  readonly progress: number;
  readonly failures: number;
  readonly digest: string;
}

/** Reads the whole file by one LogReader, in chunks as they come from a host, and uses every reading. */
function scan(file: string): Scan {
  const input = openSync(file, "r");
  const buffer = Buffer.alloc(chunkBytes);
  const digest = new Digest();
  const cpu = process.cpuUsage();
  const began = performance.now();
  try {
    const reader = new LogReader();
    for (;;) {
      const length = readSync(input, buffer, 0, chunkBytes, null);
      if (length === 0) break;
      digest.take(reader.push(buffer.subarray(0, length)));
    }
    digest.take(reader.flush());
  } finally {
    closeSync(input);
  }
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000, ...digest.result };
}

/** FNV-1a over where every reading stands and what it says. */
class Digest {
  #hash = 0x811c9dc5;
  #progress = 0;
  #failures = 0;

  take(readings: readonly Reading[]): void {
    for (const reading of readings) {
      this.#mix(reading.offset + reading.segment);
      if (reading.kind === "progress") {
        this.#progress++;
        this.#mix(reading.done ?? 1);
        this.#mix(reading.total ?? 2);
        for (const value of Object.values(reading.metrics ?? {})) this.#mix(value === "nan" ? 3 : value);
      } else {
        this.#failures++;
        for (const character of reading.failure + reading.cause) this.#mix(character.charCodeAt(0));
      }
    }
  }

  get result(): Pick<Scan, "progress" | "failures" | "digest"> {
    const digest = (this.#hash >>> 0).toString(16);
    return { progress: this.#progress, failures: this.#failures, digest };
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value * 1000), 0x01000193);
  }
}

/** What a rival took for the same file, in milliseconds of wall and CPU. */
interface Rival {
  readonly ms: number;
  readonly cpuMs: number;
}

const rg = 'rg -j1 -c -f "$patterns" "$file"';
const grep = 'LC_ALL=C.UTF-8 grep -a -E -c -f "$patterns" "$file"';

/**
 * Runs rivals from a shell that stays: this process starts nothing between two rounds, for its memory would be copied
 * piece by piece after each fork.
 */
class Rivals {
  readonly #shell = spawn("bash", { stdio: ["pipe", "ignore", "pipe"] });
  readonly #answers = createInterface({ input: this.#shell.stderr })[Symbol.asyncIterator]();

  constructor(file: string) {
    this.#shell.stdin.write(`patterns='${patterns}'; file='${file}'; TIMEFORMAT="%R %U %S"; set -o pipefail\n`);
  }

  /** Undefined where it is not installed. */
  async run(command: string): Promise<Rival | undefined> {
    // grep looks for no more than one match where its output is thrown away.
    this.#shell.stdin.write(`time ${command} 2>/dev/null | cat >/dev/null; echo "rc $?" >&2\n`);
    const [wall = 0, user = 0, system = 0] = (await this.#answer()).split(" ").map(Number);
    const status = await this.#answer();
    // 1 is "no line matches"; above it the rival itself failed, or is not there.
    if (status !== "rc 0" && status !== "rc 1") return undefined;
    return { ms: wall * 1000, cpuMs: (user + system) * 1000 };
  }

  async #answer(): Promise<string> {
    const answer: IteratorResult<string, unknown> = await this.#answers.next();
    return answer.done === true ? "" : answer.value;
  }

  end(): void {
    this.#shell.stdin.end();
  }
}

async function withMix<T>(kind: MixKind, megabytes: number, use: (file: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "bench-scan-"));
  try {
    const file = join(folder, "mix.log");
    writeMix(file, kind, megabytes * 1e6);
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How fast a log is read, beside ripgrep and grep with as many patterns. @param bar the least ratio of rg's time to ours */
export async function measureScan(kind: MixKind, bar: number): Promise<void> {
  const megabytes = setting("BENCH_MB", 300);
  const rounds = setting("BENCH_ROUNDS", 3);
  await withMix(kind, megabytes, async (file) => {
    const ours: Scan[] = [];
    const rgs: Rival[] = [];
    const greps: Rival[] = [];
    const rivals = new Rivals(file);
    await rivals.run(rg); // All find the file in the page cache.
    for (let i = 0; i < rounds; i++) {
      ours.push(scan(file));
      for (const [command, times] of [[rg, rgs] as const, [grep, greps] as const]) {
        const time = await rivals.run(command);
        if (time !== undefined) times.push(time);
      }
    }
    rivals.end();
    const size = statSync(file).size / 1e6;
    const rate = (times: readonly number[]): number | null =>
      times.length === 0 ? null : size / (median(times) / 1000);
    const [own, ownCpu] = [rate(ours.map(({ ms }) => ms)) ?? 0, rate(ours.map(({ cpuMs }) => cpuMs)) ?? 0];
    const theirs = rate(rgs.map(({ ms }) => ms));
    const ratio = theirs === null ? null : own / theirs;
    const beside = (name: string, others: readonly Rival[]): string => {
      const [wall, cpu] = [rate(others.map(({ ms }) => ms)), rate(others.map(({ cpuMs }) => cpuMs))];
      if (wall === null || cpu === null) return `${name} is not installed`;
      const ratios = `ratio ${(own / wall).toFixed(2)}, by CPU ${(ownCpu / cpu).toFixed(2)}`;
      return `${name} ${wall.toFixed(0)} MB/s, by CPU ${cpu.toFixed(0)}, ${ratios}`;
    };
    const first = ours[0];
    print({
      name: `scan-${kind}`,
      value: own,
      unit: "MB/s",
      rival: "rg -j1 -c -f patterns.txt",
      rival_value: theirs,
      ratio,
      bar: `ratio >= ${bar}`,
      ok: ratio === null ? null : ratio >= bar,
      n: rounds,
      note:
        `${size.toFixed(0)} MB, ${first?.progress ?? 0} progress and ${first?.failures ?? 0} failure readings, ` +
        `digest ${first?.digest ?? ""}; by CPU time ${ownCpu.toFixed(0)} MB/s; ` +
        `${beside("rg", rgs)}; ${beside("grep -E", greps)}`,
    });
  });
}

/** Whether a byte costs the same in a long log and in a short one; and in a single line of 100 MB. */
export async function measureGrowth(): Promise<void> {
  const sizes = [30, 100, 300];
  const perByte: number[] = [];
  for (const megabytes of sizes) {
    const ns = await withMix("typical", megabytes, (file) => {
      const times = [0, 1, 2].map(() => scan(file).cpuMs);
      return (median(times) * 1e6) / statSync(file).size;
    });
    perByte.push(ns);
    print({ name: `scan-growth-${megabytes}MB`, value: ns, unit: "ns CPU/byte", n: 3 });
  }
  const growth = (perByte.at(-1) ?? Number.NaN) / (perByte[0] ?? Number.NaN);
  print({
    name: "scan-growth",
    value: growth,
    unit: "time per byte at 300 MB / at 30 MB",
    bar: "<= 1.3",
    ok: growth <= 1.3,
    n: 3,
  });
  const [short = Number.NaN, ...longer] = [1, 10, 100].map((megabytes) => longLine(megabytes) / megabytes);
  const worst = Math.max(...longer);
  print({
    name: "scan-long-line",
    value: worst,
    unit: "ms/MB, the slower of one line of 10 and of 100 MB",
    rival: "one line of 1 MB",
    rival_value: short,
    ratio: short / worst,
    bar: "<= 2 times as long a byte",
    ok: worst <= 2 * short,
    n: 3,
  });
}

/** A million ugly lines: none may throw, and where they are cut may never show. */
export function measureFuzz(): Promise<void> {
  const lines = setting("BENCH_LINES", 1_000_000);
  const began = performance.now();
  // Throws, and so breaks the run, when a line does.
  const { bytes, readings } = fuzzReader(lines, 1);
  const seconds = (performance.now() - began) / 1000;
  const note = `${(bytes / 1e6).toFixed(0)} MB, ${readings} readings; each line read whole and cut at random places`;
  print({ name: "fuzz", value: seconds, unit: "s", bar: "nothing thrown, no cut shows", ok: true, n: lines, note });
  return Promise.resolve();
}

/** Every needle of every rule and format, a user's own patterns too, followed by what makes a pattern look back. */
export function measurePathological(): Promise<void> {
  const growths = pathologicalGrowth(1000, 16_000, () => performance.now());
  const [worst] = growths;
  const value = worst?.ratio ?? Number.NaN;
  print({
    name: "pathological",
    value,
    unit: "time per byte in lines of 16 kB / of 1 kB",
    bar: "<= 4",
    ok: value <= 4,
    n: growths.length,
    note: `worst start ${JSON.stringify(worst?.start)}, filled with ${JSON.stringify(worst?.filler)}`,
  });
  return Promise.resolve();
}

function longLine(megabytes: number): number {
  const line = Buffer.alloc(megabytes * 1e6, "a line without an end, ");
  const times = [0, 1, 2].map(() => {
    const began = performance.now();
    const reader = new LogReader();
    for (let at = 0; at < line.length; at += chunkBytes) reader.push(line.subarray(at, at + chunkBytes));
    reader.push(Buffer.from("\n"));
    return performance.now() - began;
  });
  return median(times);
}
