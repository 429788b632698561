import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { applyEvent } from "../../src/core/session/apply";
import type { SessionEvent } from "../../src/core/session/events";
import type { Session, StageState } from "../../src/core/session/model";
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

type Kind = StageState["kind"];

const def = definition(
  stage("a", { doneWhen: { files: ["x"] }, stalledAfterSeconds: 60 }),
  stage("b", { needs: ["a"], stalledAfterSeconds: 60 }),
  stage("w", { log: "/w.log", stalledAfterSeconds: 60 }),
);

/** Events about a stage; `at` is set when they are played. */
const events = {
  launching: (name: string): SessionEvent => ({ type: "launching", at: 0, ...ofStage(name) }),
  refused: (name: string): SessionEvent => ({
    type: "launch-refused",
    at: 0,
    ...ofStage(name),
    reason: "no such folder",
  }),
  /** Refused because of a run that was not known when it was tried. */
  overtaken: (name: string): SessionEvent => ({
    type: "launch-refused",
    at: 0,
    ...ofStage(name),
    reason: "started by somebody else",
    newest: "",
  }),
  started: (name: string, run = "r1", startedAt = 1000): SessionEvent =>
    records(0, record(name, { run, startedAt, process: { pid: 7, startTicks: "1", bootId: "b1", uid: 0 } })),
  ended: (name: string, code: number): SessionEvent =>
    records(0, ended(name, code, { end: { exit: { kind: "code", code }, at: 60_000 } })),
  quick: (name: string): SessionEvent => records(0, ended(name, 0)),
  killed: (name: string): SessionEvent =>
    records(0, record(name, { end: { exit: { kind: "signal", signal: "SIGKILL" }, at: 9000 }, liveness: "ended" })),
  stopped: (name: string): SessionEvent => records(0, ended(name, 143, { stopRequestedBy: "me@laptop" })),
  gone: (name: string): SessionEvent => records(0, record(name, { liveness: "gone" })),
  rebooted: (name: string): SessionEvent => records(0, record(name, { liveness: "rebooted" })),
  elsewhere: (name: string): SessionEvent =>
    records(0, record(name, { liveness: "elsewhere", recordedOn: { machineId: "m2", hostname: "login1" } })),
  line: (name: string): SessionEvent => ({ type: "failure", at: 0, ...ofStage(name), reading: failure() }),
  moves: (name: string, done: number): SessionEvent => ({
    type: "progress",
    at: 0,
    ...ofStage(name),
    reading: progress(done, 100),
  }),
  log: (name: string, offset = 10): SessionEvent => ({
    type: "log",
    at: 0,
    ...ofStage(name),
    offset,
    modifiedAt: 0,
    caughtUp: true,
  }),
  writer: (name: string, open: boolean): SessionEvent => ({
    type: "writer",
    at: 0,
    ...ofStage(name),
    writer: open ? { open, pid: 9 } : { open },
  }),
  outputs: (name: string, ok: boolean): SessionEvent => ({
    type: "outputs",
    at: 0,
    ...ofStage(name),
    run: "r1",
    report: { ok, bytes: 5, files: 1, detail: ok ? "" : "x is missing" },
  }),
  away: (): SessionEvent => ({ type: "disconnected", at: 0, host: "gpu8", byUser: false, message: "the link broke" }),
  back: (): SessionEvent => ({ type: "connected", at: 0, host: "gpu8", identity }),
  wait: (): SessionEvent => ({ type: "tick", at: 0 }),
};

/** Plays events 10 s apart; `wait` lets two minutes pass. */
function playAll(list: readonly SessionEvent[]): Session {
  let at = 1000;
  const timed = list.map((event) => {
    at += event.type === "tick" ? 120_000 : 10_000;
    return { ...event, at, ...(event.type === "log" ? { modifiedAt: at } : {}) };
  });
  return play(def, ...timed);
}

const e = events;

