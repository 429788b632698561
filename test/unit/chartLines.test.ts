import assert from "node:assert/strict";
import { test } from "node:test";
import { chartPlan } from "../../src/core/session/chartPlan";
import { ChartFeed } from "../../src/core/session/chartFeed";
import { Envelope } from "../../src/core/session/envelope";
import { MetricSeries, noSeries, withSamples, type SeriesSet } from "../../src/core/session/series";
import { Throughput } from "../../src/core/session/throughput";
import { member, progress, session, stage } from "./sampleSession";

test("lines that come in one read after a silence make no speed that nothing ever had", () => {
  const counts = new MetricSeries("done");
  const seconds = (at: number, done: number): void => {
    counts.append(at * 1000, done);
  };
  // Three a second, told each 10 s; two minutes of silence, then all of its lines at once, and on as before.
  for (let at = 0; at <= 100; at += 10) seconds(at, at * 3);
  const speed = new Throughput(counts);
  speed.update();
  for (let line = 110; line <= 220; line += 10) seconds(220 + line / 1000, line * 3);
  speed.update();
  for (let at = 230; at <= 300; at += 10) seconds(at, at * 3);
  speed.update();
  const speeds = [...speed.intervals.values];
  assert.ok(speeds.length > 15, `${speeds.length} speeds`);
  for (const value of speeds) assert.ok(Math.abs(value - 3) < 0.2, `a speed of ${value}`);
});

function logs(of: number, until: (member: number) => number): readonly SeriesSet[] {
  return Array.from({ length: of }, (_, index) => {
    let set = noSeries;
    for (let at = index + 1; at <= until(index); at += 10)
      set = withSamples(set, at * 1000, { done: at * 2, loss: index });
    return set;
  });
}

test("of many members the mean and what lies between the lowest and the highest is drawn, of few each", () => {
  const open = (members: number): ReturnType<typeof session> => {
    const reading = progress({ unit: "req", rate_unit: "req/s" });
    const made = logs(members, () => 600).map((series, index) =>
      member({ kind: "running" }, { name: String(index), series, progress: reading }),
    );
    return session([stage("extract", made)]);
  };
  const lines = (of: ReturnType<typeof session>, chart: string): readonly (readonly [string, string, number])[] => {
    const plan = chartPlan(of, { kind: "session", session: of.id });
    const found = plan.charts.find(({ id }) => id === chart)?.lines ?? [];
    return found.map(({ label, look, color }) => [label, look, color]);
  };
  assert.equal(lines(open(8), "loss").length, 8);
  assert.deepEqual(lines(open(16), "loss"), [
    ["extract mean of 16", "line", 0],
    ["extract lowest", "low", 0],
    ["extract highest", "high", 0],
  ]);
  assert.equal(lines(open(16), "throughput req/s").length, 3);
  const many = open(16);
  const feed = new ChartFeed();
  feed.begin(chartPlan(many, { kind: "session", session: many.id }));
  const window = { from: 0, to: 600_000, columns: 1000 };
  const loss = feed.window(new Set(["loss"]), window).map(({ values }) => [...new Set(values)]);
  assert.deepEqual(loss, [[7.5], [0], [15]]);
  const [mean, , highest] = feed.window(new Set(["throughput req/s"]), window);
  assert.ok([...(mean?.values ?? [])].every((value) => Math.abs(value - 2) < 0.01));
  assert.ok([...(highest?.values ?? [])].every((value) => Math.abs(value - 2) < 0.01));
});

test("one that has ended counts no longer, and the others go on without it", () => {
  const series = logs(3, (index) => (index === 0 ? 100 : 600)).flatMap(({ byName }) => byName.get("loss") ?? []);
  const envelope = new Envelope(series, "own");
  envelope.update();
  const at = (second: number): readonly (number | undefined)[] => {
    const index = envelope.low.times.indexOf(second * 1000);
    return [envelope.low, envelope.mean, envelope.high].map(({ values }) => values[index]);
  };
  assert.deepEqual(at(90), [0, 1, 2]);
  assert.deepEqual(at(180), [0, 1, 2]);
  assert.deepEqual(at(300), [1, 1.5, 2]);
  assert.deepEqual(at(570), [1, 1.5, 2]);
  const before = envelope.low.length;
  envelope.update();
  assert.equal(envelope.low.length, before);
});
