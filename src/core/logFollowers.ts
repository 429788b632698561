import { isExpected, messageOf } from "./errors";
import { branch, isAborted } from "./lifecycle";
import { LogFollower } from "./logFollower";
import type { MonitorContext } from "./monitorContext";
import type { NightHistory } from "./nightHistory";
import type { HostOps, RunRecord } from "./ports";
import type { MemberRef } from "./session/events";
import { readingOptions } from "./session/readingOptions";
import { membersOn, type PlacedMember } from "./session/membersOn";

/** A log that cannot be followed now is tried again after this. */
const againAfterMs = 5000;
/** So long a log that was not read yet waits for the run records: they say where in it the present run begins. */
const patienceMs = 15_000;

interface Followed {
  readonly follower: LogFollower;
  /** Absent while there is no link. */
  readonly stop?: AbortController;
}

/** The followers of all logs of one host of a session. They outlive a link, so that reading goes on where it ended. */
export class LogFollowers {
  readonly #context: MonitorContext;
  readonly #session: string;
  readonly #host: string;
  readonly #night: NightHistory;
  readonly #followed = new Map<string, Followed>();
  /** Aborted when the run records of the present link were told. */
  #records = new AbortController();

  constructor(context: MonitorContext, session: string, host: string, night: NightHistory) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
    this.#night = night;
  }

  /** A new connection was made: all is to be followed again. */
  newLink(): void {
    this.#records = new AbortController();
    for (const [key, { follower }] of this.#followed) this.#followed.set(key, { follower });
  }

  /** The run records of this link are in the picture, or will not come soon. */
  recordsTold(): void {
    this.#records.abort();
  }

  /** Starts following what is not followed yet, anew where a newer run or another log took the place of the old. */
  followAll(ops: HostOps, signal: AbortSignal): void {
    const session = this.#context.store.sessions.get(this.#session);
    for (const one of session ? membersOn(session, this.#host) : []) this.#followOne(one, ops, signal);
  }

  /** Whether the log of a run that has ended was read as far as its record says that it goes. */
  hasRead({ stage, member, run, log, end }: RunRecord): boolean {
    const follower = this.#followed.get(keyOf({ stage, member }))?.follower;
    const at = follower?.run?.run === run && follower.caughtUp ? follower.position : undefined;
    return at?.inode === log.start.inode && end?.logSize !== undefined && at.offset >= end.logSize;
  }

  /** The run has ended: what the unfinished last line of its log says counts now. */
  finish(ref: MemberRef, run: string): void {
    const follower = this.#followed.get(keyOf(ref))?.follower;
    if (follower?.run?.run === run) follower.finish();
  }

  /** The last line of a run's log, as far as it was read. */
  lastLine(ref: MemberRef, run: string): string | undefined {
    const follower = this.#followed.get(keyOf(ref))?.follower;
    return follower?.run?.run === run ? follower.lastLine : undefined;
  }

  /** Lets logs that are silent for a moment say what waited for a following line. */
  settle(): void {
    for (const { follower } of this.#followed.values()) follower.settle();
  }

  /** Since when a log that was read to its end has not grown, our clock; undefined before that. */
  quietSince(ref: MemberRef): number | undefined {
    const follower = this.#followed.get(keyOf(ref))?.follower;
    return follower?.caughtUp === true ? follower.grewAt : undefined;
  }

  #followOne(one: PlacedMember, ops: HostOps, signal: AbortSignal): void {
    const { log, run } = one.member;
    if (!log) return;
    const key = keyOf(one.ref);
    const known = this.#followed.get(key);
    const samePath = known?.follower.options.path === log.path;
    const same = samePath && (known.follower.run?.run === run?.run || (run !== undefined && known.follower.adopt(run)));
    if (same && known.stop) return;
    known?.stop?.abort();
    const follower = same ? known.follower : this.#newFollower(one, log.path);
    const stop = new AbortController();
    this.#followed.set(key, { follower, stop });
    void this.#keepFollowing(follower, ops, AbortSignal.any([signal, stop.signal]));
  }

  #newFollower({ ref, member, stage }: PlacedMember, path: string): LogFollower {
    const { clock, logs, store } = this.#context;
    return new LogFollower({
      ref,
      path,
      ...(member.run ? { run: member.run } : {}),
      ...readingOptions(stage),
      log: logs.of(this.#session, ref),
      clock,
      marksOf: (run) => this.#night.marksOf(run),
      marksKnown: () => this.#night.loaded,
      apply: (event) => {
        store.apply(this.#session, event);
      },
    });
  }

  async #keepFollowing(follower: LogFollower, ops: HostOps, signal: AbortSignal): Promise<void> {
    const { clock, logger, store } = this.#context;
    const { ref, path } = follower.options;
    // Without its run it would be read from another place, and then once more.
    const until = AbortSignal.any([signal, this.#records.signal]);
    if (!follower.position) await clock.sleep(patienceMs, until).catch(() => undefined); // aborted: it is time
    while (!signal.aborted) {
      try {
        await follower.follow(ops, branch(signal));
      } catch (error) {
        if (isAborted(signal)) return;
        logger.warn(`${this.#host}: ${path}: ${messageOf(error)}`);
        const reason = isExpected(error) ? error.message : "";
        if (reason) store.apply(this.#session, { type: "log-unreadable", at: clock.now(), ...ref, reason });
      }
      await clock.sleep(againAfterMs, signal).catch(() => undefined); // aborted: the loop ends by itself
    }
  }
}

function keyOf(ref: MemberRef): string {
  return `${ref.stage}/${ref.member}`;
}
