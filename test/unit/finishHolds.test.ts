// The finish of a long run is not reckoned anew at each line; how long one may stand has a limit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEvent, newSession } from "../../src/core/session/apply";
import type { Session } from "../../src/core/session/model";
import { definition, member, ofStage, progress, stage } from "./sessions";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const began = Date.UTC(2026, 10, 30, 22);

/** A run that prints `perLine` items each `every` ms from `from` on. */
function printed(session: Session, from: number, until: number, every: number, perLine: number): Session {
  let next = session;
  let done = member(session, "long").progress?.done ?? 0;
  for (let at = from; at < until; at += every) {
    done += perLine;
    next = applyEvent(next, { type: "progress", at, ...ofStage("long"), reading: progress(done, 100_000) });
    const { eta } = member(next, "long");
    if (eta) assert.ok(at - eta.at < minute, `${(at - eta.at) / second} s old after ${(at - began) / hour} h`);
  }
  return next;
}

test("on a run of many hours a finish stands for less than a minute, and follows a rate that falls", () => {
  const start = newSession("s", definition(stage("long")), began);
  const night = printed(start, began, began + 10 * hour, 10 * second, 20);
  const before = member(night, "long").eta;
  assert.ok(before && Math.abs(before.eta - 14_000) < 700, `${before?.eta}`);
  const slower = printed(night, began + 10 * hour, began + 10.5 * hour, 10 * second, 2);
  const after = member(slower, "long").eta;
  // Half an hour that went by would have taken as much off it.
  assert.ok(after && after.eta > 1.2 * before.eta, `${after?.eta} after ${before.eta}`);
});

test("on a young run, and near the end, a finish stands for a hundredth of it or a twentieth of what is left, or a second", () => {
  let session = newSession("s", definition(stage("long")), began);
  for (let line = 1; line < 1000; line++) {
    const at = began + line * 500;
    const reading = progress(line, 1000);
    session = applyEvent(session, { type: "progress", at, ...ofStage("long"), reading });
    const { eta } = member(session, "long");
    if (!eta) continue;
    const most = Math.max(second, Math.min((at - began) / 100, (1000 - line) * 25 * 1.2));
    assert.ok(at - eta.at <= most, `${at - eta.at} ms old, ${most} at most, line ${line}`);
  }
});
