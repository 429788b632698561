// What is kept of the logs that are followed: the newest bytes, little beside them, and lines only where somebody looks.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FollowedLogs } from "../../src/core/followedLogs";
import { ByteTail } from "../../src/core/log/byteTail";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("the tail of a file is its last bytes, from any place on, whatever the pieces were", () => {
  const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(40_000)), { maxLength: 20 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(sizes, fc.nat(1000), fc.nat(100_000), share, (all, begin, most, part) => {
      const tail = new ByteTail();
      tail.reset(begin);
      const pieces = all.map((size, n) => Buffer.alloc(size, `${n} `));
      for (const piece of pieces) tail.push(piece, most);
      const whole = Buffer.concat(pieces);
      const kept = tail.end - tail.start;
      assert.equal(tail.end, begin + whole.length);
      // A block more than was asked for, at most.
      assert.ok(kept >= Math.min(most, whole.length) && kept <= most + 40_000);
      assert.equal(tail.isCut, tail.start > begin);
      const from = Math.floor(tail.start + part * kept);
      const given = [...tail.from(from)];
      if (given[0]) assert.equal(given[0].offset, from);
      assert.ok(Buffer.concat(given.map(({ data }) => data)).equals(whole.subarray(from - begin)));
    }),
    { numRuns: 50, examples: [[[100, 40_000, 0, 5], 7, 0, 0.5]] },
  );
});

test("what was given out of a tail does not change when more comes", () => {
  const tail = new ByteTail();
  tail.push(bytesOf("one\n"), 100);
  const [given] = tail.from(0);
  tail.push(bytesOf("two\n"), 100);
  assert.deepEqual(given?.data, bytesOf("one\n"));
});

test("of a piece that is larger than what is to be kept the rest takes no memory", () => {
  const tail = new ByteTail();
  tail.reset(100);
  tail.push(Buffer.alloc(1_000_000, "before "), 300_000);
  const piece = new Uint8Array(2_000_000).map((_, n) => n);
  tail.push(piece, 300_000);
  assert.equal(tail.end, 3_000_100);
  assert.ok(tail.isCut);
  const kept = [...tail.from(0)];
  assert.equal(
    kept.reduce((sum, { data }) => sum + data.buffer.byteLength, 0),
    300_000,
  );
  assert.deepEqual(Buffer.concat(kept.map(({ data }) => data)), Buffer.from(piece.subarray(-300_000)));
  assert.equal(kept[0]?.offset, 3_000_100 - 300_000);
});

test("a log shows the same lines whether it is looked at before they come or after", () => {
  const ref = { stage: "a", member: "0" };
  const logs = new FollowedLogs();
  const [early, late] = [logs.of("early", ref), logs.of("late", ref)];
  for (const log of [early, late]) log.reset(100, 0);
  assert.equal(early.text, "");
  for (const log of [early, late]) for (const part of ["one\nt", "wo\n", "bar 1 %\rbar 2 %"]) log.push(bytesOf(part));
  assert.equal(late.text, "one\ntwo\nbar 2 %");
  assert.equal(late.text, early.text);
  assert.equal(late.startOffset, 100);
  assert.equal(late.lineAt(105), 1);
  late.push(bytesOf("\nthree\n"));
  assert.equal(late.text, "one\ntwo\nbar 2 %\nthree\n");
});

test("of many logs less is kept of each, from the beginning of a line on", () => {
  const logs = new FollowedLogs();
  const line = `${"x".repeat(99)}\n`;
  const all = Array.from({ length: 300 }, (_, n) => logs.of("s", { stage: `job${n}`, member: "0" }));
  let most = 0;
  for (const log of all.slice(0, 3)) {
    log.reset(0, 0);
    for (let n = 0; n < 5000; n++) log.push(bytesOf(line));
    most = Math.max(most, 500_000 - log.keptFrom);
    assert.equal(log.startOffset % line.length, 0);
    assert.equal(log.startOffset - log.keptFrom <= line.length, true);
    assert.ok(log.text.startsWith(line));
  }
  assert.ok(most >= 256 * 1024 && most < 300 * 1024, `${most} bytes are kept`);
});
