import { messageOf } from "./errors";
import type { Launcher } from "./launcher";
import { LaunchesUnderWay } from "./launchesUnderWay";
import { branch, isAborted, type Disposable } from "./lifecycle";
import type { Clock, Logger } from "./ports";
import { ofMember } from "./session/definition";
import type { MemberRef } from "./session/events";
import { GpuQueue, type GpuTurn } from "./session/gpuQueue";
import type { Again } from "./session/model";
import { memberKey } from "./session/pipelinePlan";
import type { SessionReader } from "./session/store";

type Due = Extract<Again, { kind: "due" }>;

/** What the runner of retries is made from. */
export interface RetriesContext {
  readonly store: SessionReader;
  readonly launcher: Pick<Launcher, "retry" | "retryHindrance" | "holdRetry" | "queueRetry">;
  /** Shared with whatever else launches by itself in the window. */
  readonly underWay?: LaunchesUnderWay;
  readonly isTrusted: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A failed run that waits for its next try. */
interface Waiting {
  readonly session: string;
  readonly ref: MemberRef;
  readonly run: string;
}

/** How long after a try that the link broke another one is made, ms. */
const againAfterMs = 15_000;
/** GPUs of a try whose time has come are looked at so often, ms. */
const lookEveryMs = 1000;

/**
 * Starts failed members again while the window is open, when the picture says that they are due (`retry.ts`). It keeps
 * nothing of its own: the picture is counted from the records on the host, and of several windows the host lets one start.
 */
export class Retries implements Disposable {
  readonly #context: RetriesContext;
  readonly #listening: Disposable;
  readonly #ending = new AbortController();
  readonly #waiting = new Map<string, AbortController>();
  readonly #underWay: LaunchesUnderWay;

  constructor(context: RetriesContext) {
    this.#context = context;
    this.#underWay = context.underWay ?? new LaunchesUnderWay();
    this.#listening = context.store.onDidChange(() => {
      this.#look();
    });
    this.#look();
  }

  dispose(): void {
    this.#listening.dispose();
    this.#ending.abort();
  }

  #look(): void {
    if (isAborted(this.#ending.signal)) return;
    const now = new Map<string, Waiting>(this.#dueMembers().map((one) => [JSON.stringify(one), one]));
    for (const [key, ending] of this.#waiting) if (!now.has(key)) ending.abort();
    for (const [key, one] of now) {
      if (this.#waiting.has(key)) continue;
      const ending = new AbortController();
      this.#waiting.set(key, ending);
      void this.#wait(one, AbortSignal.any([ending.signal, branch(this.#ending.signal)])).finally(() => {
        this.#waiting.delete(key);
      });
    }
  }

  #dueMembers(): readonly Waiting[] {
    const { store, isTrusted } = this.#context;
    if (!isTrusted()) return [];
    return [...store.sessions].flatMap(([session, { stages }]) =>
      [...stages].flatMap(([stage, { members }]) =>
        members
          .map(({ name, run }) => ({ session, ref: { stage, member: name }, run: run?.run ?? "" }))
          .filter((one) => this.#due(one) !== undefined),
      ),
    );
  }

  /** The next try of exactly this run; a host that cannot be seen has none. */
  #due({ session, ref, run }: Waiting): Due | undefined {
    const stage = this.#context.store.sessions.get(session)?.stages.get(ref.stage);
    const member = stage?.members.find(({ name }) => name === ref.member);
    if (member?.run?.run !== run || member.state.kind !== "failed") return undefined;
    return member.state.again?.kind === "due" ? member.state.again : undefined;
  }

  /** Until it was started, by us or another window, or is no longer due. Says at once what will keep it from starting. */
  async #wait(one: Waiting, signal: AbortSignal): Promise<void> {
    const { clock, logger, launcher } = this.#context;
    const name = `retry of ${one.ref.stage} (run ${one.run})`;
    for (let due = this.#due(one); due && !isAborted(signal); due = this.#due(one)) {
      try {
        const hindrance = await launcher.retryHindrance(one.session, one.ref);
        if (hindrance !== undefined) {
          launcher.holdRetry(one.session, one.ref, one.run, hindrance);
          return;
        }
        await clock.sleep(Math.max(0, due.at - clock.now()), signal);
        if (!(await this.#turn(one, signal))) return;
        await this.#start(one, due);
      } catch (error) {
        if (!isAborted(signal)) logger.warn(`${name}: ${messageOf(error)}`);
      }
      // What came of it is in the records; until they are here it is due as before.
      await clock.sleep(againAfterMs, signal).catch(() => undefined); // aborted: the loop ends by itself
    }
  }

  /** Waits until its GPUs are free, as a pipeline does, and says so meanwhile. False: it is not to be started any more. */
  async #turn(one: Waiting, signal: AbortSignal): Promise<boolean> {
    const { clock, launcher } = this.#context;
    let told: string | undefined;
    while (this.#due(one)) {
      const turn = this.#gpuTurn(one);
      const waitsFor = turn.kind === "waits" ? turn.for : undefined;
      if (waitsFor !== told) launcher.queueRetry(one.session, one.ref, one.run, waitsFor);
      told = waitsFor;
      if (turn.kind === "free") return true;
      if (turn.kind === "refused") {
        launcher.holdRetry(one.session, one.ref, one.run, `its GPUs are ${turn.reason}.`);
        return false;
      }
      await clock.sleep(lookEveryMs, signal);
    }
    return false;
  }

  #gpuTurn({ session: id, ref }: Waiting): GpuTurn {
    const session = this.#context.store.sessions.get(id);
    const stage = session?.stages.get(ref.stage);
    const member = stage?.members.find(({ name }) => name === ref.member);
    if (!session || !stage || !member) return { kind: "free" };
    const queue = new GpuQueue(session, this.#context.clock.now(), this.#underWay.of(id));
    return queue.turn({ ref, member, definition: ofMember(stage.definition, ref.member) });
  }

  /** Nothing is awaited between the look at its GPUs and this. */
  async #start({ session, ref, run }: Waiting, due: Due): Promise<void> {
    const underWay = this.#underWay.of(session);
    underWay.add(memberKey(ref));
    try {
      await this.#context.launcher.retry(session, ref, run, due);
    } finally {
      underWay.delete(memberKey(ref));
    }
  }
}
