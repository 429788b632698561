import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { chartCsv } from "../../src/core/session/chartCsv";
import { ChartFeed } from "../../src/core/session/chartFeed";
import { chartPlan } from "../../src/core/session/chartPlan";
import { decodeCharts, encodeCharts } from "../../src/core/session/chartRecord";
import { Envelope } from "../../src/core/session/envelope";
import { IntervalMean } from "../../src/core/session/intervalMean";
import { MetricSeries, noSeries, withSamples, type SeriesSet } from "../../src/core/session/series";
import type { Gpu } from "../../src/core/session/model";
import { Throughput } from "../../src/core/session/throughput";
import { thin } from "../../src/core/thin";
import { host, member, progress, session, stage } from "./sampleSession";

const samples = fc
  .array(fc.record({ step: fc.nat({ max: 5000 }), value: fc.oneof(fc.double({ noNaN: false }), fc.integer()) }), {
    minLength: 1,
    maxLength: 400,
  })
  .map((steps) => {
    let time = 0;
    return { times: steps.map(({ step }) => (time += step)), values: steps.map(({ value }) => value) };
  });

test("thinning keeps to its pixels, the order, both ends, the extremes and that a value is no number", () => {
  fc.assert(
    fc.property(samples, fc.integer({ min: 8, max: 100 }), ({ times, values }, columns) => {
      const [from, to] = [times[0] ?? 0, times.at(-1) ?? 0];
      const thinned = thin({ times, values }, { from, to, columns });
      const kept = [...thinned.times].map((time, index) => [time, thinned.values[index] ?? NaN] as const);
      const real = kept.filter(([time]) => !Number.isNaN(time));
      assert.ok(real.length <= 3 * (columns + 2) + 2);
      assert.equal(real[0]?.[0], from);
      assert.equal(real.at(-1)?.[0], to);
      assert.ok(real.every(([time], index) => index === 0 || time >= (real[index - 1]?.[0] ?? 0)));
      const numbers = values.filter((value) => !Number.isNaN(value)).map(Math.fround);
      const drawn = real.map(([, value]) => value).filter((value) => !Number.isNaN(value));
      assert.equal(drawn.length > 0, numbers.length > 0);
      if (numbers.length > 0) {
        assert.equal(Math.max(...drawn), Math.max(...numbers));
        assert.equal(Math.min(...drawn), Math.min(...numbers));
      }
      assert.equal(drawn.length < real.length, numbers.length < values.length);
    }),
  );
});

test("a window gets its samples and one beyond each end, and a long silence is a gap", () => {
  const times = Float64Array.from({ length: 100 }, (_, index) => index * 1000 + (index >= 50 ? 600_000 : 0));
  const thinned = thin({ times, values: times }, { from: 47_500, to: 652_500, columns: 100 });
  assert.deepEqual([...thinned.times], [47_000, 48_000, 49_000, NaN, 650_000, 651_000, 652_000, 653_000]);
  assert.deepEqual([...thinned.values], [47_000, 48_000, 49_000, NaN, 650_000, 651_000, 652_000, 653_000]);
});

test("what is new is told from where one asks, and nothing of nothing", () => {
  const times = Float64Array.of(1, 2, 3, 4);
  const window = { from: 0, to: 10, columns: 100 };
  const thinned = thin({ times, values: times }, window, 2);
  assert.deepEqual([...thinned.times], [3, 4]);
  assert.notEqual(thinned.times.buffer, times.buffer);
  assert.equal(thin({ times: [], values: [] }, window).times.length, 0);
});

test("all samples of the last moment count", () => {
  const thinned = thin({ times: [0, 0], values: [0, 1] }, { from: 0, to: 0, columns: 8 });
  assert.deepEqual([...thinned.values], [0, 1]);
});

test("columns stand still while the window moves on", () => {
  const times = Float64Array.from({ length: 5000 }, (_, index) => index * 100);
  const values = times.map((time) => Math.sin(time) * 10);
  const shown = (from: number): string[] => {
    const thinned = thin({ times, values }, { from, to: from + 300_000, columns: 150 });
    return [...thinned.times].flatMap((time, index) =>
      time > 60_000 && time < 250_000 ? [`${time} ${thinned.values[index] ?? 0}`] : [],
    );
  };
  assert.deepEqual(shown(20_000), shown(23_456));
});

