import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyEvent } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import type { OomKills } from "../../src/core/ports";
import type { Session } from "../../src/core/session/model";
import {
  definition,
  ended,
  failure,
  identity,
  member,
  ofStage,
  play,
  progress,
  record,
  records,
  stage,
} from "./sessions";

const one = definition(stage("download"));
const checked = definition(stage("download", { doneWhen: { files: ["/data/x"] } }));
const state = (session: Session, name = "download"): string => member(session, name).state.kind;
const line = (at: number): SessionEvent => ({ type: "failure", at, ...ofStage("download"), reading: failure() });

test("a stage that never ran waits, and says for what", () => {
  const session = play(definition(stage("a"), stage("b", { needs: ["a"] })));
  assert.deepEqual(member(session, "b").state, { kind: "waiting", for: ["a"] });
});

test("exit 127 with the shell's line is failed, with the line's cause and remedy", () => {
  const session = play(one, records(5, ended("download", 127)), line(6));
  assert.equal(state(session), "failed");
  assert.equal(causeOf(session), "hf is not on PATH");
  assert.equal(session.alerts.length, 1);
});

test("without a line that explains it, the exit code alone is the cause, after the last words had their time", () => {
  const early = play(one, records(5, ended("download", 127)));
  assert.equal(state(early), "running");
  const read: SessionEvent = { type: "log", at: 6, ...ofStage("download"), offset: 0, modifiedAt: 0, caughtUp: true };
  const late = applyEvent(applyEvent(early, read), { type: "tick", at: 2000 });
  assert.equal(state(late), "failed");
  // Nor for a moment, where all of the log was read.
  const all: SessionEvent = { type: "words-read", at: 6, ...ofStage("download"), run: "r1" };
  assert.equal(state(applyEvent(early, all)), "failed");
  assert.equal(state(applyEvent(early, { ...all, run: "r0" })), "running");
  // What no rule knows is evidence all the same; that of another run is none.
  const said = applyEvent(early, { ...all, lastLine: "shard 2 cannot be read" });
  assert.equal(lastLineOf(said), "shard 2 cannot be read");
  assert.equal(causeOf(said), causeOf(applyEvent(early, all)));
  assert.equal(lastLineOf(applyEvent(said, all)), undefined);
  // A log that cannot be read is waited for longer, not for ever.
  assert.equal(state(applyEvent(early, { type: "tick", at: 2000 })), "running");
  assert.equal(state(applyEvent(early, { type: "tick", at: 10_000 })), "failed");
  assert.match(causeOf(late), /127/);
});

function causeOf(session: Session): string {
  const { state } = member(session, "download");
  return state.kind === "failed" ? state.cause : "";
}

function lastLineOf(session: Session): string | undefined {
  const { state } = member(session, "download");
  return state.kind === "failed" ? state.lastLine : "";
}

test("SIGKILL says who sent it, by what the kernel counted meanwhile", () => {
  const killed = (oomKills?: OomKills): Session => {
    const end = { exit: { kind: "signal", signal: "SIGKILL" }, at: 2000, ...(oomKills && { oomKills }) } as const;
    return play(one, records(5, record("download", { end, liveness: "ended" })), { type: "tick", at: 10_000 });
  };
  assert.equal(causeOf(killed({ group: 1, host: 1 })), "it was killed by the kernel (SIGKILL) since memory ran out");
  assert.match(
    causeOf(killed({ host: 1 })),
    /most likely by the kernel since memory ran out: .* one process was ended/,
  );
  assert.match(causeOf(killed({ group: 0, host: 2 })), /most likely .* 2 processes were ended so meanwhile$/);
  assert.match(causeOf(killed({ group: 0, host: 0 })), /by somebody or something else: memory did not run out/);
  // Of a part alone, and of records of older versions, nothing more is known than before.
  for (const known of [{ group: 0 }, undefined]) assert.match(causeOf(killed(known)), /most likely because the host/);
  // A shell's `Killed` knows no more; words about memory do.
  const word = (text: string): SessionEvent => ({
    type: "failure",
    at: 6,
    ...ofStage("download"),
    reading: failure({ failure: "killed-oom", text, cause: "the log's words" }),
  });
  const counted = killed({ group: 0, host: 0 });
  assert.match(causeOf(applyEvent(counted, word("run.sh: line 1: 7 Killed python x.py"))), /by somebody/);
  assert.equal(causeOf(applyEvent(counted, word("slurmstepd: error: Detected 1 oom_kill event"))), "the log's words");
  assert.equal(causeOf(applyEvent(killed(), word("Killed"))), "the log's words");
});

test("exit 0 is finished only when what was declared is there", () => {
  const run = records(5, ended("download", 0));
  assert.equal(state(play(one, run)), "finished-unchecked");
  assert.equal(state(play(checked, run)), "running");
  const outputs = (ok: boolean): SessionEvent => ({
    type: "outputs",
    at: 6,
    ...ofStage("download"),
    run: "r1",
    report: { ok, bytes: 1, files: 1, detail: "/data/x is missing" },
  });
  assert.equal(state(play(checked, run, outputs(true))), "finished");
  const short = play(checked, run, outputs(false));
  assert.equal(state(short), "failed");
  assert.match(causeOf(short), /exit code 0, but \/data\/x is missing/);
});

test("exit 0 of a script that went on after a failure is failed, unless its outputs are there", () => {
  assert.equal(state(play(one, line(4), records(5, ended("download", 0)), line(6))), "failed");
});

test("a newer run leaves the old one's failures behind, and a late word about the old one changes nothing", () => {
  const dead = play(one, records(5, ended("download", 127)), line(6));
  const again = applyEvent(dead, records(7, record("download", { run: "r2", startedAt: 5000 })));
  assert.equal(state(again), "running");
  assert.deepEqual(member(again, "download").failures, []);
  assert.equal(again.alerts.length, 0);
  const late = applyEvent(again, records(8, ended("download", 127)));
  assert.equal(member(late, "download").run?.run, "r2");
});

