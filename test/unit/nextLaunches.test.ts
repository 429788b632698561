import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { GpuSample } from "../../src/core/ports";
import { applyEvent } from "../../src/core/session/apply";
import { ofMember, type SessionDefinition, type StageDefinition } from "../../src/core/session/definition";
import type { MemberRef, SessionEvent } from "../../src/core/session/events";
import { isActive, lastSeen } from "../../src/core/session/judge";
import type { Member, PipelinePlan, Session } from "../../src/core/session/model";
import { nextLaunches, surelyFinished, type NextLaunches } from "../../src/core/session/nextLaunches";
import {
  isFinished,
  joined,
  memberKey,
  planOf,
  planOfMembers,
  planOfRefs,
  stagesFrom,
  unfinishedNeeds,
} from "../../src/core/session/pipelinePlan";
import { definition, ended, play, record, records, stage } from "./sessions";

const none: ReadonlySet<string> = new Set();
const read: SessionEvent = { type: "records", at: 0, host: "gpu8", records: [], all: true };

function gpu(index: number, usedMib: number, at: number, utilisation = 0): GpuSample {
  return { index, uuid: `gpu${index}`, name: "H200", at, memoryUsedMib: usedMib, memoryTotalMib: 143_771, utilisation };
}

function sampled(at: number, ...samples: readonly GpuSample[]): SessionEvent {
  return { type: "gpus", at, host: "gpu8", report: { kind: "samples", samples } };
}

/** A stage with members `0` to `count - 1`; `gpus` gives each its own. */
function shards(
  name: string,
  count: number,
  gpus: (i: number) => StageDefinition["gpus"],
  more: Partial<StageDefinition> = {},
): StageDefinition {
  const members = Array.from({ length: count }, (_, i) => String(i));
  const parts = new Map(
    members.map((member, i) => {
      const own = gpus(i);
      return [
        member,
        { env: {}, command: `run ${name} ${member}`, ...(own === undefined ? {} : { gpus: own }) },
      ] as const;
    }),
  );
  return stage(name, { members, memberParts: parts, ...more });
}

function next(session: Session, plan: PipelinePlan, now: number, inFlight = none, heldBack = none): NextLaunches {
  return nextLaunches(session, plan, { now, inFlight, heldBack });
}

function names(refs: readonly MemberRef[]): readonly string[] {
  return refs.map((ref) => (ref.member === "0" ? ref.stage : memberKey(ref)));
}

function memberOf(session: Session, ref: MemberRef): Member {
  const found = session.stages.get(ref.stage)?.members.find(({ name }) => name === ref.member);
  if (!found) throw new Error(`no member ${memberKey(ref)}`);
  return found;
}

const diamond = definition(
  stage("prepare"),
  stage("left", { needs: ["prepare"] }),
  stage("right", { needs: ["prepare"] }),
  stage("train", { needs: ["left", "right"] }),
);

