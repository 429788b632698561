import { readdirSync, readFileSync } from "node:fs";
import { LogReader } from "../../src/core/log/reader";
import type { Reading } from "../../src/core/log/reading";

/** Mulberry32: numbers from 0 to 1 that a seed repeats. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Lines of the real logs among the fixtures, as bytes, without their ends. */
function fixtureLines(): Buffer[] {
  const lines: Buffer[] = [];
  for (const folder of ["captures", "failures", "progress", "more"]) {
    const path = `test/fixtures/log/${folder}`;
    for (const file of readdirSync(path).filter((name) => /\.(?:log|txt)$/.test(name))) {
      const bytes = readFileSync(`${path}/${file}`);
      for (let from = 0; from < bytes.length;) {
        const end = bytes.indexOf(10, from);
        lines.push(bytes.subarray(from, end < 0 ? bytes.length : end));
        from = end < 0 ? bytes.length : end + 1;
      }
    }
  }
  return lines;
}

const pieces = [
  "\r 17%|█▋        | 83/500 [00:20<01:40,  4.16it/s]",
  "Progress: 40/25000 (0 errors), 0.6 req/s, avg completion: 367 tokens, elapsed: 65s",
  "Traceback (most recent call last):",
  "\u001b[31m",
  "\u001b[38;2;54;234;195m",
  "\u001b]0;title",
  "\u001b[A",
  "\b\b\b\b",
  "\0",
  "[rank3]: ",
  "(EngineCore_DP0 pid=1) ERROR 10-20 03:20:50 [core.py:710] ",
  "{'loss': nan, 'grad_norm': 1e400, 'epoch': 0.",
  "Error: ",
  "```",
  "a.b.c.",
  "1,2,3/4 [",
];

/**
 * Ugly log lines, each with its end: mutated real ones, random bytes, glued bars, control sequences, broken UTF-8, NULs,
 * storms of carriage returns, long lines. The same seed gives the same lines.
 */
export function* fuzzLines(count: number, seed: number): Generator<Buffer> {
  const next = random(seed);
  const below = (most: number): number => Math.floor(next() * most);
  const known = fixtureLines();
  const real = (): Buffer => Buffer.from(known[below(known.length)] ?? "");
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256)));
  const mutated = (): Buffer => {
    const line = real();
    for (let times = below(4); times > 0 && line.length > 0; times--) line[below(line.length)] = below(256);
    return next() < 0.3 ? line.subarray(0, below(line.length + 1)) : line;
  };
  const glued = (): Buffer =>
    Buffer.from(Array.from({ length: 1 + below(8) }, () => pieces[below(pieces.length)] ?? "").join(""));
  const long = (): Buffer => Buffer.from((pieces[below(pieces.length)] ?? "x").repeat(1 + below(400)));
  const storm = (): Buffer => Buffer.from("\r".repeat(below(60)) + real().toString("latin1"));
  const makers = [mutated, mutated, mutated, real, glued, storm, () => noise(below(80)), long];
  for (let made = 0; made < count; made++) {
    const maker = makers[next() < 0.002 ? makers.length - 1 : below(makers.length - 1)] ?? mutated;
    yield Buffer.concat([maker(), Buffer.from(next() < 0.05 ? "\r\n" : "\n")]);
  }
}

/** What reading some lines gave. */
export interface FuzzResult {
  readonly bytes: number;
  readonly readings: number;
}

/**
 * Reads ugly lines in groups, each once whole and once cut at random places.
 * @throws Error when the reader throws or the cuts show in its readings
 */
export function fuzzReader(count: number, seed: number): FuzzResult {
  const next = random(seed + 1);
  let bytes = 0;
  let readings = 0;
  let group: Buffer[] = [];
  const check = (): void => {
    const whole = Buffer.concat(group);
    group = [];
    const cuts: Buffer[] = [];
    for (let from = 0; from < whole.length;) {
      const end = from + 1 + Math.floor(next() * next() * 4000);
      cuts.push(whole.subarray(from, end));
      from = end;
    }
    const once = read([whole]);
    if (JSON.stringify(read(cuts)) !== JSON.stringify(once))
      throw new Error(`where the bytes are cut shows in the readings (seed ${seed}, after ${bytes} bytes)`);
    bytes += whole.length;
    readings += once.readings.length;
  };
  for (const line of fuzzLines(count, seed)) {
    group.push(line);
    if (group.length === 500) check();
  }
  check();
  return { bytes, readings };
}

function read(chunks: readonly Buffer[]): { readonly readings: readonly Reading[]; readonly verdict: string } {
  const reader = new LogReader();
  const readings = chunks.flatMap((chunk) => [...reader.push(chunk)]);
  reader.peek();
  readings.push(...reader.flush());
  return { readings, verdict: reader.verdict() };
}
