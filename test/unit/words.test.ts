import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { StageState } from "../../src/core/session/model";
import { stageText } from "../../src/core/session/stageText";
import { connectionText, serviceText, stateText } from "../../src/core/session/stateWords";
import * as words from "../../src/core/session/words";
import { failure, member, now, progress, run, stage } from "./sampleSession";

process.env["TZ"] = "UTC";
const minute = 60_000;
const hour = 60 * minute;

test("numbers are grouped and keep the digits that help", () => {
  assert.equal(words.count(25_000), "25,000");
  assert.equal(words.count(1_234_567), "1,234,567");
  assert.equal(words.count(-1234), "-1,234");
  assert.equal(words.count(999), "999");
  const said = [0, 0.6, 0.62, 1, 1.25, 3.14, 16.24, 99.96, 104.2, 1204, 0.00123, 0.00002, 20, 100].map(words.decimal);
  assert.deepEqual(said, [
    "0",
    "0.6",
    "0.62",
    "1",
    "1.25",
    "3.1",
    "16.2",
    "100",
    "104",
    "1,204",
    "0.0012",
    "2e-5",
    "20",
    "100",
  ]);
  assert.equal(words.decimal(NaN), "NaN");
  assert.equal(words.decimal(Infinity), "∞");
});

test("sizes are said in the units people use", () => {
  assert.equal(words.bytes(0), "0 B");
  assert.equal(words.bytes(1_500_000_000), "1.5 GB");
  assert.equal(words.bytesOf(1_200_000_000, 4_500_000_000), "1.2 / 4.5 GB");
  assert.equal(words.gpuMemory(134_144, 143_771), "131 / 140 GB");
  assert.equal(words.gpuMemory(512, 143_771), "0.5 / 140 GB");
  assert.equal(words.gpuMemory(undefined, undefined), undefined);
});

test("durations and ages", () => {
  const said = [0, 400, 9_940, 9_960, 42_000, 59_600, 12 * minute, 59.6 * minute, 5 * hour + 2 * minute, 76 * hour];
  assert.deepEqual(said.map(words.duration), [
    "0 s",
    "0.4 s",
    "9.9 s",
    "10 s",
    "42 s",
    "1 min",
    "12 min",
    "1 h 00 min",
    "5 h 02 min",
    "3 d 4 h",
  ]);
  assert.equal(words.duration(-5), "0 s");
  assert.equal(words.age(now - 500, now), "just now");
  assert.equal(words.age(now - 3 * minute, now), "3 min ago");
});

test("clock times carry the day only where the time could be misread", () => {
  assert.equal(words.clockTime(now + 6 * hour + 10 * minute, now), "04:10");
  assert.equal(words.clockTime(now - 21 * hour, now), "01:00");
  assert.equal(words.clockTime(now + 33 * hour + 15 * minute, now), "Thu 07:15");
  assert.equal(words.clockTime(now + 10 * 24 * hour, now), "11 Dec 22:00");
  assert.equal(words.clockTime(now + 60 * 24 * hour, now), "30 Jan 2027 22:00");
});

test("a finish is a clock time with its range", () => {
  const eta = { at: now, eta: 6 * 3600 + 600, lo: 5.5 * 3600, hi: 7 * 3600 + 1200 };
  assert.equal(words.finishTime(eta, now), "~04:10");
  assert.equal(words.finishRange(eta, now), "~04:10 (03:30–05:20)");
  assert.equal(words.finishRange({ at: now, eta: 600, lo: 601, hi: 602 }, now), "~22:10");
  assert.equal(words.finishRange({ at: now, eta: 30, lo: 10, hi: 90 }, now), "in under a minute");
  assert.equal(words.finishRange({ at: now - hour, eta: 1800, lo: 1700, hi: 1900 }, now), "due 21:30");
  assert.equal(words.finishRange({ at: now, eta: Infinity, lo: 0, hi: Infinity }, now), undefined);
  assert.equal(words.finishRange({ at: now, eta: 600, lo: 500, hi: Infinity }, now), "~22:10");
  const late = { at: now, eta: 33.25 * 3600, lo: 32 * 3600, hi: 60 * 3600 };
  assert.equal(words.finishRange(late, now), "~Thu 07:15 (06:00–Fri 10:00)");
});