test("a series stays bounded, keeps its extremes, and is the coarser the older it is", () => {
  const long = new MetricSeries("long");
  for (let at = 0; at < 100_000; at++) long.append(at, at === 777 ? 99 : at === 40_001 ? NaN : at % 7);
  assert.equal(long.appended, 100_000);
  assert.ok(long.length <= 16_384);
  const { times, values } = long;
  assert.equal(values[times.indexOf(777)], 99);
  assert.ok(Number.isNaN(values[times.indexOf(40_001)]));
  assert.deepEqual(
    [...times.subarray(-8000)],
    Array.from({ length: 8000 }, (_, index) => 92_000 + index),
  );
  const within = (from: number, to: number): number => times.filter((time) => time >= from && time < to).length;
  assert.ok(within(0, 20_000) < within(60_000, 80_000));
  assert.equal(times[long.indexAfter(99_990)], 99_990);
});

function gpu(index: number): Gpu {
  const name = "NVIDIA H200";
  return { index, name, usedBy: [], sample: { index, uuid: `GPU-${index}`, name, at: 0 }, series: noSeries };
}

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

test("throughput is that of each interval, beside its mean so far; a restart breaks both", () => {
  const counts = new MetricSeries("done");
  // Warms up from 1 to 4 a second; a new run begins at 0.
  for (let second = 0, done = 0; second <= 400; second++) {
    if (second === 301) done = 0;
    counts.append(second * 1000, done);
    done += second < 100 ? 1 : 4;
  }
  const speed = new Throughput(counts);
  speed.update();
  const at = (series: MetricSeries, second: number): number | undefined =>
    series.values[series.times.findLastIndex((time) => time <= second * 1000)];
  assert.equal(at(speed.intervals, 90), 1);
  assert.equal(at(speed.intervals, 200), 4);
  assert.ok(Math.abs((at(speed.mean, 300) ?? 0) - 3) < 0.1);
  assert.ok(speed.intervals.values.some((value) => Number.isNaN(value)));
  assert.equal(at(speed.mean, 400), 4);
  const before = speed.intervals.length;
  speed.update();
  assert.equal(speed.intervals.length, before);
});

test("an envelope holds every card's extremes, also of a card that is silent for a while", () => {
  const cards = Array.from({ length: 16 }, (_, index) => {
    const made = new MetricSeries(`gpu${index}`);
    for (let round = 0; round < 1000; round++) {
      if (index === 3 && round > 500) continue;
      made.append(round * 2000 + index * 3, index === 5 && round === 700 ? -50 : 100 + index);
    }
    return made;
  });
  const envelope = new Envelope(cards, "rounds");
  envelope.update();
  assert.equal(envelope.low.length, 1000);
  assert.equal(envelope.low.values[100], 100);
  assert.equal(envelope.high.values[100], 115);
  assert.equal(envelope.mean.values[100], 107.5);
  assert.equal(envelope.low.values[700], -50);
  assert.equal(envelope.mean.values[900], (107.5 * 16 - 103) / 15);
  cards[0]?.append(2_000_000, 1);
  envelope.update();
  assert.equal(envelope.low.values.at(-1), 1);
});

test("a page is fed what it sees, and then only what is new", () => {
  let set = noSeries;
  const first = { done: 0, rate: 1, avg_completion_tokens: 300, errors: 0 };
  set = withSamples(set, 0, first);
  set = withSamples(set, 60_000, { ...first, done: 60 });
  const reading = progress({ unit: "req", rate_unit: "req/s" });
  const open = (): ReturnType<typeof session> =>
    session([stage("inference", [member({ kind: "running" }, { series: set, progress: reading })])]);
  const target = { kind: "session", session: open().id } as const;
  const plan = chartPlan(open(), target);
  assert.deepEqual(
    plan.charts.map(({ id, title, unit }) => [id, title, unit]),
    [
      ["throughput req/s", "Throughput", { kind: "rate", unit: "req/s" }],
      ["tokens", "Completion tokens", { kind: "number" }],
      ["errors", "Errors", { kind: "number" }],
    ],
  );
  const window = { from: 0, to: 200_000, columns: 100 };
  const feed = new ChartFeed();
  assert.equal(feed.fits(plan), false);
  feed.begin(plan);
  const told = (lines: ReturnType<ChartFeed["more"]>): unknown => lines.map(({ key, values }) => [key, [...values]]);
  const inSight = new Set(["throughput req/s", "errors"]);
  const errors = "errors/stage/inference/0/errors";
  assert.deepEqual(told(feed.window(inSight, window)), [
    ["throughput req/s/stage/inference/0", [1]],
    ["throughput req/s/stage/inference/0/mean", [1]],
    [errors, [0, 0]],
  ]);
  assert.deepEqual(feed.more(window), []);
  set = withSamples(set, 120_000, { ...first, done: 240, errors: 2 });
  assert.ok(feed.fits(chartPlan(open(), target)));
  assert.deepEqual(told(feed.more(window)), [
    ["throughput req/s/stage/inference/0", [3]],
    ["throughput req/s/stage/inference/0/mean", [2]],
    [errors, [2]],
  ]);
  assert.deepEqual(told(feed.window(new Set(["errors", "tokens"]), window, true)), [
    ["tokens/stage/inference/0", [300, 300]],
  ]);
  set = withSamples(set, 180_000, { loss: 1 });
  assert.equal(feed.fits(chartPlan(open(), target)), false);
});