describe("what a pipeline launches next", () => {
  test("in a diamond the first, then both sides at once, then the last when both are surely finished", () => {
    let session = play(diamond, read);
    const plan = planOf(session, stagesFrom(diamond, "prepare"));
    assert.deepEqual(plan.stages, ["prepare", "left", "right", "train"]);
    assert.deepEqual(names(next(session, plan, 1).launch), ["prepare"]);
    session = applyEvent(session, records(1000, ended("prepare", 0)));
    // The log may yet say that it failed.
    assert.deepEqual(next(session, plan, 1500).launch, []);
    assert.equal(next(session, plan, 1500).standing, "going");
    assert.deepEqual(names(next(session, plan, 9000).launch), ["left", "right"]);
    session = applyEvent(session, records(10_000, ended("left", 0), record("right")));
    assert.deepEqual(next(session, plan, 20_000).launch, []);
    session = applyEvent(session, records(21_000, ended("right", 0)));
    assert.deepEqual(names(next(session, plan, 30_000).launch), ["train"]);
    session = applyEvent(session, records(31_000, ended("train", 0)));
    assert.equal(next(session, plan, 40_000).standing, "through");
  });

  test("what failed is not started again, what waits for it goes on when somebody's restart has succeeded", () => {
    let session = play(diamond, read);
    const plan = planOf(session, ["prepare", "left", "right", "train"]);
    session = applyEvent(session, records(1000, ended("prepare", 1)));
    session = applyEvent(session, { type: "tick", at: 20_000 });
    const stuck = next(session, plan, 20_000);
    assert.deepEqual(stuck, { launch: [], queued: new Map(), refuse: [], standing: "stuck" });
    assert.deepEqual(session.stages.get("left")?.state, {
      kind: "blocked",
      by: ["prepare"],
      why: "prepare: failed",
    });
    session = applyEvent(session, records(30_000, record("prepare", { run: "r2", startedAt: 25_000 })));
    assert.equal(next(session, plan, 30_000).standing, "going");
    session = applyEvent(session, records(40_000, ended("prepare", 0, { run: "r2", startedAt: 25_000 })));
    assert.deepEqual(names(next(session, plan, 60_000).launch), ["left", "right"]);
  });

  test("a run that had failed before is repeated once, one that had finished is not", () => {
    const session = play(diamond, read, records(1000, ended("prepare", 0), ended("left", 1), ended("right", 0)), {
      type: "tick",
      at: 20_000,
    });
    const plan = planOf(session, ["prepare", "left", "right", "train"]);
    assert.deepEqual(plan.again, { "left/0": "r1" });
    assert.deepEqual(names(next(session, plan, 30_000).launch), ["left"]);
    const failedAgain = applyEvent(session, records(40_000, ended("left", 1, { run: "r2", startedAt: 31_000 })));
    assert.deepEqual(next(failedAgain, plan, 90_000).launch, []);
  });

  test("an output that is declared must have been looked at first", () => {
    const def = definition(stage("a", { doneWhen: { files: ["x"] } }), stage("b", { needs: ["a"] }));
    const session = play(def, read, records(1000, ended("a", 0)));
    const plan = planOf(session, ["a", "b"]);
    assert.deepEqual(next(session, plan, 900_000).launch, []);
    assert.equal(next(session, plan, 900_000).standing, "going");
    const report = { ok: true, bytes: 1, files: 1, detail: "" };
    const looked = applyEvent(session, { type: "outputs", at: 2000, stage: "a", member: "0", run: "r1", report });
    assert.deepEqual(names(next(looked, plan, 2001).launch), ["b"]);
  });

  test("nothing is started on a host that cannot be seen, or whose records were not read yet", () => {
    const unread = play(definition(stage("a")));
    assert.throws(() => planOf(unread, ["a"]), /try again in a moment/);
    const plan: PipelinePlan = { stages: ["a"], again: {}, leftOut: [], givenUp: [], regardless: [], ways: {} };
    const early = next(unread, plan, 1);
    assert.deepEqual([early.launch, early.queued.get("a/0"), early.standing], [[], "the records of gpu8", "going"]);
    const seen = applyEvent(unread, read);
    assert.deepEqual(names(next(seen, plan, 1).launch), ["a"]);
    const away = applyEvent(seen, { type: "disconnected", at: 2, host: "gpu8", byUser: false, message: "cut" });
    assert.deepEqual(next(away, plan, 3).launch, []);
    assert.throws(() => planOf(away, ["a"]), /not connected/);
    const back = applyEvent(away, { type: "connected", at: 4, host: "gpu8", identity: identityOf(seen) });
    assert.deepEqual(next(back, plan, 5).launch, []);
  });

  test("a file that is wrong at the moment keeps a stage waiting, and says so", () => {
    const def = definition(stage("a", { unsupported: ["the session file has a syntax error"] }));
    const plan: PipelinePlan = { stages: ["a"], again: {}, leftOut: [], givenUp: [], regardless: [], ways: {} };
    const { launch, queued, standing } = next(play(def, read), plan, 1);
    assert.deepEqual([launch, standing], [[], "stuck"]);
    assert.match(queued.get("a/0") ?? "", /session file .*syntax error/);
  });

  test("services count as there", () => {
    const service = { name: "vllm", host: "gpu8", unsupported: [], range: { from: 0, to: 0 } };
    const def: SessionDefinition = {
      ...definition(stage("a", { needs: ["vllm"] })),
      services: new Map([["vllm", service]]),
    };
    const session = play(def, read);
    assert.deepEqual(names(next(session, planOf(session, ["a"]), 1).launch), ["a"]);
  });
});

function identityOf(session: Session): NonNullable<ReturnType<Session["hosts"]["get"]>>["identity"] & object {
  const identity = session.hosts.get("gpu8")?.identity;
  assert.ok(identity);
  return identity;
}

