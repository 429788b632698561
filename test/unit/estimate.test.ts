import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { estimate, type ProgressRow } from "../../src/core/session/estimate";
import { inputsOf } from "../../src/core/session/estimateInputs";
import { situationOf } from "../../src/core/session/estimateSituation";
import { center, layers, scale } from "../../src/core/session/estimateWeights";

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

// -- What holds for every run

const irregular = fc.array(
  fc.record({ gap: fc.integer({ min: 1, max: 600 }), work: fc.integer({ min: 0, max: 50 }) }),
  {
    minLength: 4,
    maxLength: 120,
  },
);

function rowsFrom(steps: readonly { readonly gap: number; readonly work: number }[], total: number): ProgressRow[] {
  let t = 0;
  let done = 0;
  return steps.map(({ gap, work }) => ({ t: (t += gap), done: (done += work), total }));
}

function close(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
}

test("a clock that runs twice as slow doubles the time left", () => {
  fc.assert(
    fc.property(irregular, fc.constantFrom(0.5, 2, 64), fc.nat(500), (steps, k, age) => {
      const rows = rowsFrom(steps, 10_000);
      const now = (rows[rows.length - 1]?.t ?? 0) + age;
      const plain = estimate(rows, now);
      const scaled = estimate(
        rows.map((row) => ({ ...row, t: row.t * k })),
        now * k,
      );
      assert.equal(plain === null, scaled === null);
      if (plain && scaled)
        for (const key of ["eta", "lo", "hi"] as const) assert.ok(close(plain[key] * k, scaled[key]));
    }),
  );
});

test("the zero of the clock does not matter", () => {
  fc.assert(
    fc.property(irregular, fc.constantFrom(-4096, 1_048_576, 1_767_225_600), fc.nat(500), (steps, zero, age) => {
      const rows = rowsFrom(steps, 10_000);
      const now = (rows[rows.length - 1]?.t ?? 0) + age;
      const plain = estimate(rows, now);
      const moved = estimate(
        rows.map((row) => ({ ...row, t: row.t + zero })),
        now + zero,
      );
      assert.equal(plain === null, moved === null);
      if (plain && moved) for (const key of ["eta", "lo", "hi"] as const) assert.ok(close(plain[key], moved[key]));
    }),
  );
});

test("a larger unit of work does not matter", () => {
  const rows = rowsFrom(
    Array.from({ length: 80 }, (_, i) => ({ gap: 5 + (i % 7), work: 3 + (i % 4) })),
    900,
  );
  const bytes = rows.map((row) => ({ t: row.t, done: row.done * 2 ** 30, total: row.total * 2 ** 30 }));
  const [plain, scaled] = [estimate(rows, 700), estimate(bytes, 700)];
  assert.ok(plain && scaled && close(plain.eta, scaled.eta) && close(plain.hi, scaled.hi));
});

// -- Kinds of runs

test("work goes on between two lines of a steady run, and a silence beyond that moves the finish", () => {
  const rows = steady(50, 2, 10_000);
  const at = (now: number) => estimate(rows, now)?.eta ?? Number.NaN;
  assert.ok(Math.abs(at(490) - at(495) - 5) < 0.1);
  assert.ok(at(495) > at(499));
  assert.equal(at(700), at(900));
});

test("a single pause is not extrapolated", () => {
  const rows = steady(100, 1, 2000).map((row) => (row.t > 500 ? { ...row, t: row.t + 400 } : row));
  const found = estimate(rows, 1390);
  assert.ok(found && Math.abs(found.eta - 1010) < 50, JSON.stringify(found));
});

test("batches that land together are counted by the time of a batch", () => {
  const rows = Array.from({ length: 20 }, (_, i) => ({ t: i * 55, done: i * 256, total: 51_200 }));
  const found = estimate(rows, 19 * 55 + 30);
  assert.ok(found && Math.abs(found.eta - (181 * 55 - 30)) < 60, JSON.stringify(found));
});

