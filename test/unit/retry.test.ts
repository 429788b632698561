import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter } from "../../src/core/lifecycle";
import { Retries } from "../../src/core/retries";
import { applyEvent } from "../../src/core/session/apply";
import type { Retries as RetriesDefinition } from "../../src/core/session/definition";
import type { SessionEvent } from "../../src/core/session/events";
import { noteText } from "../../src/core/session/launchNote";
import type { Again, Session } from "../../src/core/session/model";
import { stateText } from "../../src/core/session/stateWords";
import type { RunRecord } from "../../src/core/ports";
import { HandClock } from "./handClock";
import { definition, ended, failure, member, ofStage, play, records, stage } from "./sessions";

const second = 1000;
const transient: RetriesDefinition = { max: 3, on: "transient", backoffSeconds: 40 };

interface Case {
  readonly retries?: RetriesDefinition;
  readonly code?: number;
  readonly run?: Partial<RunRecord>;
  readonly failure?: Parameters<typeof failure>[0];
  readonly at?: number;
}

function sessionOf({ retries = transient, code = 1, run = {}, failure: words, at = 20_000 }: Case): Session {
  const events: SessionEvent[] = [records(2000, ended("download", code, run))];
  if (words) events.push({ type: "failure", at: 2100, ...ofStage("download"), reading: failure(words) });
  return play(definition(stage("download", { retries })), ...events, { type: "tick", at });
}

function again(given: Case): Again | undefined {
  const { state } = member(sessionOf(given), "download");
  assert.ok(state.kind === "failed", state.kind);
  return state.again;
}

const reset = { failure: "network", permanent: false, cause: "the connection was reset" } as const;

test("a transient failure is tried again after its wait, doubled each time; every window says the same", () => {
  assert.deepEqual(again({ failure: reset }), { kind: "due", attempt: 1, of: 3, at: 42_000 });
  const launchedFrom = noteText("me@laptop", { retry: { attempt: 1, of: 3, after: "r0" } });
  assert.deepEqual(again({ failure: reset, run: { launchedFrom } }), { kind: "due", attempt: 2, of: 3, at: 82_000 });
  const third = noteText("me@laptop", { retry: { attempt: 3, of: 3, after: "r0" } });
  assert.deepEqual(again({ failure: reset, run: { launchedFrom: third } }), { kind: "spent", of: 3 });
});

test("off by default, and never for what a retry cannot mend", () => {
  const any: RetriesDefinition = { ...transient, on: "any" };
  const off: RetriesDefinition = { ...transient, max: 0 };
  assert.equal(again({ retries: off, failure: reset }), undefined);
  for (const code of [126, 127, 2, 130]) assert.equal(again({ retries: any, code }), undefined, String(code));
  assert.equal(again({ retries: any, run: { setupFailed: "module load x" } }), undefined);
  for (const kind of ["auth", "gated-repo", "file-not-found", "disk-full", "command-not-found"]) {
    assert.equal(again({ retries: any, failure: { failure: kind, permanent: true } }), undefined, kind);
  }
  const interrupted = { end: { exit: { kind: "signal", signal: "SIGINT" }, at: 2000 } } as const;
  assert.equal(again({ retries: any, run: interrupted }), undefined);
});

test("what the log does not explain is tried again only with `on: any`", () => {
  const any: RetriesDefinition = { ...transient, on: "any" };
  const killed = { end: { exit: { kind: "signal", signal: "SIGKILL" }, at: 2000 } } as const;
  const oom = { failure: "cuda-oom", permanent: false } as const;
  for (const given of [{}, { run: killed }, { failure: oom }]) {
    assert.equal(again(given), undefined);
    assert.equal(again({ ...given, retries: any })?.kind, "due");
  }
});

test("a retry that nobody was there for is not made up for the next morning", () => {
  assert.equal(again({ failure: reset, at: 42_000 + 29 * 60 * second })?.kind, "due");
  assert.deepEqual(again({ failure: reset, at: 42_000 + 31 * 60 * second }), { kind: "missed", at: 42_000 });
});

test("what was given up or held stays so, and a person sees it", () => {
  const given = again({ failure: reset, run: { retryStoppedBy: "me@laptop" } });
  assert.deepEqual(given, { kind: "stopped", by: "me@laptop" });
  const why = "it could write over 18,000 lines, and the stage has no `resume`.";
  const held = applyEvent(sessionOf({ failure: reset }), {
    type: "retry-held",
    at: 21_000,
    ...ofStage("download"),
    run: "r1",
    why,
  });
  const { state } = member(held, "download");
  assert.deepEqual(state.kind === "failed" && state.again, { kind: "held", why });
});

test("the row says when it starts again, and which try it is", () => {
  const session = sessionOf({ failure: reset });
  const one = member(session, "download");
  assert.match(
    stateText(one.state, one, 2000),
    /^failed .* · the connection was reset .* · starts again in 40 s \(1 of 3\)$/,
  );
});

