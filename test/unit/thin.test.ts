import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ChartFeed } from "../../src/core/session/chartFeed";
import { chartPlan } from "../../src/core/session/chartPlan";
import { IntervalMean } from "../../src/core/session/intervalMean";
import { MetricSeries, noSeries, withSamples } from "../../src/core/session/series";
import { thin } from "../../src/core/thin";
import { member, progress, session, stage } from "./sampleSession";

const samples = fc
  .array(fc.record({ step: fc.nat({ max: 5000 }), value: fc.oneof(fc.double({ noNaN: false }), fc.integer()) }), {
    minLength: 1,
    maxLength: 400,
  })
  .map((steps) => {
    let time = 0;
    return { times: steps.map(({ step }) => (time += step)), values: steps.map(({ value }) => value) };
  });

test("thinning keeps to its limit, the order, both ends, the extremes and that a line breaks", () => {
  fc.assert(
    fc.property(samples, fc.integer({ min: 8, max: 100 }), ({ times, values }, limit) => {
      const thinned = thin({ times, values }, limit);
      assert.ok(thinned.times.length <= Math.max(limit, 2));
      assert.equal(thinned.times[0], times[0]);
      assert.equal(thinned.times.at(-1), times.at(-1));
      assert.ok(thinned.times.every((time, index) => index === 0 || time >= (thinned.times[index - 1] ?? 0)));
      if (times[0] === times.at(-1)) return;
      const numbers = values.filter((value) => !Number.isNaN(value));
      const kept = [...thinned.values].filter((value) => !Number.isNaN(value));
      assert.equal(kept.length > 0, numbers.length > 0);
      if (numbers.length > 0) {
        assert.ok(Math.max(...kept) === Math.max(...numbers));
        assert.ok(Math.min(...kept) === Math.min(...numbers));
      }
      assert.equal(kept.length < thinned.values.length, numbers.length < values.length);
    }),
  );
});

test("few samples are copied as they are, from where one asks", () => {
  const times = Float64Array.of(1, 2, 3, 4);
  const thinned = thin({ times, values: times }, 100, 2);
  assert.deepEqual([...thinned.times], [3, 4]);
  assert.notEqual(thinned.times.buffer, times.buffer);
  assert.equal(thin({ times: [], values: [] }, 10).times.length, 0);
});

function series(name: string, points: readonly (readonly [number, number])[]): MetricSeries {
  const made = new MetricSeries(name);
  for (const [time, value] of points) made.append(time, value);
  return made;
}

test("the mean of each interval comes back out of the mean since the start", () => {
  // 100 of 200 tokens, then 100 of 400, then 200 of 100.
  const counts = series("done", [
    [1, 100],
    [2, 200],
    [3, 400],
  ]);
  const means = series("avg", [
    [1, 200],
    [2, 300],
    [3, 200],
  ]);
  const intervals = new IntervalMean(counts, means);
  intervals.update();
  assert.deepEqual([...intervals.series.values], [200, 400, 100]);
  counts.append(4, 800);
  intervals.update();
  assert.equal(intervals.series.length, 3);
  means.append(4, 250);
  intervals.update();
  assert.deepEqual([...intervals.series.values], [200, 400, 100, 300]);
});

test("a restart breaks the line, and intervals too short for the rounding are joined", () => {
  const counts = series("done", [
    [1, 10_000],
    [2, 10_001],
    [3, 20_000],
    [4, 5],
    [5, 10],
  ]);
  const means = series("avg", [
    [1, 300],
    [2, 301],
    [3, 310],
    [4, 90],
    [5, 100],
  ]);
  const intervals = new IntervalMean(counts, means);
  intervals.update();
  assert.deepEqual([...intervals.series.times], [1, 3, 4, 5]);
  assert.deepEqual([...intervals.series.values], [300, 320, NaN, 100]);
});

test("however the run goes, each interval's mean is within the tolerance of the truth", () => {
  const parts = fc.array(
    fc.record({ items: fc.integer({ min: 1, max: 500 }), mean: fc.integer({ min: 50, max: 2000 }) }),
    {
      minLength: 2,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(parts, (all) => {
      let [done, sum] = [0, 0];
      const truth = new Map<number, readonly [number, number]>();
      const [counts, means] = [new MetricSeries("done"), new MetricSeries("avg")];
      for (const [at, { items, mean }] of all.entries()) {
        done += items;
        sum += items * mean;
        truth.set(at, [done, sum]);
        counts.append(at, done);
        means.append(at, Math.round(sum / done));
      }
      const intervals = new IntervalMean(counts, means);
      intervals.update();
      const ends = [...intervals.series.times];
      for (const [index, end] of ends.entries()) {
        const [count, total] = truth.get(end) ?? [0, 0];
        const [before, earlier] = index === 0 ? [0, 0] : (truth.get(ends[index - 1] ?? -1) ?? [0, 0]);
        const exact = (total - earlier) / (count - before);
        const runMean = total / count;
        assert.ok(Math.abs((intervals.series.values[index] ?? NaN) - exact) <= 0.06 * runMean + 1);
      }
    }),
  );
});

test("a page is fed all once and then only what is new", () => {
  let set = noSeries;
  const first = { done: 10, rate: 1, avg_completion_tokens: 300 };
  set = withSamples(set, 1, first);
  const open = (): ReturnType<typeof session> =>
    session([
      stage("inference", [member({ kind: "running" }, { series: set, progress: progress({ rate_unit: "req/s" }) })]),
    ]);
  const target = { kind: "session", session: open().id } as const;
  const plan = chartPlan(open(), target);
  assert.deepEqual(
    plan.charts.map(({ title, unit }) => [title, unit]),
    [
      ["Throughput", { kind: "rate", unit: "req/s" }],
      ["Completion tokens", { kind: "number" }],
    ],
  );
  const feed = new ChartFeed(100);
  assert.equal(feed.fits(plan), false);
  assert.deepEqual(
    feed.whole(plan).map(({ key }) => key),
    ["inference/rate", "inference/tokens"],
  );
  assert.deepEqual(feed.more(), []);
  set = withSamples(set, 2, { ...first, done: 20, rate: 2 });
  assert.ok(feed.fits(chartPlan(open(), target)));
  assert.deepEqual(
    feed.more().map(({ key, values }) => [key, [...values]]),
    [
      ["inference/rate", [2]],
      ["inference/tokens", [300]],
    ],
  );
  set = withSamples(set, 3, { errors: 1 });
  assert.equal(feed.fits(chartPlan(open(), target)), false);
});