test("who stopped it is said, and a stop is no failure", () => {
  const session = play(one, records(5, ended("download", 143, { stopRequestedBy: "me@laptop" })));
  assert.deepEqual(member(session, "download").state, { kind: "stopped", by: "me@laptop" });
});

test("a run whose process is gone is lost; a rebooted host says so", () => {
  assert.equal(state(play(one, records(5, record("download", { liveness: "gone" })))), "lost");
  const rebooted = member(play(one, records(5, record("download", { liveness: "rebooted" }))), "download").state;
  assert.match(rebooted.kind === "lost" ? rebooted.why : "", /restarted/);
});

test("a run that another host recorded in a shared home is unknown, never lost", () => {
  const elsewhere = record("download", {
    liveness: "elsewhere",
    recordedOn: { machineId: "m2", hostname: "login1" },
  });
  const seen = member(play(one, records(5, elsewhere)), "download").state;
  assert.match(seen.kind === "unknown" ? seen.why : seen.kind, /login1/);
});

test("what a failed stage blocks says by what, and goes on when that is mended", () => {
  const def = definition(stage("download"), stage("train", { needs: ["download"] }));
  const dead = play(def, records(5, ended("download", 1)), line(6));
  assert.deepEqual(member(dead, "train").state, {
    kind: "blocked",
    by: ["download"],
    why: "download: failed",
  });
  const mended = applyEvent(dead, records(9, ended("download", 0, { run: "r2", startedAt: 9000 })));
  assert.deepEqual(member(mended, "train").state, { kind: "waiting", for: [] });
});

test("a log somebody else's job writes: dead and red without a writer, running with one", () => {
  const def = definition(stage("download", { log: "/data/d.log" }));
  const log: SessionEvent = { type: "log", at: 1, ...ofStage("download"), offset: 60, modifiedAt: 0, caughtUp: true };
  const writer = (open: boolean | undefined): SessionEvent => ({
    type: "writer",
    at: 3,
    ...ofStage("download"),
    writer: open === undefined ? {} : { open },
  });
  assert.equal(state(play(def, log, line(2), writer(false))), "failed");
  // Until somebody has looked for its writer it may well be alive, whatever it says.
  assert.equal(state(play(def, log, line(2))), "watching");
  assert.equal(state(play(def, log, line(2), writer(undefined))), "failed");
  assert.equal(state(play(def, log, writer(false))), "ended-unknown");
  assert.equal(state(play(def, log, writer(true))), "watching");
  const moving: SessionEvent = { type: "progress", at: 2, ...ofStage("download"), reading: progress(5, 10) };
  assert.equal(state(play(def, log, moving, writer(true))), "running");
  // Started again by hand: what grows is not dead.
  const grown: SessionEvent = { ...log, at: 5, offset: 90 };
  assert.equal(state(play(def, log, writer(false), grown)), "watching");
});

test("a stage stands still by its own measure, and moves again", () => {
  const def = definition(stage("download", { stalledAfterSeconds: 60 }));
  const at = (time: number, done: number): SessionEvent => ({
    type: "progress",
    at: time,
    ...ofStage("download"),
    reading: progress(done, 100),
  });
  const session = play(def, records(1, record("download")), at(1000, 1), at(2000, 2), at(50_000, 2));
  assert.equal(state(session), "running");
  const still = applyEvent(session, { type: "tick", at: 62_001 });
  assert.deepEqual(member(still, "download").state, { kind: "stalled", since: 2000, why: "its progress stands still" });
  assert.equal(state(applyEvent(still, at(63_000, 3))), "running");
});

test("what a host that is away last showed is unknown since then, and never red for lack of contact", () => {
  const events = fc.array(
    fc.constantFrom<SessionEvent>(
      records(10, record("download")),
      records(20, ended("download", 127)),
      records(30, ended("download", 0)),
      line(40),
      { type: "connected", at: 50, host: "gpu8", identity },
      { type: "progress", at: 60, ...ofStage("download"), reading: progress(1, 2) },
      { type: "tick", at: 10_000_000 },
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(events, (all) => {
      const away: SessionEvent = { type: "disconnected", at: 20_000_000, host: "gpu8", byUser: false, message: "gone" };
      const before = applyEvent(play(one, ...all), { type: "tick", at: 19_000_000 });
      const session = applyEvent(before, away);
      assert.equal(state(session), "unknown");
      assert.equal(session.stages.get("download")?.state.kind, "unknown");
      assert.deepEqual(session.alerts, before.alerts);
    }),
  );
});

test("an event that changes nothing leaves the very same session", () => {
  const session = play(one, records(5, ended("download", 0)));
  assert.equal(applyEvent(session, { type: "tick", at: 6 }), session);
  assert.equal(applyEvent(session, { type: "acknowledged", at: 6, ...ofStage("no such stage") }), session);
});

test("parts that an event does not touch stay the same objects", () => {
  const def = definition(stage("a"), stage("b"));
  const before = play(def);
  const after = applyEvent(before, records(5, record("a")));
  assert.notEqual(after.stages.get("a"), before.stages.get("a"));
  assert.equal(after.stages.get("b"), before.stages.get("b"));
});

test("a changed session file keeps what was seen of the stages that stay", () => {
  const before = play(one, records(5, ended("download", 0)));
  const after = applyEvent(before, { type: "defined", at: 6, definition: definition(stage("download"), stage("new")) });
  assert.equal(member(after, "download").run?.run, "r1");
  assert.equal(after.stages.size, 2);
});