/** Every edge that DESIGN's states have: what happens, from which state to which, and what showed it. */
const edges: readonly (readonly [
  stage: string,
  happens: readonly SessionEvent[],
  path: readonly Kind[],
  evidence: RegExp,
])[] = [
  ["a", [], ["waiting"], /no run is recorded/],
  ["b", [], ["waiting"], /not finished: a/],
  ["b", [e.killed("a"), e.wait()], ["waiting", "blocked"], /failed or stopped: a/],
  ["b", [e.stopped("a")], ["waiting", "blocked"], /failed or stopped: a/],
  ["b", [e.killed("a"), e.wait(), e.started("a", "r2", 5000)], ["waiting", "blocked", "waiting"], /not finished: a/],
  ["a", [e.launching("a")], ["waiting", "launching"], /asked for here/],
  ["a", [e.launching("a"), e.refused("a")], ["waiting", "launching", "refused"], /no such folder/],
  ["a", [e.launching("a"), e.overtaken("a")], ["waiting", "launching", "refused"], /somebody else/],
  [
    "w",
    [e.launching("w"), e.quick("w"), e.overtaken("w")],
    ["waiting", "launching", "finished-unchecked"],
    /exit code 0/,
  ],
  ["a", [e.launching("a"), e.started("a")], ["waiting", "launching", "running"], /process 7 of its record/],
  ["a", [e.refused("a"), e.started("a")], ["waiting", "refused", "running"], /process 7/],
  ["a", [e.refused("a"), e.launching("a")], ["waiting", "refused", "launching"], /asked for here/],
  ["a", [e.started("a")], ["waiting", "running"], /process 7 of its record is there/],
  ["a", [e.started("a"), e.moves("a", 1), e.wait()], ["waiting", "running", "stalled"], /progress stands still/],
  [
    "a",
    [e.started("a"), e.moves("a", 1), e.wait(), e.moves("a", 2)],
    ["waiting", "running", "stalled", "running"],
    /process 7/,
  ],
  [
    "a",
    [e.started("a"), e.moves("a", 1), e.wait(), e.stopped("a")],
    ["waiting", "running", "stalled", "stopped"],
    /me@laptop asked it to stop; exit code 143/,
  ],
  [
    "a",
    [e.started("a"), e.moves("a", 1), e.wait(), e.killed("a"), e.wait()],
    ["waiting", "running", "stalled", "running", "failed"],
    /an end by SIGKILL is recorded/,
  ],
  ["a", [e.started("a"), e.stopped("a")], ["waiting", "running", "stopped"], /me@laptop/],
  ["a", [e.started("a"), e.gone("a")], ["waiting", "running", "lost"], /left no exit code/],
  ["a", [e.started("a"), e.rebooted("a")], ["waiting", "running", "lost"], /host was restarted/],
  ["a", [e.started("a"), e.ended("a", 3), e.wait()], ["waiting", "running", "failed"], /exit code 3 is recorded/],
  ["a", [e.started("a"), e.ended("a", 127), e.line("a")], ["waiting", "running", "failed"], /its log says: nohup/],
  [
    "a",
    [e.started("a"), e.ended("a", 0), e.outputs("a", true)],
    ["waiting", "running", "finished"],
    /exit code 0 is recorded; 1 files, 5 B/,
  ],
  ["a", [e.started("a"), e.ended("a", 0), e.outputs("a", false)], ["waiting", "running", "failed"], /but x is missing/],
  [
    "b",
    [e.started("b"), e.ended("b", 0)],
    ["waiting", "running", "finished-unchecked"],
    /nothing was declared to check/,
  ],
  [
    "b",
    [e.started("b"), e.ended("b", 0), e.line("b")],
    ["waiting", "running", "finished-unchecked", "failed"],
    /nohup/,
  ],
  [
    "a",
    [e.killed("a"), e.wait(), e.launching("a"), e.started("a", "r2", 5000)],
    ["waiting", "running", "failed", "launching", "running"],
    /process 7/,
  ],
  ["a", [e.stopped("a"), e.started("a", "r2", 5000)], ["waiting", "stopped", "running"], /process 7/],
  ["a", [e.gone("a"), e.started("a", "r2", 5000)], ["waiting", "lost", "running"], /process 7/],
  ["w", [e.log("w")], ["waiting", "watching"], /its log grows/],
  [
    "w",
    [e.log("w"), e.moves("w", 1), e.writer("w", true)],
    ["waiting", "watching", "running"],
    /process 9 has its log/,
  ],
  ["w", [e.log("w"), e.writer("w", false)], ["waiting", "watching", "ended-unknown"], /no process has its log open/],
  [
    "w",
    [e.log("w"), e.moves("w", 100), e.writer("w", false)],
    ["waiting", "watching", "finished-unchecked"],
    /no process has its log open/,
  ],
  ["w", [e.log("w"), e.line("w"), e.writer("w", false)], ["waiting", "watching", "failed"], /its log says/],
  [
    "w",
    [e.log("w"), e.writer("w", false), e.log("w", 90)],
    ["waiting", "watching", "ended-unknown", "watching"],
    /its log grows/,
  ],
  [
    "w",
    [e.log("w"), e.moves("w", 1), e.writer("w", true), e.wait()],
    ["waiting", "watching", "running", "stalled"],
    /stands still/,
  ],
  ["a", [e.elsewhere("a")], ["waiting", "unknown"], /recorded on login1, cannot be judged from here; it was running/],
  ["a", [e.started("a"), e.away()], ["waiting", "running", "unknown"], /the link broke; it was running when last seen/],
  ["a", [e.started("a"), e.away(), e.back()], ["waiting", "running", "unknown", "running"], /process 7/],
  [
    "a",
    [e.started("a"), e.away(), e.back(), e.killed("a"), e.wait()],
    ["waiting", "running", "unknown", "running", "failed"],
    /SIGKILL/,
  ],
  [
    "a",
    [e.killed("a"), e.wait(), e.away()],
    ["waiting", "running", "failed", "unknown"],
    /it was failed when last seen/,
  ],
];

