import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { newSession } from "../../src/core/session/apply";
import type { Session } from "../../src/core/session/model";
import { keepSeriesWithin } from "../../src/core/session/seriesBudget";
import { MetricSeries } from "../../src/core/session/series";
import { SeriesCursor } from "../../src/core/session/seriesCursor";
import { definition, stage } from "./sessions";

const step = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 400 }).map((samples) => ({ samples })) },
  { weight: 1, arbitrary: fc.constantFrom(64, 128, 512, 16_384).map((limit) => ({ limit })) },
);

test("a series that must make do with less keeps its extremes, its newest samples and their order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.infiniteStream(fc.double({ noNaN: true })), (steps, numbers) => {
      const series = new MetricSeries("x");
      const cursor = new SeriesCursor(series);
      const all: number[] = [];
      const seen: number[] = [];
      let most = 16_384;
      for (const one of steps) {
        if ("limit" in one) {
          most = one.limit;
          series.limit(most);
        } else {
          for (let n = 0; n < one.samples; n++) {
            const value = Number(numbers.next().value);
            series.append(all.length, value);
            all.push(value);
            // Whoever looks at each sample as it comes sees each of them once.
            const { values } = cursor.rest();
            seen.push(...values);
            cursor.pass(values.length);
          }
        }
        const { times, values, length } = series;
        assert.ok(length <= most && times.length === length && values.length === length);
        for (const [index, time] of times.entries()) assert.equal(values[index], all[time]);
        assert.ok(times.every((time, index) => index === 0 || time > (times[index - 1] ?? Infinity)));
        const raw = Math.floor(length / 2);
        const last = all.map((_, n) => n).slice(all.length - raw);
        assert.deepEqual([...times].slice(length - raw), last);
        assert.equal(Math.min(...values), Math.min(...all));
        assert.equal(Math.max(...values), Math.max(...all));
        assert.equal(series.appended, all.length);
      }
      assert.deepEqual(seen, all);
    }),
    { numRuns: 50 },
  );
});

test("a value that is none stays where it was, however little is kept", () => {
  const series = new MetricSeries("loss");
  for (let time = 0; time < 3000; time++) series.append(time, time === 100 ? NaN : Math.sin(time));
  series.limit(64);
  assert.ok(series.values.some((value, index) => Number.isNaN(value) && series.times[index] === 100));
});

/** A session with so many series, each with so many samples. */
function sessionWith(series: readonly MetricSeries[]): Session {
  const session = newSession("s", definition(stage("a")), 0);
  const one = session.stages.get("a");
  assert.ok(one);
  const byName = new Map(series.map((each) => [each.name, each]));
  const members = one.members.map((member) => ({ ...member, series: { byName } }));
  return { ...session, stages: new Map([["a", { ...one, members }]]) };
}

function seriesOf(count: number, samples: number): MetricSeries[] {
  return Array.from({ length: count }, (_, n) => {
    const series = new MetricSeries(`metric ${n}`);
    for (let time = 0; time < samples; time++) series.append(time, time % 97);
    return series;
  });
}

test("many metrics share one budget; the small ones keep all they have", () => {
  const [large, small] = [seriesOf(20, 5000), seriesOf(5, 100)];
  const session = sessionWith([...large, ...small.map((series, n) => Object.assign(series, { name: `small ${n}` }))]);
  const budget = 20 * 2048 * 16 + 5 * 128 * 16;
  keepSeriesWithin([session], budget);
  for (const series of large) assert.ok(series.length <= 2048 && series.length > 1024, `${series.length}`);
  for (const series of small) assert.equal(series.length, 100);
  // It stays so while they grow, and does not swing.
  for (const series of large) for (let time = 5000; time < 9000; time++) series.append(time, 1);
  keepSeriesWithin([session], budget);
  for (const series of large) assert.ok(series.length <= 2048 && series.length > 1024, `${series.length}`);
});

test("what is alone has all its room again", () => {
  const series = seriesOf(20, 5000);
  keepSeriesWithin([sessionWith(series)], 20 * 2048 * 16);
  const [first] = series;
  assert.ok(first);
  keepSeriesWithin([sessionWith([first])], 20 * 2048 * 16);
  const kept = first.length;
  for (let time = 5000; time < 15_000; time++) first.append(time, 1);
  assert.equal(first.length, kept + 10_000);
});
