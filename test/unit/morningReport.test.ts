import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SessionEvent } from "../../src/core/session/events";
import { morningReport, reportSummary } from "../../src/core/session/morningReport";
import { gainOf, gpuUse, longestStill, meanOf, seenPart, silences } from "../../src/core/session/reportFigures";
import { MetricSeries } from "../../src/core/session/series";
import { sparkline } from "../../src/core/session/sparkline";
import { definition, ended, failure, ofStage, play, progress, record, records, stage } from "./sessions";

const hour = 3_600_000;
const evening = new Date(2026, 11, 1, 20, 0).getTime();
const morning = evening + 12 * hour;
const span = { from: evening, to: morning };

const sample = (at: number, index: number, utilisation: number): SessionEvent => ({
  type: "gpus",
  at,
  host: "gpu8",
  report: { kind: "samples", samples: [{ index, uuid: "GPU-1", name: "H200", at, utilisation, memoryUsedMib: 70_000, memoryTotalMib: 140_000 }] }, // prettier-ignore
});

/** An extraction that fails at 23:00, a training that runs, and a GPU that works for 3 of 6 hours and is then not seen. */
function night(): ReturnType<typeof play> {
  const def = definition(stage("extract"), stage("train"), stage("eval", { needs: ["train"] }));
  const began = records(
    evening + 1000,
    record("extract", { startedAt: evening }),
    record("train", { startedAt: evening }),
  );
  const train = Array.from({ length: 60 }, (_, at): SessionEvent => ({
    type: "progress",
    at: evening + at * 60_000,
    ...ofStage("train"),
    reading: progress(at, 1000, { rate: 2, rate_unit: "it/s" }),
  }));
  const gpu = Array.from({ length: 360 }, (_, at) => sample(evening + at * 60_000, 0, at < 180 ? 90 : 0));
  const died: SessionEvent = { type: "failure", at: evening + 3 * hour, ...ofStage("extract"), reading: failure({ cause: "the disk `/data` is full [x](http://evil.example) <b>" }) }; // prettier-ignore
  const end = { exit: { kind: "code", code: 1 } as const, at: evening + 3 * hour };
  const gone = records(evening + 3 * hour, ended("extract", 1, { startedAt: evening, end }));
  return play(def, began, ...train, ...gpu, died, gone, { type: "tick", at: evening + 3 * hour + 20_000 });
}

