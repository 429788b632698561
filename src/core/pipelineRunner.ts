import { messageOf } from "./errors";
import type { Launcher } from "./launcher";
import { LaunchesUnderWay } from "./launchesUnderWay";
import { isAborted, type Disposable } from "./lifecycle";
import type { Clock, Logger } from "./ports";
import type { MemberRef, SessionEvent } from "./session/events";
import { lastSeen } from "./session/judge";
import type { Pipeline, PipelinePlan, Session } from "./session/model";
import { nextLaunches, type NextLaunches } from "./session/nextLaunches";
import { memberKey } from "./session/pipelinePlan";
import type { SessionStore } from "./session/store";

/** What moves on by time alone (last words, GPU samples that grow old) is looked at so often. */
const lookEveryMs = 1000;

/** Where plans outlive the window. */
export interface PipelineMemory {
  read(session: string): PipelinePlan | undefined;
  /** Undefined: it is over. */
  write(session: string, plan: PipelinePlan | undefined): void;
}

/** What a runner is made from. */
export interface PipelineContext {
  readonly store: SessionStore;
  readonly launcher: Pick<Launcher, "launchUnasked">;
  readonly memory: PipelineMemory;
  /** Shared with whatever else launches by itself in the window. */
  readonly underWay?: LaunchesUnderWay;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The circumstances of a launch that was refused; it is not tried again before one of them is another. */
interface Refusal {
  readonly definition: Session["definition"];
  readonly connectedSince: number;
}

/**
 * Launches the stages of pipelines one after the other while the window is open, as `nextLaunches` decides after each
 * change of the picture. That nothing runs twice is the host's lock; what was going on before a reload goes on.
 */
export class PipelineRunner implements Disposable {
  readonly #context: PipelineContext;
  readonly #listening: Disposable;
  readonly #ending = new AbortController();
  /** Open sessions whose kept plan was looked for. */
  readonly #seen = new Set<string>();
  readonly #underWay: LaunchesUnderWay;
  /** Session → members whose launch was refused. */
  readonly #refusals = new Map<string, Map<string, Refusal>>();
  #ticking = false;

