import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { exceptionRules, lineRules } from "../../src/core/log/failures/rules";
import { progressFormats } from "../../src/core/log/formats/all";
import { cleanText, LineSplitter } from "../../src/core/log/lines";
import { canBeNeedle, NeedleIndex } from "../../src/core/log/needles";
import { LogReader } from "../../src/core/log/reader";
import type { ProgressReading, Reading } from "../../src/core/log/reading";
import { SegmentScanner } from "../../src/core/log/scanner";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(chunks: readonly Uint8Array[], thorough = false): { readings: Reading[]; verdict: string } {
  const reader = new LogReader({ thorough });
  const readings = chunks.flatMap((chunk) => [...reader.push(chunk)]);
  readings.push(...reader.flush());
  return { readings, verdict: reader.verdict() };
}

const progressOf = (text: string): ProgressReading[] =>
  read([bytesOf(text)]).readings.filter((reading) => reading.kind === "progress");

/** What is read by needles and quick ways is what is read when every line is shown to everybody. */
function holds(text: string): void {
  assert.deepEqual(read([bytesOf(text)]), read([bytesOf(text)], true), text.slice(0, 500));
}

const folders = ["progress", "failures", "captures", "more"].map((folder) => `test/fixtures/log/${folder}`);
const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => !name.endsWith(".jsonl"))
    .map((name) => readFileSync(`${folder}/${name}`)),
);
const lines = [...new Set(files.flatMap((file) => file.toString().split(/[\r\n]+/)))].filter(
  (line) => line.length > 5 && line.length < 600,
);

test("every needle of every format and rule can be one", () => {
  for (const rule of [...lineRules, ...exceptionRules]) {
    assert.ok(rule.needles.length > 0, rule.failure);
    for (const needle of rule.needles) assert.ok(canBeNeedle(needle), `${rule.failure}: "${needle}"`);
  }
  for (const { key, needles, marks = [], always = false, trigger } of progressFormats) {
    const own = needles ?? (marks.length > 0 ? [] : [trigger]);
    assert.ok(own.length + marks.length > 0 || always, key);
    for (const needle of own) assert.ok(canBeNeedle(needle), `${key}: "${needle}"`);
  }
});

test("needles are found wherever they lie, and only there", () => {
  const needles = ["abcdef", "bcdefgh", "x: \\d\\d\\d", "defabcdefabc", "% ━━", "]\tlr: "];
  const kinds = new Uint8Array(needles.length + 3).fill(1);
  const index = new NeedleIndex(needles, kinds);
  const patterns = needles.map((needle) => new RegExp(needle.replaceAll("]", "\\]")));
  const piece = fc.constantFrom("abcdef", "bcdefgh", "x: 123", "x: 12", "def", "abc", "% ━━", "]\tlr: ", "[", " ", "é");
  const text = fc.array(fc.oneof(piece, fc.constantFrom("a", "b", "f", "\n", "\r", "0")), { maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), (parts, places) => {
      const bytes = bytesOf(parts.join(""));
      const found: string[] = [];
      const take = (): boolean => {
        const { line, segment, seen, seenCount } = scanner;
        for (const needle of seen.slice(0, seenCount))
          if (needle < needles.length) found.push(`${line} ${segment} ${needle}`);
        return true;
      };
      const scanner = new SegmentScanner({ index, kinds, lanes: new Uint8Array(kinds.length) }, { take }, 0);
      for (const chunk of cut(bytes, places)) scanner.push(chunk);
      scanner.flush();
      const wanted = parts
        .join("")
        .split("\n")
        .flatMap((line, at) =>
          line
            .split("\r")
            .flatMap((segment, state) =>
              patterns.flatMap((pattern, needle) => (pattern.test(segment) ? [`${at + 1} ${state} ${needle}`] : [])),
            ),
        );
      assert.deepEqual(found.sort(), wanted.sort());
    }),
    { numRuns: 500 },
  );
});