describe("a plan", () => {
  test("is the stage and what needs it, and names what it needs besides", () => {
    const def = definition(
      stage("download"),
      stage("prepare"),
      stage("inference", { needs: ["prepare"] }),
      stage("extract", { needs: ["inference"] }),
      stage("train", { needs: ["extract", "download"] }),
      stage("other"),
    );
    assert.deepEqual(stagesFrom(def, "inference"), ["inference", "extract", "train"]);
    const session = play(def, read);
    assert.deepEqual(unfinishedNeeds(session, ["inference", "extract", "train"]), ["download", "prepare"]);
    const under = applyEvent(session, records(1000, record("download"), ended("prepare", 0)));
    assert.deepEqual(unfinishedNeeds(under, ["inference", "extract", "train"]), []);
  });

  test("passes over a stage that is only watched, not over what waits for it", () => {
    const { command, ...watched } = stage("logs", { needs: ["a"], log: "/x.log" });
    const def = definition(stage("a"), watched, stage("b", { needs: ["logs"] }));
    assert.deepEqual(stagesFrom(def, "a"), ["a", "b"]);
    const session = play(def, read, records(1, ended("a", 0)));
    const { launch, standing } = next(session, planOf(session, ["a", "b"]), 60_000);
    assert.deepEqual([launch, standing], [[], "stuck"]);
    assert.equal(command, "run logs");
  });
});

describe("GPUs", () => {
  test("members without any start at once, members with their own too, members with all of them one after the other", () => {
    const def = definition(
      shards("free", 3, () => undefined),
      shards("own", 3, (i) => [i]),
      shards("all", 2, () => "all"),
    );
    const session = play(def, read, sampled(0, gpu(0, 4, 0), gpu(1, 4, 0), gpu(2, 4, 0)));
    const plan = planOf(session, ["free", "own", "all"]);
    const { launch, queued } = next(session, plan, 1);
    assert.deepEqual(names(launch), ["free", "free/1", "free/2", "own", "own/1", "own/2"]);
    assert.equal(queued.get("all/0"), "GPU 0 (own 0 runs there)");
    const alone = next(session, planOf(session, ["all"]), 1);
    assert.deepEqual(names(alone.launch), ["all"]);
    assert.equal(alone.queued.get("all/1"), "the GPUs (all 0 runs there)");
  });

  test("that somebody else uses are waited for, or started on, or refused, as when_busy says", () => {
    const busy = [gpu(0, 4, 0), gpu(3, 12_390, 0), gpu(4, 700, 0, 97)];
    const decide = (more: Partial<StageDefinition>, at = 1): NextLaunches => {
      const session = play(definition(stage("a", more)), read, sampled(0, ...busy));
      return next(session, planOf(session, ["a"]), at);
    };
    assert.deepEqual(names(decide({ gpus: [0] }).launch), ["a"]);
    const waits = decide({ gpus: [3] });
    assert.deepEqual([waits.launch, waits.queued.get("a/0"), waits.standing], [[], "GPU 3 (12.1 GB in use)", "going"]);
    assert.equal(decide({ gpus: "all" }).queued.get("a/0"), "GPU 3 (12.1 GB in use) and GPU 4 (97 % busy)");
    assert.deepEqual(names(decide({ gpus: [3], whenBusy: "start" }).launch), ["a"]);
    const refused = decide({ gpus: [3], whenBusy: "refuse" });
    assert.equal(refused.refuse[0]?.reason, "in use by somebody else: GPU 3 (12.1 GB in use)");
    assert.equal(refused.standing, "stuck");
    assert.equal(decide({ gpus: [0] }, 60_000).queued.get("a/0"), "GPU 0 (not seen for a while)");
  });

  test("no word of them yet is waited for; a host without any holds nothing back", () => {
    const session = play(definition(stage("a", { gpus: [0] })), read);
    const plan = planOf(session, ["a"]);
    assert.equal(next(session, plan, 1).queued.get("a/0"), "a first look at the GPUs");
    const bare = applyEvent(session, {
      type: "gpus",
      at: 1,
      host: "gpu8",
      report: { kind: "unavailable", reason: "no nvidia-smi" },
    });
    assert.deepEqual(names(next(bare, plan, 2).launch), ["a"]);
  });

  test("whose last job was the session's own a moment ago are waited for, whatever when_busy says", () => {
    const def = definition(
      stage("a", { gpus: [0] }),
      stage("b", { gpus: [0], whenBusy: "refuse" }),
      stage("c", { gpus: [0], whenBusy: "start" }),
    );
    const late = sampled(1200, gpu(0, 60_000, 1200));
    const session = play(def, read, records(1000, ended("a", 0)), late);
    const { refuse, queued, launch } = next(session, planOf(session, ["b", "c"]), 1500);
    assert.deepEqual([refuse, launch, [...queued.keys()]], [[], [], ["b/0", "c/0"]]);
  });

  test("of a service that the stage needs are shared with it; of another service they are somebody else's", () => {
    const service = { name: "vllm", host: "gpu8", gpus: "all" as const, unsupported: [], range: { from: 0, to: 0 } };
    const def: SessionDefinition = {
      ...definition(stage("client", { gpus: [0], needs: ["vllm"] }), stage("train", { gpus: [0] })),
      services: new Map([["vllm", service]]),
    };
    const session = play(def, read, sampled(0, gpu(0, 131_000, 0)));
    const plan = planOf(session, ["client", "train"]);
    const { launch, queued } = next(session, plan, 1);
    assert.deepEqual(names(launch), ["client"]);
    assert.equal(queued.get("train/0"), "GPU 0 (client runs there)");
  });
});