describe("the states of a stage", () => {
  for (const [name, happens, path, evidence] of edges) {
    test(`${name}: ${path.join(" → ")} (${evidence.source})`, () => {
      const { transitions, state } = member(playAll(happens), name);
      assert.deepEqual(
        transitions.map(({ to }) => to),
        ["unknown", ...path], // nothing is known before the host is connected
      );
      assert.equal(state.kind, path.at(-1));
      assert.match(transitions.at(-1)?.evidence ?? "", evidence);
      for (const [i, { from, at }] of transitions.entries()) {
        assert.equal(from, transitions[i - 1]?.to);
        assert.ok(at >= (transitions[i - 1]?.at ?? 0));
      }
    });
  }

  test("a success at once, with nothing that says that it did its work, is doubted", () => {
    assert.deepEqual(member(playAll([e.quick("b")]), "b").state, { kind: "finished-unchecked", tooSoon: true });
    assert.deepEqual(member(playAll([e.ended("b", 0)]), "b").state, { kind: "finished-unchecked" });
    assert.equal(member(playAll([e.quick("a"), e.outputs("a", true)]), "a").state.kind, "finished");
  });

  test("are judged from any events in any order, without a throw, and every change is written down", () => {
    const names = fc.constantFrom("a", "b", "w");
    const makers = Object.values(events) as ((name: string, ...more: never[]) => SessionEvent)[];
    const one = fc.tuple(fc.constantFrom(...makers), names).map(([make, name]) => make(name));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), (list) => {
        const session = playAll(list);
        for (const name of ["a", "b", "w"]) {
          const { transitions, state } = member(session, name);
          assert.equal(transitions.at(-1)?.to, state.kind);
          for (const [i, { from, to }] of transitions.entries()) {
            if (i > 0) assert.equal(from, transitions[i - 1]?.to);
            assert.notEqual(from, to);
          }
          assert.ok(transitions.every(({ evidence }) => evidence.trim() !== ""));
        }
        const again = applyEvent(session, e.wait());
        const twice = applyEvent(again, e.wait());
        assert.equal(twice, again);
      }),
      { numRuns: 300 },
    );
  });
});