test("a rate that halves for good is followed once it is clear", () => {
  const before = Array.from({ length: 60 }, (_, i) => ({ t: i * 10, done: i * 20, total: 4000 }));
  const after = Array.from({ length: 40 }, (_, i) => ({ t: 600 + i * 10, done: 1190 + i * 10, total: 4000 }));
  const found = estimate([...before, ...after], 990);
  const truth = 4000 - 1580;
  assert.ok(found && Math.abs(found.eta - truth) / truth < 0.1, JSON.stringify(found));
});

test("the last items of a long tail are believed when they come slowly one after the other", () => {
  const body = Array.from({ length: 99 }, (_, i) => ({ t: i * 10, done: i * 10, total: 1000 }));
  const tail = [1, 2, 3, 4].map((i) => ({ t: 980 + i * 60, done: 980 + i * 3, total: 1000 }));
  const found = estimate([...body, ...tail], 1220);
  assert.ok(found && Math.abs(found.eta - 160) < 40, JSON.stringify(found));
});

test("a restart from a checkpoint keeps the rate and leaves out the time down", () => {
  const before = steady(60, 1, 2000);
  const after = Array.from({ length: 5 }, (_, i) => ({ t: 1500 + i * 10, done: 560 + i * 10, total: 2000 }));
  const found = estimate([...before, ...after], 1540);
  assert.ok(found && Math.abs(found.eta - 1400) < 20, JSON.stringify(found));
});

test("a count that falls to the beginning is a new run: the old rate says nothing", () => {
  const again = [0, 1, 2, 3].map((i) => ({ t: 1000 + i * 10, done: i * 5, total: 2000 }));
  assert.equal(estimate([...steady(60, 1, 2000), ...again.slice(0, 1)], 1000), null);
  const found = estimate([...steady(60, 1, 2000), ...again], 1030);
  assert.ok(found && Math.abs(found.eta - 1985 * 2) < 40, JSON.stringify(found));
});

test("a resumed run is judged by what it did since, not by where it began", () => {
  const rows = Array.from({ length: 20 }, (_, i) => ({ t: i * 10, done: 6000 + i * 4, total: 10_000 }));
  const found = estimate(rows, 190);
  assert.ok(found && Math.abs(found.eta - (4000 - 76) / 0.4) < 10, JSON.stringify(found));
});

test("a total that grows makes the time left longer and keeps the rate", () => {
  const rows = steady(50, 2, 10_000).map((row, i) => ({ ...row, total: 5000 + i * 100 }));
  const found = estimate(rows, 490);
  assert.ok(found && Math.abs(found.eta - (9900 - 980) / 2) < 1, JSON.stringify(found));
});

// -- What is corrected by the fitted table

/** A run whose rate changes evenly over time, with uneven steps that are the same each time. */
function drifting(perSecond: number, change: number, seconds: number): readonly ProgressRow[] {
  let done = 0;
  return Array.from({ length: Math.floor(seconds / 10) }, (_, i) => {
    const wobble = 1 + 0.06 * Math.sin(i * 2.3) + 0.04 * Math.sin(i * 0.7);
    done += 10 * perSecond * wobble * (1 + (change * i * 10) / seconds);
    return { t: i * 10, done: Math.round(done), total: 0 };
  });
}

test("a rate that has fallen all the time is expected to go on falling, one that has risen to go on rising", () => {
  for (const change of [-0.6, 1.2]) {
    const whole = drifting(20, change, 6000);
    const total = whole.at(-1)?.done ?? 0;
    const rows = whole.filter(({ t }) => t <= 3000).map((row) => ({ ...row, total }));
    const last = rows.at(-1);
    const before = rows.at(-30);
    assert.ok(last && before);
    const found = estimate(rows, last.t);
    const atTheNewestRate = ((total - last.done) * (last.t - before.t)) / (last.done - before.done);
    const truth = 5990 - last.t;
    assert.ok(found && Math.abs(found.eta - truth) < Math.abs(atTheNewestRate - truth), JSON.stringify(found));
  }
});

