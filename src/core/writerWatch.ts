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
  readonly ops: Pick<HostOps, "logWriter">;
  readonly signal: AbortSignal;
}

type WriterContext = Pick<MonitorContext, "store" | "clock" | "logger">;

/** A log that may be asked about now, and whether it is time to. */
interface Candidate {
  readonly key: string;
  readonly one: Pick<PlacedMember, "ref" | "member">;
  readonly path: string;
  readonly quietSince: number;
  readonly link: Link;
  readonly due: boolean;
}

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
  #round: Candidate[] = [];

  constructor(context: WriterContext, session: string) {
    this.#context = context;
    this.#session = session;
  }

  /**
   * To be called for all members in one go: what is asked about them then is one search.
   * @param quietSince when a log that was read to its end has last grown, our clock; undefined before that
   */
  look({ ref, member }: PlacedMember, quietSince: number | undefined, link: Link): void {
    const now = this.#context.clock.now();
    const path = member.log?.path;
    // Growth is proof enough of life.
    if (member.run || path === undefined || quietSince === undefined || now - quietSince < everyMs) return;
    const key = `${ref.stage}/${ref.member}`;
    const asked = this.#askedSince(key, quietSince);
    const left = (asked?.nextAt ?? 0) - now;
    // One whose turn comes soon goes along with another.
    if (this.#underWay.has(key) || left > (asked?.wait ?? 0) / 2) return;
    this.#round.push({ key, one: { ref, member }, path, quietSince, link, due: left <= 0 });
    if (this.#round.length === 1) {
      void Promise.resolve().then(() => {
        this.#askAll();
      });
    }
  }

  #askedSince(key: string, quietSince: number): Asked | undefined {
    const asked = this.#asked.get(key);
    return asked?.quietSince === quietSince ? asked : undefined;
  }

  #askAll(): void {
    const round = this.#round;
    this.#round = [];
    if (!round.some(({ due }) => due)) return;
    for (const { key, one, path, quietSince, link } of round) {
      this.#underWay.add(key);
      void this.#ask(one, path, link).then((found) => {
        const wait = found ? everyMs : Math.min(mostMs, 4 * (this.#askedSince(key, quietSince)?.wait ?? everyMs));
        this.#underWay.delete(key);
        this.#asked.set(key, { quietSince, wait, nextAt: this.#context.clock.now() + wait });
      });
    }
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
