// What an event does not touch is not judged anew: that must give the same picture as judging all of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyEvent } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import { definition, ended, failure, identity, ofStage, play, progress, record, records, stage } from "./sessions";

const at = 100_000;
const names = ["a", "b", "c", "other"];
const def = definition(
  stage("a"),
  stage("b", { needs: ["a"] }),
  stage("c", { needs: ["b"], doneWhen: { files: ["x"] } }),
  stage("other", { log: "/w.log" }),
);

const aboutStage = fc
  .constantFrom(...names)
  .chain((name) =>
    fc.constantFrom<SessionEvent>(
      { type: "launching", at, ...ofStage(name) },
      { type: "launch-refused", at, ...ofStage(name), reason: "no such folder" },
      { type: "progress", at, ...ofStage(name), reading: progress(3, 10) },
      { type: "failure", at, ...ofStage(name), reading: failure() },
      { type: "acknowledged", at, ...ofStage(name) },
      records(at, record(name)),
      records(at, ended(name, 0)),
      records(at, ended(name, 1)),
    ),
  );
const aboutHost = fc.constantFrom<SessionEvent>(
  { type: "connected", at, host: "gpu8", identity },
  { type: "disconnected", at, host: "gpu8", byUser: false, message: "cut" },
  { type: "gpus", at, host: "gpu8", report: { kind: "unavailable", reason: "no driver" } },
);

test("judging only what an event touches, and what waits for it, leaves nothing behind", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(aboutStage, aboutHost), { maxLength: 30 }), (events) => {
      const session = play(def, ...events);
      const judgedAll = applyEvent(session, { type: "tick", at });
      for (const name of names) assert.deepEqual(judgedAll.stages.get(name)?.state, session.stages.get(name)?.state);
      // As if all were asked, and with nothing of what was known before.
      const anew = applyEvent(
        { ...session, eta: { untimed: [] }, alerts: [] },
        { type: "defined", at, definition: { ...def } },
      );
      assert.deepEqual(session.eta, anew.eta);
      assert.deepEqual(session.alerts, anew.alerts);
    }),
  );
});

test("a stage that an event is not about stays the same object", () => {
  const session = play(def, { type: "connected", at, host: "gpu8", identity }, records(at, record("a")));
  const next = applyEvent(session, { type: "progress", at, ...ofStage("a"), reading: progress(3, 10) });
  assert.notEqual(next.stages.get("a"), session.stages.get("a"));
  for (const name of ["b", "c", "other"]) assert.equal(next.stages.get(name), session.stages.get(name));
});

test("a line that changes neither a state nor a finish leaves the finish of the whole and the alerts alone", () => {
  const read = [progress(1, 10), progress(2, 10)].map((reading, n): SessionEvent => ({
    type: "progress",
    at: at + 10_000 * n,
    ...ofStage("a"),
    reading,
  }));
  const failed = [
    records(at, ended("other", 1)),
    { type: "failure", at, ...ofStage("other"), reading: failure() },
  ] as const;
  const session = play(
    def,
    { type: "connected", at, host: "gpu8", identity },
    records(at, record("a")),
    ...failed,
    ...read,
  );
  const next = applyEvent(session, { type: "progress", at: at + 10_100, ...ofStage("a"), reading: progress(3, 10) });
  assert.notEqual(next, session);
  assert.notEqual(session.eta.eta, undefined);
  assert.equal(session.alerts.length, 1);
  assert.equal(next.eta, session.eta);
  assert.equal(next.alerts, session.alerts);
});

test("what was taken out of the session file is in no finish and in no alert", () => {
  const session = play(def, { type: "connected", at, host: "gpu8", identity }, records(at, ended("other", 1)), {
    type: "failure",
    at,
    ...ofStage("other"),
    reading: failure(),
  });
  assert.equal(session.alerts.length, 1);
  const without = definition(stage("a"));
  const next = applyEvent(session, { type: "defined", at, definition: without });
  assert.deepEqual(next.alerts, []);
  assert.deepEqual(next.eta.untimed, ["a"]);
});

test("what is read at once gives the picture of what is read line by line", () => {
  const reading = fc.oneof(
    fc.integer({ min: 0, max: 10 }).map((done) => progress(done, 10, { metrics: { loss: done / 3 } })),
    fc.constantFrom("oom", "other").map((name) => failure({ failure: name, offset: name.length })),
  );
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 8 }), fc.boolean(), (readings, ours) => {
      const begin = ours ? [records(at, record("other"))] : [];
      const growth = { type: "log", at, ...ofStage("other"), offset: 900, modifiedAt: at, caughtUp: true } as const;
      const apart = readings.map((one): SessionEvent =>
        one.kind === "failure"
          ? { type: "failure", at, ...ofStage("other"), reading: one }
          : { type: "progress", at, ...ofStage("other"), reading: one },
      );
      const connected = { type: "connected", at, host: "gpu8", identity } as const;
      const one = play(def, connected, ...begin, ...apart, growth).stages.get("other");
      const all = play(def, connected, ...begin, { ...growth, readings }).stages.get("other");
      assert.deepEqual(all, one);
      for (const [name, series] of one?.members[0]?.series.byName ?? []) {
        const same = all?.members[0]?.series.byName.get(name);
        assert.deepEqual(same?.values, series.values);
        assert.deepEqual(same.times, series.times);
      }
    }),
  );
});