/** The bytes cut at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = places.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
  return [...sorted, bytes.length].map((end, at) => bytes.slice(at === 0 ? 0 : sorted[at - 1], end));
}

test("segments stand where the splitter says", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 9 }), (noise, places) => {
      const bytes = noise.map((byte) => (byte < 40 ? 10 : byte < 70 ? 13 : byte));
      const found: unknown[] = [];
      const take = (): boolean => {
        const { line, segment, lineOffset, endOffset, endsLine } = scanner;
        found.push({ line, segment, lineOffset, endOffset, endsLine, text: textOf(scanner) });
        return true;
      };
      const kinds = new Uint8Array(3);
      const sought = { index: new NeedleIndex([], kinds), kinds, lanes: new Uint8Array(3) };
      const scanner = new SegmentScanner(sought, { take }, 70);
      scanner.all = true;
      for (const chunk of cut(bytes, places)) scanner.push(chunk);
      scanner.flush();
      const wanted: unknown[] = [];
      const splitter = new LineSplitter(70);
      const keep = (piece: Parameters<Parameters<LineSplitter["push"]>[1]>[0]): void => {
        const { line, segment, lineOffset, endOffset, endsLine } = piece;
        wanted.push({ line, segment, lineOffset, endOffset, endsLine, text: cleanText(piece.bytes) });
      };
      splitter.push(bytes, keep);
      const rest = splitter.flush();
      if (rest !== undefined) keep(rest);
      assert.deepEqual(found, wanted);
    }),
    { numRuns: 200 },
  );
});

const textOf = ({ bytes, start, end }: SegmentScanner): string => cleanText(bytes.subarray(start, end));

test("a line in colour does not hide the lines behind it", () => {
  const step = (at: number): string =>
    `Progress: ${at}/400 (0 errors), 0.3 req/s, avg completion: 400 tokens, elapsed: 29s\n`;
  const parts = Array.from(
    { length: 60 },
    (_, at) => `${step(at + 1)}\u001b[31mWarning: nothing\u001b[0m [1/2] in colour\n`,
  );
  const done = progressOf(parts.join("")).map((reading) => reading.done);
  assert.deepEqual(
    done,
    parts.map((_, at) => at + 1),
  );
});

test("more events than one scan holds", () => {
  const text = `${"\r\t[\n".repeat(9000)}Progress: 7/400 (0 errors), 0.3 req/s, avg completion: 400 tokens, elapsed: 29s\n`;
  const [reading, ...more] = progressOf(text);
  assert.equal(more.length, 0);
  assert.deepEqual([reading?.line, reading?.done], [9001, 7]);
});

test("real logs are read as if every line were shown to every format and rule", () => {
  for (const file of files) assert.deepEqual(read([file]), read([file], true), file.subarray(0, 300).toString());
});

test("so are their lines in other order, with other numbers, without a field, behind a prefix, in colour", () => {
  const changed = fc
    .tuple(fc.constantFrom(...lines), fc.nat(5), fc.nat(1000))
    .map(([line, how, seed]) => changes[how]?.(line, seed) ?? line);
  fc.assert(
    fc.property(
      fc.array(changed, { minLength: 1, maxLength: 12 }),
      fc.constantFrom("\n", "\n\n", "\r\n"),
      (some, end) => {
        holds(some.join(end) + end);
      },
    ),
    { numRuns: 400 },
  );
});

const changes: readonly ((line: string, seed: number) => string)[] = [
  (line) => line,
  (line) => line.replace(/ {2,}/g, " "),
  (line, seed) => line.replace(/\d/g, (digit) => String((Number(digit) * 7 + seed) % 10)),
  (line, seed) => {
    const parts = line.split(", ");
    return parts.filter((_, at) => at !== seed % parts.length).join(", ");
  },
  (line, seed) => (/^[# \d]/.test(line) ? line : `${["[rank0]: ", "INFO ", "(W pid=3) "][seed % 3] ?? ""}${line}`),
  (line) => line.replace(/[a-z]+/, "\u001b[1m$&\u001b[0m"),
];

const decimal = fc.oneof(
  fc.nat(1_000_000).map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value.toFixed(3)),
  fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value.toExponential(4)),
  fc.constantFrom("nan", "0", "00012", "1e-05", "123456789012345678901", "1.", ".5", "-3", "?", "1,234"),
);

test("the quick ways read what the formats read", () => {
  const seed = fc
    .tuple(decimal, decimal, decimal, decimal, decimal)
    .map(
      ([a, b, c, d, e]) => `Progress: ${a}/${b} (${c} errors), ${d} req/s, avg completion: ${e} tokens, elapsed: 65s`,
    );
  const dictionary = fc
    .array(
      fc.tuple(fc.constantFrom("loss", "lr", "learning_rate", "epoch", "constructor", "rewards/mean", "a b"), decimal),
    )
    .map((pairs) => `{'loss': 1.5, ${pairs.map(([key, value]) => `'${key}': ${value}`).join(", ")}}`);
  const server = fc
    .tuple(fc.constantFrom("", "(APIServer pid=4) ", "(A) ", "(EngineCore_DP0 pid=2) "), decimal, decimal, decimal)
    .map(
      ([who, a, b, c]) =>
        `${who}INFO 11-02 10:00:20 [loggers.py:127] Engine 000: Avg prompt throughput: ${a} tokens/s, Avg generation throughput: ${b} tokens/s, Running: ${c} reqs, Waiting: 0 reqs, GPU KV cache usage: ${a}%, Prefix cache hit rate: ${b}%`,
    );
  const label = fc.constantFrom(
    "",
    "Training: ",
    "Loading: ",
    "Fetching 3 files: ",
    "a.json: ",
    "user: ",
    "```x: ",
    "[rank1]: ",
    "x ",
  );
  const bar = fc
    .tuple(label, fc.nat(110), fc.constantFrom("██▎  ", "     ", "", "#1"), decimal, decimal, decimal, fc.nat(3))
    .map(
      ([name, percent, drawn, done, total, rate, form]) =>
        `${name}${String(percent).padStart(3)}%|${drawn}| ${done}/${total} [00:31<1:01:42, ${rate}${["it/s", "s/it", "B/s", "tok/s"][form] ?? ""}]`,
    );
  const bad = fc.constantFrom("bash: hf: command not found", "Traceback (most recent call last):", "ValueError: x", "");
  fc.assert(
    fc.property(fc.array(fc.oneof(seed, dictionary, server, bar, bad), { maxLength: 8 }), (some) => {
      holds(`${some.join("\n")}\n`);
      holds(some.join("\r"));
    }),
    { numRuns: 500 },
  );
});

const state = (done: number): string =>
  `\r${String(Math.floor(done / 50)).padStart(3)}%|██| ${done}/5000 [00:31<01:42, 3.73it/s]`;
const states = (count: number): string => Array.from({ length: count }, (_, done) => state(done)).join("");

test("of a long line of states the first, each 64th and the last are read", () => {
  const expected = Array.from({ length: 1001 }, (_, segment) => segment).filter(
    (segment) => (segment > 0 && segment < 256) || (segment >= 256 && segment % 64 === 0) || segment === 1000,
  );
  for (const end of ["\n", "\r\n", "\r   \r\n", "\rDone.\n", ""]) {
    const found = progressOf(states(1000) + end);
    assert.deepEqual(
      found.map((reading) => reading.segment),
      expected,
      JSON.stringify(end),
    );
    assert.equal(found.at(-1)?.done, 999);
  }
});

test("a failure is found in a state that is left out, in colour, too", () => {
  for (const words of ["bash: hf: command not found", "\u001b[31mbash: hf: \u001b[1mcommand not found\u001b[0m"]) {
    const { readings } = read([bytesOf(`${states(700)}\r${words}\r${states(700)}\n`)]);
    const found = readings.find((reading) => reading.kind === "failure");
    assert.deepEqual([found?.line, found?.segment], [1, 701]);
  }
});

test("peek sees the state that was left out last", () => {
  const reader = new LogReader();
  reader.push(bytesOf(`${states(701)}\r`));
  assert.equal(reader.peek()?.done, 700);
  reader.push(bytesOf(" 99%|██| 4950/5000 [00:31<01:42, 3.7"));
  assert.equal(reader.peek(), undefined);
  reader.push(bytesOf("3it/s]"));
  assert.equal(reader.peek()?.done, 4950);
});

test("any cut of long lines of states gives the same readings", () => {
  const bytes = bytesOf(`${states(600)}\rTraceback (most recent call last):\n${boom}${states(400)}\r\nx\n`);
  const whole = read([bytes]);
  assert.ok(whole.readings.length > 500);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 30 }), (places) => {
      assert.deepEqual(read(cut(bytes, places)), whole);
    }),
    { numRuns: 60 },
  );
});

test("lines and states that are passed over together count as they would one by one", () => {
  const pieces = [
    "nothing to see here\n",
    "\n",
    "\r\n",
    "\tindented\n",
    "2026-12-01 10:00:20 INFO 45 % of nothing\n",
    " 69% of it\n",
    "69% of it\n",
    "### 69%\n",
    "```\n",
    "a %[==> ] b\n",
    "[#a0f383 x]\n",
    " [12\r",
    " [1:02:03, \r",
    "spinning\r",
    "\u001b[1mbold\u001b[0m\n",
    "\u001b[1mbold\u001b[0m\r",
    "Progress: 7/400 (0 errors), 0.3 req/s, avg completion: 400 tokens, elapsed: 29s\n",
    "bash: hf: command not found\n",
    "bash: hf: command not found\r",
    `Traceback (most recent call last):\n${boom}`,
    "| GPU  Name  Persistence-M |\n",
    state(70),
    states(70),
    states(300),
  ];
  const many = fc.tuple(fc.nat(pieces.length - 1), fc.constantFrom(1, 1, 2, 5, 90));
  fc.assert(
    fc.property(fc.array(many, { maxLength: 12 }), fc.array(fc.nat(40_000), { maxLength: 4 }), (parts, places) => {
      const bytes = bytesOf(parts.map(([piece, count]) => (pieces[piece] ?? "").repeat(count)).join(""));
      // Of single bytes nothing is passed over.
      const whole = read([...bytes].map((byte) => Uint8Array.of(byte)));
      assert.deepEqual(read([bytes]), whole);
      assert.deepEqual(read(cut(bytes, places)), whole);
    }),
    { numRuns: 300 },
  );
});

const boom = '  File "a.py", line 1, in <module>\n    f()\nValueError: x\n';

test("room that was made for a large piece is given back, and nothing is read differently for it", () => {
  const bytes = Buffer.concat([...files, ...files]);
  const whole = read([bytes]);
  const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1500, max: 60_000 }));
  fc.assert(
    fc.property(fc.array(size, { minLength: 200, maxLength: 400 }), (sizes) => {
      const places: number[] = [];
      for (const one of sizes) places.push((places.at(-1) ?? 0) + one);
      assert.deepEqual(read(cut(bytes, places)), whole);
    }),
    { numRuns: 10 },
  );
  const kinds = new Uint8Array(4).fill(1);
  const sought = { index: new NeedleIndex(["abcdef"], kinds), kinds, lanes: new Uint8Array(4) };
  const scanner = new SegmentScanner(sought, { take: () => true }, 0);
  scanner.push(bytes);
  scanner.push(bytesOf("\na line\n"));
  assert.ok(scanner.bytes.length <= 4096, `${scanner.bytes.length}`);
});

test("a line without end is cut off where it is cut off in any chunks", () => {
  const long = bytesOf(`${"no end, ".repeat(300_000)}bash: hf: command not found\rbash: hf: command not found\n`);
  const whole = read([long]);
  assert.deepEqual(
    whole.readings.map((reading) => [reading.line, reading.segment]),
    [[1, 1]],
  );
  assert.deepEqual(read(cut(long, [1, 1000, 65_536, 1_048_575, 1_048_577, 2_000_000])), whole);
});