/** Any pipeline without circles: a stage needs some of those before it. */
const anyPipeline = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat(), { maxLength: 3 }),
      members: fc.integer({ min: 1, max: 4 }),
      gpus: fc.constantFrom("none", "own", "all", "first"),
      // The run of each member that succeeds; those before it fail.
      succeedsAt: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((drafts) => {
    const stages = drafts.map(({ needs, members, gpus }, i) =>
      shards(`s${i}`, members, (m) => ({ none: undefined, own: [m], all: "all" as const, first: [0] })[gpus], {
        needs: i === 0 ? [] : [...new Set(needs.map((need) => `s${need % i}`))],
      }),
    );
    return { def: definition(...stages), succeedsAt: new Map(drafts.map((draft, i) => [`s${i}`, draft.succeedsAt])) };
  });

/** A host that runs what is launched, in an order that the test draws. */
class World {
  session: Session;
  now = 1000;
  readonly starts = new Map<string, number>();

  constructor(
    readonly def: SessionDefinition,
    readonly succeedsAt: ReadonlyMap<string, number>,
  ) {
    this.session = play(def, read);
    this.look();
  }

  look(): void {
    this.now += 10_000;
    const samples = [0, 1, 2, 3].map((index) => gpu(index, this.holders(index).length > 0 ? 90_000 : 4, this.now));
    this.session = applyEvent(this.session, sampled(this.now, ...samples));
  }

  running(): readonly MemberRef[] {
    return [...this.session.stages.values()].flatMap(({ definition: { name }, members }) =>
      members.filter(({ state }) => isActive(lastSeen(state))).map((one) => ({ stage: name, member: one.name })),
    );
  }

  holders(index: number): readonly MemberRef[] {
    return this.running().filter(({ stage: name, member }) => {
      const found = this.def.stages.get(name);
      const gpus = found && ofMember(found, member).gpus;
      return gpus === "all" || gpus?.includes(index);
    });
  }

  launch(ref: MemberRef): void {
    const key = memberKey(ref);
    const count = (this.starts.get(key) ?? 0) + 1;
    this.starts.set(key, count);
    const run = record(ref.stage, { member: ref.member, run: `r${count}`, startedAt: this.now });
    this.session = applyEvent(this.session, records(this.now, run));
  }

  end(ref: MemberRef): void {
    const { run } = memberOf(this.session, ref);
    assert.ok(run);
    const success = (this.starts.get(memberKey(ref)) ?? 0) >= (this.succeedsAt.get(ref.stage) ?? 1);
    const end = { exit: { kind: "code", code: success ? 0 : 1 }, at: this.now } as const;
    this.session = applyEvent(this.session, records(this.now, { ...run, end, liveness: "ended" }));
    this.now += 10_000;
    this.session = applyEvent(this.session, { type: "tick", at: this.now });
  }

  failed(): readonly MemberRef[] {
    return [...this.session.stages.values()].flatMap(({ definition: { name }, members }) =>
      members.filter(({ state }) => state.kind === "failed").map((one) => ({ stage: name, member: one.name })),
    );
  }
}

