import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { cleanText, LineSplitter, type Piece } from "../../src/core/log/lines";
import { LogReader } from "../../src/core/log/reader";
import type { Reading } from "../../src/core/log/reading";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function split(
  chunks: readonly Uint8Array[],
  offset = 0,
): { text: string; line: number; segment: number; offset: number; end: number }[] {
  const splitter = new LineSplitter(offset);
  const found: ReturnType<typeof split> = [];
  const take = (piece: Piece): void => {
    found.push({
      text: cleanText(piece.bytes),
      line: piece.line,
      segment: piece.segment,
      offset: piece.lineOffset,
      end: piece.endOffset,
    });
  };
  for (const chunk of chunks) splitter.push(chunk, take);
  const rest = splitter.flush();
  if (rest !== undefined) take(rest);
  return found;
}

/** The bytes cut at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...places].sort((a, b) => a - b);
  return [...sorted, bytes.length].map((end, at) => bytes.slice(at === 0 ? 0 : sorted[at - 1], end));
}

function read(chunks: readonly Uint8Array[]): { readings: Reading[]; verdict: string } {
  const reader = new LogReader({ offset: 1000 });
  const readings = chunks.flatMap((chunk) => [...reader.push(chunk)]);
  readings.push(...reader.flush());
  return { readings, verdict: reader.verdict() };
}

const fixtures = ["progress", "failures", "captures"].flatMap((folder) =>
  readdirSync(`test/fixtures/log/${folder}`)
    .filter((name) => !name.endsWith(".jsonl"))
    .map((name) => readFileSync(`test/fixtures/log/${folder}/${name}`)),
);

test("lines, segments and byte offsets", () => {
  assert.deepEqual(split([bytesOf("ab\rc\r\n\né")], 10), [
    { text: "ab", line: 1, segment: 0, offset: 10, end: 13 },
    { text: "c", line: 1, segment: 1, offset: 10, end: 15 },
    { text: "", line: 1, segment: 2, offset: 10, end: 16 },
    { text: "", line: 2, segment: 0, offset: 16, end: 17 },
    { text: "é", line: 3, segment: 0, offset: 17, end: 19 },
  ]);
});

test("control sequences, backspaces, NULs and broken UTF-8", () => {
  assert.equal(cleanText(bytesOf("\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007")), "red link");
  assert.equal(cleanText(bytesOf("abc\b\b\bX")), "Xbc");
  assert.equal(cleanText(new Uint8Array([0, 0, 104, 0, 105, 0])), "hi");
  assert.equal(cleanText(new Uint8Array([0xff, 104, 0xe2, 0x96])), "\ufffdh\ufffd");
  assert.equal(cleanText(bytesOf("cut \u001b[38;2;1")), "cut ");
  assert.equal(cleanText(bytesOf(`open \u001b]0;${"x".repeat(10)}`)), "open 0;xxxxxxxxxx");
});

test("an endless line is capped and offsets stay true", () => {
  const long = new Uint8Array(3 << 20).fill(65);
  const found = split([long, bytesOf("\nnext\n")]);
  assert.equal(found[0]?.text.length, 1 << 20);
  assert.deepEqual(found[1], { text: "next", line: 2, segment: 0, offset: long.length + 1, end: long.length + 6 });
});

test("any cut of any bytes gives the same pieces", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 12 }), (noise, places) => {
      const bytes = noise.map((byte) => (byte < 40 ? 10 : byte < 70 ? 13 : byte < 80 ? 27 : byte));
      assert.deepEqual(
        split(
          cut(
            bytes,
            places.map((at) => at % (bytes.length + 1)),
          ),
        ),
        split([bytes]),
      );
    }),
  );
});

test("any cut of any fixture gives the same readings and verdict", () => {
  const whole = fixtures.map((bytes) => read([bytes]));
  fc.assert(
    fc.property(
      fc.nat(fixtures.length - 1),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
      (index, places) => {
        const bytes = fixtures[index] ?? new Uint8Array();
        assert.deepEqual(
          read(
            cut(
              bytes,
              places.map((at) => Math.floor(at * bytes.length)),
            ),
          ),
          whole[index],
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("byte by byte gives the same readings", () => {
  for (const bytes of fixtures.slice(0, 12)) {
    assert.deepEqual(read([...bytes].map((byte) => new Uint8Array([byte]))), read([bytes]));
  }
});