  constructor(context: PipelineContext) {
    this.#context = context;
    this.#underWay = context.underWay ?? new LaunchesUnderWay();
    this.#listening = context.store.onDidChange(() => {
      this.#look();
    });
    this.#look();
  }

  /** Goes on with a plan from now on; it takes the place of one that is under way. */
  start(session: string, plan: PipelinePlan): void {
    this.#context.logger.info(`pipeline of ${session}: ${plan.stages.join(", ")}`);
    this.#refusals.delete(session);
    this.#context.memory.write(session, plan);
    this.#apply(session, { type: "pipeline", at: this.#now(), pipeline: { plan, standing: "going" } });
    this.#look();
  }

  /** Launches nothing more of it. What runs goes on. */
  stop(session: string): void {
    this.#context.logger.info(`pipeline of ${session}: stopped`);
    this.#end(session);
    this.#apply(session, { type: "pipeline", at: this.#now(), pipeline: undefined });
  }

  dispose(): void {
    this.#ending.abort();
    this.#listening.dispose();
  }

  #look(): void {
    const { store, memory, isTrusted } = this.#context;
    if (this.#ending.signal.aborted) return;
    for (const id of this.#seen) if (!store.sessions.has(id)) this.#forget(id);
    let going = false;
    for (const id of [...store.sessions.keys()]) {
      if (!this.#seen.has(id)) {
        this.#seen.add(id);
        const plan = memory.read(id);
        if (plan) this.#apply(id, { type: "pipeline", at: this.#now(), pipeline: { plan, standing: "going" } });
      }
      if (isTrusted()) this.#step(id);
      const standing = store.sessions.get(id)?.pipeline?.standing;
      going ||= standing !== undefined && standing !== "through";
    }
    if (going) void this.#tick();
  }

  async #tick(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    const { signal } = this.#ending;
    await this.#context.clock.sleep(lookEveryMs, signal).catch(() => undefined); // aborted: the look does nothing
    this.#ticking = false;
    if (!isAborted(signal)) this.#look();
  }

  #step(id: string): void {
    const session = this.#context.store.sessions.get(id);
    if (!session?.pipeline || session.pipeline.standing === "through") return;
    const { plan } = session.pipeline;
    const moment = { now: this.#now(), inFlight: this.#underWay.of(id), heldBack: this.#heldBack(session) };
    const next = nextLaunches(session, plan, moment);
    this.#tellQueue(session, plan, next);
    if (next.standing === "through") this.#end(id);
    if (next.refuse.length > 0) this.#giveUp(id, plan, next.refuse);
    else this.#tell(session, { plan, standing: next.standing });
    for (const ref of next.launch) void this.#launch(session, ref);
  }

  /** Whoever may not start on busy GPUs is not started by this pipeline, also not when they are free some day. */
  #giveUp(id: string, plan: PipelinePlan, refused: NextLaunches["refuse"]): void {
    const { memory } = this.#context;
    const left: PipelinePlan = { ...plan, givenUp: [...plan.givenUp, ...refused.map(({ ref }) => memberKey(ref))] };
    memory.write(id, left);
    for (const { ref, reason } of refused) this.#apply(id, { type: "launch-refused", at: this.#now(), ...ref, reason });
    this.#apply(id, { type: "pipeline", at: this.#now(), pipeline: { plan: left, standing: "going" } });
  }

  async #launch(session: Session, ref: MemberRef): Promise<void> {
    const { launcher, logger } = this.#context;
    const key = memberKey(ref);
    const flying = this.#underWay.of(session.id);
    flying.add(key);
    logger.info(`pipeline of ${session.id}: ${key} is next${uncheckedWords(session, ref)}`);
    try {
      await launcher.launchUnasked(session.id, ref, session.pipeline?.plan.ways[ref.stage]);
    } catch (error) {
      logger.warn(`pipeline of ${session.id}: ${key}: ${messageOf(error)}`);
      const refusals = this.#refusals.get(session.id) ?? new Map<string, Refusal>();
      this.#refusals.set(session.id, refusals.set(key, circumstances(session, ref)));
    } finally {
      flying.delete(key);
    }
    this.#look();
  }

  /** Members that are not tried again as things are. */
  #heldBack(session: Session): ReadonlySet<string> {
    const held = new Set<string>();
    for (const [key, refusal] of this.#refusals.get(session.id) ?? []) {
      const [stage = "", member = ""] = key.split("/");
      const now = circumstances(session, { stage, member });
      if (now.definition === refusal.definition && now.connectedSince === refusal.connectedSince) held.add(key);
    }
    return held;
  }

  #tellQueue(session: Session, { stages }: PipelinePlan, { queued }: NextLaunches): void {
    for (const name of stages) {
      for (const { name: member, queuedFor } of session.stages.get(name)?.members ?? []) {
        const ref = { stage: name, member };
        const waitsFor = queued.get(memberKey(ref));
        if (waitsFor === queuedFor) continue;
        const event = { type: "queued", at: this.#now(), ...ref } as const;
        this.#apply(session.id, waitsFor === undefined ? event : { ...event, for: waitsFor });
      }
    }
  }

  #tell({ id, pipeline: old }: Session, pipeline: Pipeline): void {
    if (old?.plan === pipeline.plan && old.standing === pipeline.standing) return;
    if (old?.standing !== pipeline.standing)
      this.#context.logger.info(`pipeline of ${id}: ${standingWords[pipeline.standing]}`);
    this.#apply(id, { type: "pipeline", at: this.#now(), pipeline });
  }

  /** Nothing of it is launched, kept or queued any more. */
  #end(id: string): void {
    this.#context.memory.write(id, undefined);
    this.#refusals.delete(id);
    const session = this.#context.store.sessions.get(id);
    for (const [stage, { members }] of session?.stages ?? []) {
      for (const { name, queuedFor } of members)
        if (queuedFor !== undefined) this.#apply(id, { type: "queued", at: this.#now(), stage, member: name });
    }
  }

  /** The session was closed; its plan is kept for when it is open again. */
  #forget(id: string): void {
    this.#seen.delete(id);
    this.#refusals.delete(id);
  }

  #now(): number {
    return this.#context.clock.now();
  }

  #apply(session: string, event: SessionEvent): void {
    this.#context.store.apply(session, event);
  }
}

const standingWords: Readonly<Record<Pipeline["standing"], string>> = {
  going: "goes on",
  stuck: "cannot go on",
  through: "is through",
};

function circumstances(session: Session, { stage }: MemberRef): Refusal {
  const host = session.hosts.get(session.stages.get(stage)?.definition.host ?? "");
  const connectedSince = host?.connection.kind === "connected" ? host.connection.since : 0;
  return { definition: session.definition, connectedSince };
}

/** Of which needs nobody can say that their result is right. */
function uncheckedWords(session: Session, { stage }: MemberRef): string {
  const needs = session.stages.get(stage)?.definition.needs ?? [];
  const unchecked = needs.filter((need) => {
    const state = session.stages.get(need)?.state;
    return state !== undefined && lastSeen(state).kind === "finished-unchecked";
  });
  return unchecked.length === 0 ? "" : `; finished, but not checked: ${unchecked.join(", ")}`;
}
