import { messageOf } from "./errors";
import { isAborted } from "./lifecycle";
import type { MonitorContext } from "./monitorContext";
import type { HostOps } from "./ports";
import { lastSeen } from "./session/judge";
import type { PlacedMember } from "./session/membersOn";
import { noTokens, withTokens, type TokenLengths } from "./session/tokenLengths";
import type { TokenReport } from "./tokenCounts";

/** At most this share of the time the host reads outputs while they are written… */
const politeShare = 0.01;
/** …and while what was written before is read for the first time. */
const catchUpShare = 0.2;
const leastMs = 15_000;
const catchUpMs = 1000;
const againAfterMs = 60_000;

/** What was read of one member's outputs. */
interface Reading {
  /** The run it is about. */
  readonly run: string | undefined;
  readonly known: ReadonlyMap<string, number>;
  readonly lengths: TokenLengths;
  readonly nextAt: number;
  /** The run has ended, and all was read. */
  readonly whole: boolean;
}

/** Counts how long the answers are that stages write, where the session file says where their JSON tells it. */
export class TokenWatch {
  readonly #context: Pick<MonitorContext, "store" | "clock" | "logger">;
  readonly #session: string;
  readonly #host: string;
  readonly #readings = new Map<string, Reading>();
  readonly #underWay = new Set<string>();

  constructor(context: Pick<MonitorContext, "store" | "clock" | "logger">, session: string, host: string) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
  }

  /** Starts a look at the outputs of each member whose turn it is; one member at a time, since the disk is one. */
  look(members: readonly PlacedMember[], ops: HostOps, signal: AbortSignal): void {
    for (const one of members) {
      if (this.#underWay.size > 0) return;
      const key = `${one.ref.stage}/${one.ref.member}`;
      const field = one.stage?.outputs?.tokenField;
      if (field === undefined || !hasWritten(one)) continue;
      const before = this.#before(key, one.member.run?.run);
      if (before.whole || this.#context.clock.now() < before.nextAt) continue;
      this.#underWay.add(key);
      void this.#read(one, field, before, ops)
        .then((after) => this.#readings.set(key, after))
        .catch((error: unknown) => {
          if (!isAborted(signal)) {
            this.#context.logger.debug(`${this.#host}: tokens of ${one.ref.stage}: ${messageOf(error)}`);
            this.#readings.set(key, { ...before, nextAt: this.#context.clock.now() + againAfterMs });
          }
        })
        .finally(() => this.#underWay.delete(key));
    }
  }

  /** A restart may have moved or written over what was there. */
  #before(key: string, run: string | undefined): Reading {
    const known = this.#readings.get(key);
    return known && known.run === run ? known : { run, known: new Map(), lengths: noTokens, nextAt: 0, whole: false };
  }

  async #read({ ref, member, stage }: PlacedMember, field: string, before: Reading, ops: HostOps): Promise<Reading> {
    const { clock, store } = this.#context;
    const ended = isOver(member);
    const query = { files: stage?.outputs?.files ?? [], field, known: before.known, whole: ended };
    const report = await ops.tokenCounts(query, member.run?.cwd ?? stage?.cwd);
    if (report.shorter) return { ...before, known: new Map(), lengths: noTokens, nextAt: 0 };
    const lengths = withTokens(before.lengths, report);
    if (lengths !== before.lengths) {
      const run = member.run ? { run: member.run.run } : {};
      store.apply(this.#session, { type: "token-lengths", at: clock.now(), ...ref, ...run, lengths });
    }
    return {
      ...before,
      lengths,
      known: new Map([...before.known, ...report.read]),
      nextAt: clock.now() + pause(report),
      whole: ended && report.restBytes === 0,
    };
  }
}

function pause({ restBytes, tookMs }: TokenReport): number {
  return restBytes > 0 ? Math.max(catchUpMs, tookMs / catchUpShare) : Math.max(leastMs, tookMs / politeShare);
}

function hasWritten({ member }: PlacedMember): boolean {
  if (member.run) return true;
  const { kind } = lastSeen(member.state);
  return kind === "running" || kind === "stalled" || kind === "watching";
}

function isOver({ run }: PlacedMember["member"]): boolean {
  return run !== undefined && (run.end !== undefined || run.liveness !== "running");
}