test("says what ran, what failed first and why, how fast it was, how the GPUs were used, and what nobody saw", () => {
  const text = morningReport(night(), span);
  assert.match(text, /^# night: .*20:00 to 08:00\n/);
  assert.match(text, /## What failed first\n\n\*\*extract\*\*, .*23:00: the disk/);
  assert.match(text, /\| extract \| .*20:00 \| 3 h.* \| {2}\| failed/);
  assert.match(text, /\| train \| .*20:00 \| 12 h/);
  assert.match(
    text,
    /\*\*train\*\*: 59 .*done from .*20:00 to .*20:59: 60 s.{1,2}\w+ with all pauses\. Its log says 2 it\/s on average, .*20:00 to .*20:59\.\n\n!\[Speed of train\]\(data:image\/svg\+xml;utf8,%3Csvg/,
  );
  assert.match(text, /\*\*3 of 6 GPU hours idle\*\* \(utilisation under 5 %\); 6 more were not seen\./);
  assert.match(text, /\| gpu8 0 \| 45 % \| 3 h \| .*23:00 to .*01:59 \| 68 \/ 137 GB \|/);
  assert.match(text, /gpu8 was not seen from .*01:59 to 08:00/);
  assert.equal(reportSummary(night(), span), "1 failed, 1 running");
});

test("a picture has the width of what was seen, however short that was", () => {
  const speed = new MetricSeries("rate");
  for (let at = 0; at < 40; at++) speed.append(morning - 40_000 + at * 1000, 10 + (at % 5));
  const seen = seenPart(speed, span);
  assert.deepEqual(seen, { from: morning - 40_000, to: morning - 1000 });
  assert.ok((sparkline(speed, seen).match(/L\d/g) ?? []).length >= 39);
  assert.equal(seenPart(speed, { from: 0, to: 1 }), undefined);
});

test("what comes from a host is text, and no address but our own pictures is in it", () => {
  const text = morningReport(night(), span).replaceAll(/\(data:image\/svg\+xml;utf8,[A-Za-z0-9%.~_*!-]+\)/g, "");
  assert.doesNotMatch(text, /(^|[^\\])\]\(|(^|[^\\])<b>|data:/);
});

test("has nothing to say of a quiet night, and says what it can of an empty session", () => {
  const quiet = play(definition(stage("a")));
  assert.equal(reportSummary(quiet, span), undefined);
  assert.match(morningReport(quiet, span), /^# night: .*\n\n- \*\*a\*\*: not started\n$/);
  // Older than the night.
  assert.equal(reportSummary(night(), { from: morning, to: morning + hour }), undefined);
});

test("a run that ended while no window was open counts by the time in its record", () => {
  const end = { exit: { kind: "code", code: 0 } as const, at: evening + hour };
  const seen = play(definition(stage("a")), records(morning, ended("a", 0, { startedAt: evening, end })));
  assert.equal(reportSummary(seen, span), "1 finished");
  assert.equal(reportSummary(seen, { from: evening + 2 * hour, to: morning }), undefined);
});

const series = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 200_000 }), fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(NaN))), { minLength: 1, maxLength: 80 })
  .map((steps) => {
    const made = new MetricSeries("utilisation");
    let at = 1000;
    for (const [step, value] of steps) made.append((at += step), value);
    return made;
  }); // prettier-ignore

test("hours are never more than there were, idle ones never more than those seen", () => {
  fc.assert(
    fc.property(series, fc.nat(10_000_000), fc.nat(10_000_000), (utilisation, a, b) => {
      const part = { from: Math.min(a, b), to: Math.max(a, b) };
      const gpu = { index: 0, name: "x", usedBy: [], sample: { index: 0, uuid: "GPU-1", name: "x", at: 0 }, series: { byName: new Map([["utilisation", utilisation]]) } }; // prettier-ignore
      const use = gpuUse(gpu, part);
      const hours = (part.to - part.from) / hour;
      if (use) {
        assert.ok(use.idleHours <= use.seenHours && use.seenHours <= hours + 1e-3);
        assert.ok(use.meanUtilisation >= 0 && use.meanUtilisation <= 100);
      }
      const mean = meanOf(utilisation, part);
      assert.ok(mean === undefined || (mean >= 0 && mean <= 100));
      let last = part.from;
      for (const gap of silences(utilisation, part, 1000)) {
        assert.ok(gap.from >= last && gap.to - gap.from >= 1000 && gap.to <= part.to);
        last = gap.to;
      }
    }),
  );
});

test("outputs that stood still while they were looked at are named; what nobody looked at is no stand-still", () => {
  const written = new MetricSeries("outputCount");
  const minute = 60_000;
  for (let at = 0; at < 600; at++) {
    if (at > 400 && at < 450) continue;
    written.append(evening + at * minute, at < 100 ? at : at < 160 ? 100 : Math.max(0, at - 300));
  }
  const same = (value: number, before: number): boolean => value === before;
  assert.deepEqual(longestStill(written, { from: evening, to: evening + 250 * minute }, same, 15 * minute), {
    from: evening + 160 * minute,
    to: evening + 250 * minute,
  });
  assert.equal(longestStill(written, { from: evening + 301 * minute, to: morning }, same, 15 * minute), undefined);
  // 100, then a new beginning at 0 and 299 more.
  assert.deepEqual(gainOf(written, span), { amount: 399, from: evening, to: evening + 599 * minute });
});