/** A runner over a picture that a test changes, with a launcher that writes down what it is told. */
function runner(first: Session): {
  readonly clock: HandClock;
  readonly told: string[];
  readonly show: (session: Session) => void;
  readonly dispose: () => void;
} {
  const clock = new HandClock();
  const changes = new Emitter<void>();
  let sessions: ReadonlyMap<string, Session> = new Map([["s", first]]);
  const told: string[] = [];
  const nothing = (): void => undefined;
  const retries = new Retries({
    store: {
      get sessions() {
        return sessions;
      },
      onDidChange: changes.event,
    },
    launcher: {
      retryHindrance: () => Promise.resolve(undefined),
      holdRetry: (_, { stage: name }, __, why) => told.push(`hold ${name}: ${why}`),
      queueRetry: (_, { stage: name }, __, waitsFor) =>
        told.push(waitsFor === undefined ? `${name} has its turn` : `${name} waits for ${waitsFor}`),
      retry: (_, { stage: name }, run, { attempt, of }) => {
        told.push(`${clock.now()}: ${name} ${attempt}/${of} of ${run}`);
        return Promise.resolve();
      },
    },
    isTrusted: () => true,
    clock,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  });
  return {
    clock,
    told,
    show: (session) => {
      sessions = new Map([["s", session]]);
      changes.fire();
    },
    dispose: () => {
      retries.dispose();
    },
  };
}

test("the runner waits for the moment and starts it once", async () => {
  const { clock, told, show, dispose } = runner(sessionOf({ failure: reset }));
  await clock.pass(41_000);
  assert.deepEqual(told, []);
  await clock.pass(2000);
  assert.deepEqual(told, ["42000: download 1/3 of r1"]);
  show(
    play(
      definition(stage("download", { retries: transient })),
      records(43_000, ended("download", 0, { run: "r2", startedAt: 42_000 })),
    ),
  );
  await clock.pass(100_000);
  assert.equal(told.length, 1);
  dispose();
});

test("what is given up meanwhile, or can no longer be seen, is not started", async () => {
  const { clock, told, show, dispose } = runner(sessionOf({ failure: reset }));
  await clock.pass(20_000);
  const away: SessionEvent = { type: "disconnected", at: 20_000, host: "gpu8", byUser: false, message: "gone" };
  show(applyEvent(sessionOf({ failure: reset }), away));
  await clock.pass(60_000);
  assert.deepEqual(told, []);
  show(sessionOf({ failure: reset, run: { retryStoppedBy: "me" } }));
  await clock.pass(60_000);
  assert.deepEqual(told, []);
  dispose();
});

/** Two members' worth of evidence: a failed stage on GPU 3, and how full that is at a moment. */
function onGpu(at: number, memoryUsedMib: number, whenBusy: "wait" | "start" | "refuse" = "wait"): Session {
  const sample = { index: 3, uuid: "GPU-3", name: "H200", at, memoryUsedMib, memoryTotalMib: 143_360, utilisation: 0 };
  return play(
    definition(stage("download", { retries: transient, gpus: [3], whenBusy })),
    records(2000, ended("download", 1)),
    { type: "failure", at: 2100, ...ofStage("download"), reading: failure(reset) },
    { type: "gpus", at, host: "gpu8", report: { kind: "samples", samples: [sample] } },
    { type: "tick", at },
  );
}

test("a retry waits for its GPU's turn, says so, and starts when it is free", async () => {
  const { clock, told, show, dispose } = runner(onGpu(20_000, 12_400));
  await clock.pass(41_000);
  assert.deepEqual(told, []);
  show(onGpu(41_000, 12_400));
  await clock.pass(4000);
  assert.deepEqual(told, ["download waits for GPU 3 (12.1 GB in use)"]);
  show(onGpu(45_000, 300));
  await clock.pass(2000);
  assert.deepEqual(told.slice(1), ["download has its turn", "46000: download 1/3 of r1"]);
  dispose();
});

test("on GPUs that are held by others a retry starts, or is not made, as `when_busy` says", async () => {
  for (const [whenBusy, wanted] of [
    ["start", "42000: download 1/3 of r1"],
    ["refuse", "hold download: its GPUs are in use by somebody else: GPU 3 (12.1 GB in use)."],
  ] as const) {
    const { clock, told, show, dispose } = runner(onGpu(20_000, 12_400, whenBusy));
    await clock.pass(41_000);
    show(onGpu(41_000, 12_400, whenBusy));
    await clock.pass(2000);
    assert.deepEqual(told, [wanted]);
    dispose();
  }
});

test("the row of a retry that waits for its turn says for what, however long that takes", () => {
  const queued: SessionEvent = { type: "retry-queued", at: 50_000, ...ofStage("download"), run: "r1", for: "GPU 3" };
  const late: SessionEvent = { type: "tick", at: 8 * 3600 * second };
  const [waits, over] = [
    [queued, late],
    [queued, { type: "retry-queued", at: 60_000, ...ofStage("download"), run: "r1" } as const],
  ].map((events) => member(events.reduce(applyEvent, onGpu(41_000, 300)), "download"));
  assert.ok(waits && over);
  assert.match(stateText(waits.state, waits, late.at), / · waits for GPU 3, then starts again \(1 of 3\)$/);
  assert.match(stateText(over.state, over, 60_000), / · starts again now \(1 of 3\)$/);
});
