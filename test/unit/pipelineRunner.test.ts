import assert from "node:assert/strict";
import { test } from "node:test";
import { ExpectedError } from "../../src/core/errors";
import { PipelineRunner, type PipelineMemory } from "../../src/core/pipelineRunner";
import type { SessionDefinition } from "../../src/core/session/definition";
import type { SessionEvent } from "../../src/core/session/events";
import type { Pipeline, PipelinePlan, Session } from "../../src/core/session/model";
import { planOf } from "../../src/core/session/pipelinePlan";
import { SessionStore } from "../../src/core/session/store";
import { HandClock, settled } from "./handClock";
import { definition, ended, identity, record, records, stage } from "./sessions";

const ignore = (): void => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** What a window's workspace keeps; it outlives the window of a test. */
class Kept implements PipelineMemory {
  readonly plans = new Map<string, PipelinePlan>();

  read(session: string): PipelinePlan | undefined {
    return this.plans.get(session);
  }

  write(session: string, plan: PipelinePlan | undefined): void {
    // As VS Code keeps it: as JSON.
    if (plan) this.plans.set(session, JSON.parse(JSON.stringify(plan)) as PipelinePlan);
    else this.plans.delete(session);
  }
}

/** A window whose host starts what it is asked to, unless a test says otherwise. */
class Window {
  readonly clock = new HandClock();
  readonly launched: string[] = [];
  readonly store: SessionStore;
  readonly runner: PipelineRunner;
  trusted = true;
  refuse: (stage: string) => string | undefined = () => undefined;
  #change: (() => void) | undefined;

  constructor(
    readonly def: SessionDefinition,
    readonly kept = new Kept(),
  ) {
    this.store = new SessionStore((run) => {
      this.#change = run;
      return { dispose: ignore };
    });
    const launchUnasked = async (session: string, { stage: name }: { readonly stage: string }): Promise<void> => {
      await Promise.resolve();
      const reason = this.refuse(name);
      if (reason !== undefined) {
        this.store.apply(session, { type: "launch-refused", at: this.clock.now(), stage: name, member: "0", reason });
        throw new ExpectedError(reason);
      }
      this.launched.push(name);
      const run = `r${this.launched.length}`;
      this.say(records(this.clock.now(), record(name, { run, startedAt: this.clock.now() })));
    };
    const { store, clock } = this;
    const isTrusted = (): boolean => this.trusted;
    this.runner = new PipelineRunner({ store, launcher: { launchUnasked }, memory: kept, isTrusted, clock, logger });
  }

  open(...events: readonly SessionEvent[]): void {
    this.store.open("s", this.def, this.clock.now());
    this.say({ type: "connected", at: this.clock.now(), host: "gpu8", identity });
    for (const event of events) this.say(event);
  }

  say(event: SessionEvent): void {
    this.store.apply("s", event);
  }

  get session(): Session {
    const session = this.store.sessions.get("s");
    assert.ok(session);
    return session;
  }

  get standing(): Pipeline["standing"] | undefined {
    return this.session.pipeline?.standing;
  }

  start(...stages: readonly string[]): void {
    this.runner.start("s", planOf(this.session, stages));
  }

  /** The run that goes on ends so. */
  end(name: string, code: number): void {
    const run = this.session.stages.get(name)?.members[0]?.run;
    assert.ok(run);
    const end = { exit: { kind: "code", code }, at: this.clock.now() } as const;
    this.say(records(this.clock.now(), { ...run, end, liveness: "ended" }));
  }