test("progress is said as its tool counts", () => {
  const said = (parts: Parameters<typeof progress>[0]): string => words.progressParts(progress(parts)).join(" · ");
  assert.equal(
    said({ done: 4120, total: 25_000, rate: 3.1, rate_unit: "req/s", errors: 0 }),
    "4,120 / 25,000 · 3.1 req/s",
  );
  assert.equal(said({ done: 40, total: 100, errors: 1 }), "40 / 100 · 1 error");
  assert.equal(
    said({ done: 1.2e9, total: 4.5e9, unit: "B", rate: 1.04e8, rate_unit: "B/s" }),
    "1.2 / 4.5 GB · 104 MB/s",
  );
  assert.equal(said({ done: 8190, unit: "sample" }), "8,190 samples");
  assert.equal(said({ done: 1 }), "1 step");
  assert.equal(said({ metrics: { percent: 48.7 } }), "48 %");
  assert.equal(said({ rate: 0.0357, rate_unit: "it/s" }), "28 s/it");
  assert.equal(said({ rate: 0, rate_unit: "line/s" }), "0 lines/s");
  assert.equal(said({ rate: 1, rate_unit: "sample/s" }), "1 sample/s");
  assert.equal(said({ rate: 20, rate_unit: "sample/s" }), "20 samples/s");
  assert.equal(said({ rate: 0.05, rate_unit: "file/s" }), "20 s/file");
  assert.equal(said({ rate: 2, rate_unit: "ba/s" }), "2 ba/s");
  assert.equal(said({}), "");
});

test("a percentage says 100 only when all is done", () => {
  fc.assert(
    fc.property(fc.nat({ max: 1e6 }), fc.integer({ min: 1, max: 1e6 }), (done, total) => {
      const percent = words.percentDone(progress({ done, total })) ?? -1;
      assert.ok(percent >= 0 && percent <= 100);
      assert.equal(percent === 100, done >= total);
    }),
  );
});

test("no word is ever longer than a row can show, whatever the numbers", () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      for (const say of [words.decimal, words.duration, words.bytes]) assert.ok(say(Math.abs(value)).length < 500);
      assert.doesNotMatch(words.decimal(value), /\.$|^$/);
    }),
  );
});

