import { messageOf } from "./errors";
import { isAborted } from "./lifecycle";
import type { MonitorContext } from "./monitorContext";
import type { HostOps } from "./ports";
import type { PlacedMember } from "./session/membersOn";

/** How long a log is quiet before it is asked who writes it, and how often a process that is known is looked at. */
const everyMs = 4000;
/** A search over all processes that found none is made again after four times the wait, up to this. */
const mostMs = 5 * 60_000;

/** One connection to the host, for as long as it holds. */
interface Link {
  readonly ops: HostOps;
  readonly signal: AbortSignal;
}

type WriterContext = Pick<MonitorContext, "store" | "clock" | "logger">;

interface Asked {
  /** Since when the log was quiet then. */
  readonly quietSince: number;
  readonly wait: number;
  readonly nextAt: number;
}

/**
 * Logs without a run of ours: whether somebody has them open tells a live job from a dead one. A search over all processes
 * is dear on a busy host: it is made seldom where it found none, as whoever writes after all is told by the log's growth.
 */
export class WriterWatch {
  readonly #context: WriterContext;
  readonly #session: string;
  readonly #asked = new Map<string, Asked>();
  readonly #underWay = new Set<string>();

  constructor(context: WriterContext, session: string) {
    this.#context = context;
    this.#session = session;
  }

  /** @param quietSince when a log that was read to its end has last grown, our clock; undefined before that */
  look({ ref, member }: PlacedMember, quietSince: number | undefined, { ops, signal }: Link): void {
    const now = this.#context.clock.now();
    const path = member.log?.path;
    // Growth is proof enough of life.
    if (member.run || path === undefined || quietSince === undefined || now - quietSince < everyMs) return;
    const key = `${ref.stage}/${ref.member}`;
    const asked = this.#asked.get(key);
    const again = asked?.quietSince === quietSince ? asked : undefined;
    if (this.#underWay.has(key) || now < (again?.nextAt ?? 0)) return;
    this.#underWay.add(key);
    void this.#ask({ ref, member }, path, { ops, signal }).then((found) => {
      const wait = found ? everyMs : Math.min(mostMs, 4 * (again?.wait ?? everyMs));
      this.#underWay.delete(key);
      this.#asked.set(key, { quietSince, wait, nextAt: this.#context.clock.now() + wait });
    });
  }

  /** Whether somebody has it open. */
  async #ask({ ref, member }: Pick<PlacedMember, "ref" | "member">, path: string, link: Link): Promise<boolean> {
    const { clock, logger, store } = this.#context;
    try {
      const writer = await link.ops.logWriter(path, member.writer?.pid);
      store.apply(this.#session, { type: "writer", at: clock.now(), ...ref, writer });
      return writer.open === true;
    } catch (error) {
      if (!isAborted(link.signal)) logger.debug(`${path}: who writes it: ${messageOf(error)}`);
      return false;
    }
  }
}
