import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { estimate } from "../../src/core/session/estimate";

const steady = (rows: number, rate: number, total: number) =>
  Array.from({ length: rows }, (_, i) => ({ t: i * 10, done: i * 10 * rate, total }));

test("nothing is said before there is something to say", () => {
  assert.equal(estimate([], 0), null);
  assert.equal(estimate([{ t: 1, done: 1, total: 100 }], 2), null);
  assert.equal(
    estimate(
      [1, 2, 3, 4].map((t) => ({ t, done: 5, total: 100 })),
      5,
    ),
    null,
  );
});

test("a steady run is foreseen exactly", () => {
  const found = estimate(steady(50, 2, 10_000), 490);
  assert.ok(found && Math.abs(found.eta - (10_000 - 980) / 2) < 1, JSON.stringify(found));
});

test("a run that warms up is not judged by its first minute: the naive mean says twice as long", () => {
  const rows = steady(30, 0.6, 25_000).concat(
    Array.from({ length: 60 }, (_, i) => ({ t: 300 + i * 10, done: 174 + i * 32, total: 25_000 })),
  );
  const last = rows[rows.length - 1];
  assert.ok(last);
  const truth = (25_000 - last.done) / 3.2;
  const found = estimate(rows, last.t);
  assert.ok(found && Math.abs(found.eta - truth) / truth < 0.15, `${found?.eta ?? 0} is far from ${truth}`);
  assert.ok(found.lo <= truth && truth <= found.hi);
});

test("many lines of one second say nothing about the time left", () => {
  const rows = [1, 2, 3, 4, 5, 6].map((done) => ({ t: 7, done: done * 60, total: 25_000 }));
  assert.equal(estimate(rows, 7), null);
});

test("a finished run has no time left", () => {
  assert.deepEqual(estimate([{ t: 0, done: 5, total: 5 }], 3), { eta: 0, lo: 0, hi: 0 });
});

test("whatever the rows, the answer is null or a finite range around a finite figure", () => {
  const row = fc.record({
    t: fc.double({ min: 0, max: 1e9, noNaN: true }),
    done: fc.double({ min: -10, max: 1e12, noNaN: true }),
    total: fc.double({ min: -1, max: 1e12, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.double({ min: 0, max: 2e9, noNaN: true }), (rows, now) => {
      const found = estimate(
        [...rows].sort((a, b) => a.t - b.t),
        now,
      );
      if (!found) return;
      assert.ok(
        [found.eta, found.lo, found.hi].every((x) => Number.isFinite(x) && x >= 0),
        JSON.stringify(found),
      );
      assert.ok(found.lo <= found.eta && found.eta <= found.hi, JSON.stringify(found));
    }),
    { numRuns: 500 },
  );
});