test("the table fits the inputs, which are finite whatever the rows", () => {
  const sizes = layers.map(({ offsets }) => offsets.length);
  assert.equal(center.length, scale.length);
  layers.forEach(({ weights, steps, offsets }, i) => {
    assert.equal(steps.length, offsets.length);
    assert.equal(atob(weights).length, offsets.length * (i === 0 ? center.length : (sizes[i - 1] ?? 0)));
  });
  assert.equal(sizes.at(-1), 3);
  fc.assert(
    fc.property(irregular, fc.nat(5000), fc.nat(5000), (steps, left, age) => {
      const worked = steps.reduce((sum, { work }) => sum + work, 0);
      const rows = rowsFrom(steps, worked + left);
      const situation = situationOf(rows, (rows.at(-1)?.t ?? 0) + age);
      if (!situation) return;
      const inputs = inputsOf(situation);
      assert.equal(inputs.length, center.length);
      assert.ok(inputs.every(Number.isFinite), JSON.stringify(inputs));
    }),
  );
});

// -- Recorded and composed runs, asked at 5 %, 10 % ... 95 % of their true duration

const recorded = [
  { file: "01-warmup-ramp.csv", finish: 6573.3 },
  { file: "02-long-tail.csv", finish: 9000 },
  { file: "03-restart-checkpoint.csv", finish: 28_464.7 },
  { file: "04-bursty-256.csv", finish: 11_705.3 },
  { file: "06-download-steps.csv", finish: 1045 },
  { file: "08-rate-halves.csv", finish: 4136.4 },
] as const;

function askedAlong(file: string, finish: number) {
  const rows = readFileSync(`test/fixtures/eta/${file}`, "utf8")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [t, done, total] = line.split(",").map(Number);
      return { t: t ?? 0, done: done ?? 0, total: total ?? 0 };
    });
  const asked = Array.from({ length: 19 }, (_, i) => {
    const now = (finish * (i + 1)) / 20;
    const found = estimate(
      rows.filter((row) => row.t <= now),
      now,
    );
    const left = finish - now;
    return {
      error: found ? Math.abs(found.eta - left) / left : 1,
      within: found !== null && found.lo <= left && left <= found.hi,
    };
  });
  const errors = asked.map((each) => each.error).sort((a, b) => a - b);
  const covered = asked.filter((each) => each.within).length / asked.length;
  return { median: errors[9] ?? 1, p90: errors[17] ?? 1, covered };
}

test("six runs are foreseen as well as docs/eta.md says", () => {
  const scores = recorded.map(({ file, finish }) => askedAlong(file, finish));
  const meanOf = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const figures = JSON.stringify(scores);
  assert.ok(meanOf(scores.map((score) => score.median)) <= 0.12, figures);
  assert.ok(meanOf(scores.map((score) => score.p90)) <= 0.45, figures);
  assert.ok(Math.max(...scores.map((score) => score.median)) <= 0.4, figures);
  const covered = meanOf(scores.map((score) => score.covered));
  assert.ok(covered >= 0.7 && covered <= 0.9, figures);
});

test("evaluations that come back after the same work are added up, not smeared over the rest or forgotten", () => {
  const total = 5000;
  const states: ProgressRow[] = [];
  let t = 0;
  for (let done = 0; done <= total; done += 10) {
    states.push({ t, done, total });
    t += 10;
    // Evaluated after each 500, but not at the very end.
    if ((done + 10) % 500 === 0 && done + 10 < total) t += 300;
  }
  const end = states.at(-1)?.t ?? 0;
  for (const share of [0.35, 0.5, 0.75, 0.9]) {
    const rows = states.filter(({ done }) => done <= share * total);
    const now = rows.at(-1)?.t ?? 0;
    const found = estimate(rows, now);
    assert.ok(
      found && Math.abs(found.eta - (end - now)) / (end - now) < 0.03,
      `${share}: ${found?.eta ?? 0}, ${end - now}`,
    );
  }
  // One long stop is no habit.
  const once = steady(100, 1, 2000).map((row, i) => (i > 40 ? { ...row, t: row.t + 900 } : row));
  const found = estimate(once, once.at(-1)?.t ?? 0);
  assert.ok(found && found.eta < 1200);
});