test("what was kept of an earlier window goes on where this one has seen more, and marks are told once", () => {
  const began = { at: 1000, kind: "started", label: "started" } as const;
  const seen = (times: readonly number[]): SeriesSet =>
    times.reduce((set, time) => withSamples(set, time, { errors: time / 1000, "odd one": 1 }), noSeries);
  const open = (times: readonly number[]): ReturnType<typeof session> =>
    session([stage("inference", [member({ kind: "running" }, { series: seen(times), marks: [began] })])]);
  const kept = decodeCharts(encodeCharts(open([1000, 2000, 3000]), new Map(), 10_000));
  assert.deepEqual([...(kept.get("stage/inference/0")?.series.keys() ?? [])], ["errors"]);
  // The log is read anew: what is older than what was kept is known already.
  const now = open([1500, 2500, 4000]);
  const plan = chartPlan(now, { kind: "session", session: now.id }, kept);
  assert.deepEqual(plan.marks, [began]);
  const feed = new ChartFeed();
  feed.begin(plan);
  const [line] = feed.window(new Set(["errors"]), { from: 0, to: 10_000, columns: 100 });
  assert.deepEqual([...(line?.times ?? [])], [1000, 2000, 3000, 4000]);
  const bytes = encodeCharts(now, kept, 10_000);
  assert.equal(decodeCharts(bytes.subarray(0, bytes.length - 1)).size, 0);
  assert.equal(decodeCharts(new TextEncoder().encode("not ours\n")).size, 0);
  assert.equal(decodeCharts(new Uint8Array()).size, 0);
});

test("what is kept is bounded", () => {
  let long = noSeries;
  for (let at = 0; at < 20_000; at++) long = withSamples(long, at * 2000, { utilisation: at % 100 });
  const gpus = Array.from({ length: 64 }, (_, index) => ({ ...gpu(index), series: long }));
  const open = session([], { hosts: new Map([["gpu8", host({ gpus })]]) });
  const bytes = encodeCharts(open, new Map(), 40_000_000);
  assert.ok(bytes.length < 8_100_000);
  const kept = decodeCharts(bytes).get("gpu/gpu8/63")?.series.get("utilisation");
  assert.equal(Math.max(...(kept?.values ?? [])), 99);
  // A week later nothing of it is kept any more but what is new.
  assert.ok(encodeCharts(open, new Map(), 700_000_000_000).length < 60_000);
});

test("CSV has every sample of the span, quoted, and no formula", () => {
  const chart = { id: "a", title: 'Loss, "all"', about: "", unit: { kind: "number" } } as const;
  const line = { key: "a", label: "=1+1", look: "line", color: 0 } as const;
  const loss = series("loss", [
    [0, 9],
    [1000, 1.25],
    [2000, NaN],
    [9000, 3],
  ]);
  const source = { kind: "plain", track: { live: loss } } as const;
  const lines = [{ chart: { ...chart, lines: [] }, line: { ...line, source }, series: loss }];
  assert.equal(
    chartCsv(lines, { from: 500, to: 2500 }),
    [
      "time,chart,line,unit,value",
      `1970-01-01T00:00:01.000Z,"Loss, ""all""",'=1+1,,1.25`,
      `1970-01-01T00:00:02.000Z,"Loss, ""all""",'=1+1,,NaN`,
      "",
    ].join("\r\n"),
  );
});
