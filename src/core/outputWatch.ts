import { messageOf } from "./errors";
import { isAborted } from "./lifecycle";
import type { MonitorContext } from "./monitorContext";
import type { HostOps } from "./ports";
import type { SessionEvent } from "./session/events";
import { lastSeen } from "./session/judge";
import { isLoginNode } from "./session/loginNode";
import type { PlacedMember } from "./session/membersOn";
import { watchedOutputs, type WatchedOutputs } from "./session/outputChecks";

/** At most this share of the time the host is busy with looking. */
const politeShare = 0.01;
/** A large folder is looked at seldom, but often enough for a stall to be seen. */
const leastMs = 10_000;
/** The same on a host that many people share. */
const gentleMs = 60_000;
const mostMs = 5 * 60_000;
/** After a look that failed. */
const againAfterMs = 60_000;
/** The host's clock counts full seconds where a file's time is concerned. */
const secondMs = 1000;

/** One connection to the host, for as long as it holds. */
interface Link {
  readonly ops: HostOps;
  readonly signal: AbortSignal;
}

/** What is known of the looks at one member. */
interface Looks {
  /** The run they are about. */
  readonly run: string | undefined;
  readonly nextAt: number;
}

type OutputWatchContext = Pick<MonitorContext, "store" | "clock" | "logger">;

/** Counts what running stages write, so seldom that the host does not feel it. */
export class OutputWatch {
  readonly #context: OutputWatchContext;
  readonly #session: string;
  readonly #host: string;
  readonly #looks = new Map<string, Looks>();
  readonly #underWay = new Set<string>();

  constructor(context: OutputWatchContext, session: string, host: string) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
  }

  /** Starts a look at each member whose turn it is; at one member at a time. */
  look(members: readonly PlacedMember[], ops: HostOps, signal: AbortSignal): void {
    for (const one of members) {
      const key = `${one.ref.stage}/${one.ref.member}`;
      const watched = isAtWork(one) && one.stage && watchedOutputs(one.stage, leastMs / 2 / secondMs);
      if (!watched || this.#underWay.has(key)) continue;
      const known = this.#looks.get(key);
      const run = one.member.run?.run;
      if (known && known.run === run && this.#context.clock.now() < known.nextAt) continue;
      this.#underWay.add(key);
      void this.#lookAt(one, watched, { ops, signal })
        .then((nextAt) => this.#looks.set(key, { run, nextAt }))
        .finally(() => this.#underWay.delete(key));
    }
  }

  /** When to look again. */
  async #lookAt(one: PlacedMember, { check, unit, total: declared }: WatchedOutputs, link: Link): Promise<number> {
    const { clock, logger } = this.#context;
    const { ref, member, stage } = one;
    const began = clock.now();
    try {
      const report = await link.ops.checkOutputs(check, member.run?.cwd ?? stage?.cwd);
      const at = clock.now();
      const { count, bytes } = report;
      const total = unit === "B" ? (report.totalBytes ?? declared) : declared;
      const newestAt = newestOfRun(one, report.newestAt, link.ops);
      this.#apply({
        type: "written",
        at,
        ...ref,
        ...(member.run ? { run: member.run.run } : {}),
        unit,
        done: count ?? bytes,
        bytes,
        ...(total === undefined ? {} : { total }),
        ...(newestAt === undefined ? {} : { newestAt }),
      });
      const took = report.tookMs ?? at - began;
      const least = isLoginNode(link.ops.identity) ? gentleMs : leastMs;
      return at + Math.min(mostMs, Math.max(least, took / politeShare));
    } catch (error) {
      if (!isAborted(link.signal)) logger.debug(`${this.#host}: outputs of ${ref.stage}: ${messageOf(error)}`);
      return clock.now() + againAfterMs;
    }
  }

  #apply(event: SessionEvent): void {
    this.#context.store.apply(this.#session, event);
  }
}

function isAtWork({ member }: PlacedMember): boolean {
  const { run, state } = member;
  if (run) return run.liveness === "running" && !run.end;
  const { kind } = lastSeen(state);
  return kind === "running" || kind === "stalled" || kind === "watching";
}

/** When the newest output was written, our clock; undefined for one that was there before the run. */
function newestOfRun({ member }: PlacedMember, newestAt: number | undefined, ops: HostOps): number | undefined {
  if (newestAt === undefined || (member.run && newestAt < member.run.startedAt - secondMs)) return undefined;
  return newestAt - ops.identity.clockOffsetMs;
}