test("every state has its words", () => {
  const ended = { startedAt: now - hour, end: { exit: { kind: "code", code: 127 }, at: now - hour + 400 } } as const;
  const eta = { at: now, eta: 6 * 3600 + 600, lo: 5.5 * 3600, hi: 7 * 3600 + 1200 };
  const moving = { progress: progress({ done: 4120, total: 25_000, rate: 3.1, rate_unit: "req/s" }), eta };
  const cases: readonly (readonly [StageState, Parameters<typeof member>[1], string])[] = [
    [{ kind: "waiting", for: ["inference"] }, {}, "waits for inference"],
    [{ kind: "waiting", for: ["a", "b", "c"] }, {}, "waits for a, b and c"],
    [{ kind: "waiting", for: [] }, {}, "not started"],
    [{ kind: "blocked", by: ["download"], why: "download: failed" }, {}, "blocked by download: failed"],
    [{ kind: "launching" }, {}, "starting…"],
    [{ kind: "watching" }, {}, "watched · no progress printed yet"],
    [{ kind: "watching" }, { log: { path: "/l", state: "missing", offset: 0, lost: 0 } }, "watched · no log yet"],
    [{ kind: "running" }, {}, "running since 21:00 · no progress printed yet"],
    [{ kind: "running" }, moving, "4,120 / 25,000 · 3.1 req/s · ~04:10 (03:30–05:20)"],
    [
      { kind: "running" },
      { log: { path: "/l", state: "unreadable", reason: "permission denied", offset: 0, lost: 0 } },
      "running since 21:00 · log cannot be read: permission denied",
    ],
    [
      { kind: "stalled", since: now - 20 * minute, why: "no progress for 20 min" },
      moving,
      "stalled since 21:40 · no progress for 20 min · 4,120 / 25,000",
    ],
    [
      { kind: "finished" },
      { run: run({ startedAt: now - 5 * hour, end: { exit: { kind: "code", code: 0 }, at: now } }) },
      "finished 21:00 · took 5 h 00 min",
    ],
    [{ kind: "finished-unchecked" }, {}, "finished 21:00 · result not checked"],
    [
      { kind: "failed", cause: "hf is not on PATH", remedy: "", failure: failure() },
      { run: run(ended) },
      "failed 0.4 s after start · hf is not on PATH (exit 127)",
    ],
    [
      { kind: "failed", cause: "the GPU ran out of memory", remedy: "" },
      {},
      "failed 21:00 · the GPU ran out of memory",
    ],
    [
      { kind: "failed", cause: "it was killed", remedy: "" },
      { run: run({ startedAt: now - 5 * hour, end: { exit: { kind: "signal", signal: "KILL" }, at: now } }) },
      "failed 21:00 · it was killed (SIGKILL)",
    ],
    [{ kind: "stopped", by: "me@laptop" }, {}, "stopped 21:00 by me@laptop"],
    [{ kind: "lost", why: "the host was restarted" }, {}, "lost · the host was restarted"],
    [{ kind: "ended-unknown" }, {}, "ended 21:00 · how is not known"],
    [{ kind: "refused", reason: "/data does not exist" }, {}, "not started · /data does not exist"],
    [
      { kind: "unknown", since: now - 20 * minute, why: "link lost", last: { kind: "running" } },
      moving,
      "unknown since 21:40 · was running at 4,120 / 25,000",
    ],
    [
      { kind: "unknown", since: now - 20 * minute, why: "link lost", last: { kind: "finished" } },
      moving,
      "unknown since 21:40 · was finished",
    ],
  ];
  for (const [state, parts, expected] of cases) assert.equal(stateText(state, member(state, parts), now), expected);
});

test("a stage of many members counts them", () => {
  const finished = member({ kind: "finished" });
  const members = [
    ...Array.from({ length: 6 }, () => finished),
    member({ kind: "failed", cause: "x", remedy: "" }),
    member({ kind: "running" }),
  ];
  const many = stage("extract", members, { state: { kind: "failed", cause: "x", remedy: "" } });
  assert.equal(stageText(many, now), "6/8 finished, 1 failed, 1 running · 0: x");
});

test("a service says what its metrics say", () => {
  const metrics = { running: 118, waiting: 0, kv_cache_pct: 14.2 };
  const vllm = member({ kind: "watching" }, { progress: progress({ metrics }) });
  assert.equal(serviceText(vllm, now), "serving · 118 running, 0 waiting · KV 14 %");
  assert.equal(serviceText(member({ kind: "watching" }), now), "watched · no progress printed yet");
});

test("a connection says what a person can do", () => {
  assert.equal(connectionText({ kind: "not-connected" }, now), "not connected");
  assert.equal(
    connectionText({ kind: "lost", since: now - hour, message: "timed out" }, now),
    "unknown since 21:00 · timed out",
  );
  const failed = { kind: "failed", since: now, message: "timed out" } as const;
  assert.equal(connectionText({ ...failed, reason: "needs-login" }, now), "needs login · click to connect");
  assert.equal(
    connectionText({ ...failed, reason: "unreachable", retryAt: now + 2 * minute }, now),
    "not connected · timed out · tries again 22:02",
  );
});
