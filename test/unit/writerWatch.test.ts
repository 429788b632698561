// Who writes quiet logs is asked for all of them together, and seldom where nobody was found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { membersOn } from "../../src/core/session/membersOn";
import { SessionStore } from "../../src/core/session/store";
import { WriterWatch } from "../../src/core/writerWatch";
import { HandClock, settled } from "./handClock";
import { definition, stage } from "./sessions";

test("logs that fell silent at different times are searched for together, ever more seldom", async () => {
  const clock = new HandClock();
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  const names = ["a", "b", "c"];
  store.open("s", definition(...names.map((name) => stage(name, { log: `/data/${name}.log` }))), 0);
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const watch = new WriterWatch({ store, clock, logger }, "s");
  const rounds = new Map<number, string[]>();
  const ops = {
    logWriter: (path: string) => {
      rounds.set(clock.now(), [...(rounds.get(clock.now()) ?? []), path]);
      return Promise.resolve({ open: false });
    },
  };
  const { signal } = new AbortController();
  for (let ms = 0; ms < 20 * 60_000; ms += 250) {
    const session = store.sessions.get("s") ?? assert.fail();
    // They are silent since 0, 700 and 1400 ms.
    membersOn(session, "gpu8").forEach((one, index) => {
      watch.look(one, index * 700, { ops, signal });
    });
    await settled();
    await clock.pass(250);
  }
  const asked = [...rounds.values()];
  assert.deepEqual(asked.flat().slice(0, 3).sort(), ["/data/a.log", "/data/b.log", "/data/c.log"]);
  // The first look is for each when it has been silent for 4 s; from then on they go together.
  for (const paths of asked.slice(3)) assert.equal(paths.length, 3);
  assert.ok(asked.length <= 3 + 7, `${asked.length} rounds in 20 minutes`);
});
