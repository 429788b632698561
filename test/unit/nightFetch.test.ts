// Logs are fetched while what the recorder kept is on its way, are told after it, and are read once.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FollowEvent } from "../../src/core/following";
import { FollowedLogs } from "../../src/core/followedLogs";
import { LogFollower } from "../../src/core/logFollower";
import { LogFollowers } from "../../src/core/logFollowers";
import { NightHistory } from "../../src/core/nightHistory";
import type { HostHistory, HostOps } from "../../src/core/ports";
import type { SessionEvent } from "../../src/core/session/events";
import { SessionStore } from "../../src/core/session/store";
import { HandClock, settled } from "./handClock";
import { definition, identity, record, records, stage } from "./sessions";

const text = new TextEncoder().encode("Progress: 3/10 (0 errors), 1.0 req/s\n");

/** A host with one log; `asked` counts how often it is followed. */
function hostWith(history: Promise<HostHistory>): { readonly ops: HostOps; readonly asked: () => number } {
  let asked = 0;
  async function* follow(_path: string, _from: unknown, signal: AbortSignal): AsyncGenerator<FollowEvent> {
    asked++;
    const position = { device: "1", inode: "7", offset: 0 };
    yield { kind: "opened", position, size: text.length, modifiedAt: 0 };
    yield { kind: "data", offset: 0, data: text };
    yield { kind: "caught-up", offset: text.length };
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(new Error("aborted"));
      });
    });
  }
  const ops: Pick<HostOps, "identity" | "follow" | "history"> = { identity, follow, history: () => history };
  return { ops: ops as HostOps, asked: () => asked };
}

function followerOf(clock: HandClock, marksKnown: () => Promise<void>, events: SessionEvent[]): LogFollower {
  const log = new FollowedLogs().of("s", { stage: "a", member: "0" });
  const apply = (event: SessionEvent): void => {
    events.push(event);
  };
  const ref = { stage: "a", member: "0" };
  return new LogFollower({ ref, path: "/a.log", log, clock, marksOf: () => [], marksKnown, apply });
}

for (const [late, times] of [
  [500, 1],
  [9000, 2],
] as const)
  test(`a log that was fetched ${late} ms before its dates are known is fetched ${times === 1 ? "once" : "anew"}`, async () => {
    const clock = new HandClock();
    const { ops, asked } = hostWith(Promise.resolve({ gpus: [], runs: [] }));
    let known: () => void = () => undefined;
    const marks = new Promise<void>((resolve) => {
      known = resolve;
    });
    const events: SessionEvent[] = [];
    const ending = new AbortController();
    const over = followerOf(clock, () => marks, events)
      .follow(ops, ending.signal)
      .catch(() => undefined); // it is ended below
    await settled();
    assert.equal(asked(), 1);
    assert.deepEqual(events, []);
    await clock.pass(late);
    known();
    await settled();
    assert.equal(asked(), times);
    assert.equal(events.filter(({ type }) => type === "backlog").length, 1);
    ending.abort();
    await over;
  });

test("what an earlier log of a member says is no last word of the present one, which was not read yet", () => {
  const log = new FollowedLogs().of("s", { stage: "a", member: "0" });
  log.reset(0, 0);
  log.push(new TextEncoder().encode("the end of the run before\n"));
  const ref = { stage: "a", member: "0" };
  const ignore = (): void => undefined;
  const marksKnown = (): Promise<void> => Promise.resolve();
  const other = new LogFollower({
    ...{ ref, path: "/b.log", log, clock: new HandClock() },
    ...{ marksOf: () => [], marksKnown, apply: ignore },
  });
  assert.equal(other.lastLine, undefined);
});

test("a log that was not read yet waits for the run records, which say where its run begins", async () => {
  const clock = new HandClock();
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  store.open("s", definition(stage("a", { log: "/a.log" })), 0);
  const ignore = (): void => undefined;
  const context = {
    store,
    clock,
    logs: new FollowedLogs(),
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    loadWatch: () => Promise.reject(new Error("not asked in this test")),
  };
  const { ops, asked } = hostWith(Promise.resolve({ gpus: [], runs: [] }));
  const followers = new LogFollowers(context, "s", "gpu8", new NightHistory(context, "s", "gpu8"));
  const ending = new AbortController();
  followers.newLink();
  followers.followAll(ops, ending.signal);
  await clock.pass(1000);
  assert.equal(asked(), 0);
  store.apply("s", records(clock.now(), record("a")));
  followers.followAll(ops, ending.signal);
  followers.recordsTold();
  await settled();
  assert.equal(asked(), 1);
  // Where records do not come, logs are read all the same.
  const other = hostWith(Promise.resolve({ gpus: [], runs: [] }));
  const patient = new LogFollowers(context, "s", "gpu8", new NightHistory(context, "s", "gpu8"));
  patient.newLink();
  patient.followAll(other.ops, ending.signal);
  await clock.pass(16_000);
  assert.equal(other.asked(), 1);
  ending.abort();
});