  /** Lets time pass, with the tick that a window has. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.clock.pass(Math.min(1000, left));
      this.say({ type: "tick", at: this.clock.now() });
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) {
      const run = this.#change;
      this.#change = undefined;
      run?.();
      await settled();
    }
  }
}

const read: SessionEvent = { type: "records", at: 0, host: "gpu8", records: [], all: true };
const chain = definition(
  stage("download"),
  stage("extract", { needs: ["download"] }),
  stage("train", { needs: ["extract"] }),
);

test("stages are launched one after the other; a failed one blocks, and its restart by anybody lets the rest go on", async () => {
  const window = new Window(chain);
  window.open(read);
  window.start("download", "extract", "train");
  await window.pass(1000);
  assert.deepEqual(window.launched, ["download"]);
  window.end("download", 0);
  await window.pass(10_000);
  assert.deepEqual(window.launched, ["download", "extract"]);
  window.end("extract", 1);
  await window.pass(60_000);
  assert.deepEqual(window.launched, ["download", "extract"]);
  assert.equal(window.standing, "stuck");
  assert.equal(window.session.stages.get("train")?.state.kind, "blocked");
  // Another window, a button or a retry: all that is seen of it is a new run.
  window.say(records(window.clock.now(), record("extract", { run: "other", startedAt: window.clock.now() })));
  await window.pass(1000);
  assert.equal(window.standing, "going");
  window.end("extract", 0);
  await window.pass(10_000);
  assert.deepEqual(window.launched, ["download", "extract", "train"]);
  window.end("train", 0);
  await window.pass(10_000);
  assert.equal(window.standing, "through");
  assert.deepEqual([...window.kept.plans], []);
  // What ends later is no longer its business.
  window.say(records(window.clock.now(), ended("train", 1, { run: "later", startedAt: window.clock.now() })));
  await window.pass(60_000);
  assert.equal(window.standing, "through");
  assert.equal(window.launched.length, 3);
});

test("a reload goes on where it was: nothing before the records are read, nothing twice", async () => {
  const before = new Window(chain);
  before.open(read);
  before.start("download", "extract", "train");
  await before.pass(1000);
  before.runner.dispose();
  before.end("download", 0);
  await before.pass(60_000);
  assert.deepEqual(before.launched, ["download"]);

  const after = new Window(chain, before.kept);
  after.open();
  await after.pass(60_000);
  assert.deepEqual(after.launched, []);
  assert.equal(after.standing, "going");
  after.say({ ...records(after.clock.now(), ended("download", 0)), all: true } as SessionEvent);
  await after.pass(10_000);
  assert.deepEqual(after.launched, ["extract"]);
});

test("a refused launch is not tried again as things are, but when the file is saved or the link is new", async () => {
  const window = new Window(chain);
  window.open(read);
  let tries = 0;
  window.refuse = () => `no folder (${++tries})`;
  window.start("download", "extract");
  await window.pass(30_000);
  assert.deepEqual([tries, window.standing], [1, "stuck"]);
  assert.deepEqual(window.session.stages.get("download")?.state, { kind: "refused", reason: "no folder (1)" });
  assert.equal(window.session.stages.get("extract")?.state.kind, "blocked");
  window.say({ type: "disconnected", at: window.clock.now(), host: "gpu8", byUser: false, message: "cut" });
  await window.pass(5000);
  assert.equal(window.standing, "going");
  window.say({ type: "connected", at: window.clock.now(), host: "gpu8", identity });
  window.say({ ...read, at: window.clock.now() });
  await window.pass(5000);
  assert.equal(tries, 2);
  window.refuse = () => undefined;
  window.store.open("s", definition(...chain.stages.values()), window.clock.now());
  await window.pass(5000);
  assert.deepEqual(window.launched, ["download"]);
});

test("a stage that is refused busy GPUs is left out for good; the next plan tries it again", async () => {
  const window = new Window(definition(stage("train", { gpus: [0], whenBusy: "refuse" })));
  const sample = (memoryUsedMib: number): SessionEvent => {
    const at = window.clock.now();
    const samples = [{ index: 0, uuid: "g", name: "H200", at, memoryUsedMib }];
    return { type: "gpus", at, host: "gpu8", report: { kind: "samples", samples } };
  };
  window.open(read, sample(50_000));
  window.start("train");
  await window.pass(2000);
  assert.deepEqual(window.session.stages.get("train")?.state, {
    kind: "refused",
    reason: "in use by somebody else: GPU 0 (48.8 GB in use)",
  });
  assert.equal(window.standing, "stuck");
  window.say(sample(4));
  await window.pass(5000);
  assert.deepEqual([window.launched, window.kept.plans.get("s")?.givenUp], [[], ["train/0"]]);
  window.say(sample(4));
  window.start("train");
  await window.pass(2000);
  assert.deepEqual(window.launched, ["train"]);
});

test("what waits for a GPU says so, until it is free", async () => {
  const window = new Window(definition(stage("train", { gpus: [3] })));
  const sample = (memoryUsedMib: number): SessionEvent => {
    const at = window.clock.now();
    const samples = [{ index: 3, uuid: "g", name: "H200", at, memoryUsedMib }];
    return { type: "gpus", at, host: "gpu8", report: { kind: "samples", samples } };
  };
  window.open(read, sample(12_390));
  window.start("train");
  await window.pass(1000);
  assert.deepEqual(window.session.stages.get("train")?.state, { kind: "waiting", for: ["GPU 3 (12.1 GB in use)"] });
  assert.deepEqual([window.launched, window.standing], [[], "going"]);
  window.say(sample(4));
  await window.pass(1000);
  assert.deepEqual(window.launched, ["train"]);
  assert.equal(window.session.stages.get("train")?.members[0]?.queuedFor, undefined);
});

test("stopping launches nothing more, and what runs goes on", async () => {
  const window = new Window(chain);
  window.open(read);
  window.start("download", "extract");
  await window.pass(1000);
  window.runner.stop("s");
  assert.deepEqual([window.session.pipeline, [...window.kept.plans]], [undefined, []]);
  window.end("download", 0);
  await window.pass(60_000);
  assert.deepEqual(window.launched, ["download"]);
});

test("in Restricted Mode nothing is launched, also nothing of a kept plan", async () => {
  const kept = new Kept();
  kept.write("s", { stages: ["download"], again: {}, leftOut: [], givenUp: [], regardless: [], ways: {} });
  const window = new Window(chain, kept);
  window.trusted = false;
  window.open(read);
  await window.pass(10_000);
  assert.deepEqual(window.launched, []);
  window.trusted = true;
  await window.pass(2000);
  assert.deepEqual(window.launched, ["download"]);
});