test("any pipeline comes to its end: needs first, one member a GPU, nothing twice but what was restarted", () => {
  fc.assert(
    fc.property(anyPipeline, fc.infiniteStream(fc.nat()), ({ def, succeedsAt }, luck) => {
      const world = new World(def, succeedsAt);
      const plan = planOf(world.session, [...def.stages.keys()]);
      const draw = (below: number): number => (luck.next().value ?? 0) % below;
      let rounds = 0;
      for (;;) {
        assert.ok(++rounds < 500, "it does not end");
        const { launch, standing } = next(world.session, plan, world.now);
        for (const ref of launch) {
          for (const need of def.stages.get(ref.stage)?.needs ?? []) {
            const needed = world.session.stages.get(need);
            assert.ok(needed && surelyFinished(needed, world.now), `${ref.stage} before ${need}`);
          }
          world.launch(ref);
        }
        for (const index of [0, 1, 2, 3]) assert.ok(world.holders(index).length <= 1, `two members on GPU ${index}`);
        const running = world.running();
        const one = running[draw(Math.max(1, running.length))];
        if (one) {
          assert.equal(standing, "going");
          world.end(one);
        } else if (standing === "through") break;
        else {
          // Nothing runs and nothing is launched: somebody restarts what failed, one of it.
          const failed = world.failed();
          assert.equal(standing, "stuck");
          const broken = failed[draw(Math.max(1, failed.length))];
          assert.ok(broken, "it stands still without a reason");
          world.launch(broken);
        }
        world.look();
      }
      for (const [name, { members }] of world.session.stages) {
        for (const { name: member, state } of members) {
          assert.ok(isFinished(state));
          assert.equal(world.starts.get(memberKey({ stage: name, member })), succeedsAt.get(name));
        }
      }
    }),
    { numRuns: 200 },
  );
});

describe("some members of one stage", () => {
  const def = definition(
    stage("before"),
    shards("extract", 4, () => "all", { needs: ["before"] }),
  );
  const member = (name: string, code: number): SessionEvent =>
    records(1000, ended("extract", code, { member: name, run: `r${name}` }));

  test("are launched whatever the stage needs, one after the other, and nobody else", () => {
    const session = play(def, read, sampled(0, gpu(0, 4, 0)), member("0", 0), member("1", 1), member("2", 1), {
      type: "tick",
      at: 20_000,
    });
    const plan = planOfMembers(session, "extract", ["1", "2"]);
    const fresh = applyEvent(session, sampled(60_000, gpu(0, 4, 60_000)));
    const { launch, queued } = next(fresh, plan, 60_000);
    assert.deepEqual(names(launch), ["extract/1"]);
    assert.deepEqual([...queued], [["extract/2", "the GPUs (extract 1 runs there)"]]);
    const again = (name: string): SessionEvent =>
      records(61_000, ended("extract", 0, { member: name, run: `again${name}`, startedAt: 60_500 }));
    const through = [again("1"), again("2")].reduce(applyEvent, fresh);
    assert.equal(next(through, plan, 90_000).standing, "through");
  });

  test("of several stages go after each other as they need each other, whatever else they need", () => {
    const session = play(
      definition(
        stage("before"),
        shards("extract", 4, () => undefined, { needs: ["before"] }),
        stage("train", { needs: ["extract"] }),
      ),
      read,
      member("1", 1),
    );
    const refs = [
      { stage: "train", member: "0" },
      { stage: "extract", member: "1" },
    ];
    const { stages, leftOut, regardless } = planOfRefs(session, refs);
    assert.deepEqual(stages, ["extract", "train"]);
    assert.deepEqual(leftOut, ["extract/0", "extract/2", "extract/3"]);
    assert.deepEqual(regardless, ["extract"]);
  });

  test("join what is under way: the newer word about a stage holds", () => {
    const session = play(def, read, member("1", 1), { type: "tick", at: 20_000 });
    const older = { ...planOf(session, ["before", "extract"]), again: { "extract/0": "old", "before/0": "b" } };
    const both = joined(
      def,
      { ...older, givenUp: ["extract/3", "before/0"] },
      planOfMembers(session, "extract", ["1"]),
    );
    assert.deepEqual(both, {
      stages: ["before", "extract"],
      again: { "before/0": "b", "extract/1": "r1" },
      leftOut: ["extract/0", "extract/2", "extract/3"],
      givenUp: ["before/0"],
      regardless: ["extract"],
      ways: {},
    });
  });
});

test("a circle, which no session file can say, starts nothing and ends", () => {
  const def = definition(stage("a", { needs: ["b"] }), stage("b", { needs: ["a"] }));
  const session = play(def, read);
  const plan = planOf(session, stagesFrom(def, "a"));
  assert.deepEqual([next(session, plan, 1).launch, next(session, plan, 1).standing], [[], "stuck"]);
  assert.deepEqual(unfinishedNeeds(session, ["a"]), ["b"]);
});
