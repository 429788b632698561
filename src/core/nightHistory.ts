import { messageOf } from "./errors";
import { isAborted } from "./lifecycle";
import type { MonitorContext } from "./monitorContext";
import type { HostOps, LogMark, OutputMark, RunRecord } from "./ports";
import type { StageDefinition } from "./session/definition";
import type { PlacedMember } from "./session/membersOn";
import { watchedOutputs } from "./session/outputChecks";
import type { OutputLook } from "./session/written";

/** Who was away for less has missed nothing: the recorder looks each 10 s. */
const shortestMs = 20_000;
/** So long the rest waits for it; a host that takes longer is shown without its past. */
const patienceMs = 15_000;
/** A file's time and the start of a run may be told by clocks that differ by so much. */
const secondMs = 1000;

/** What the flight recorder of a host kept while this window was not connected, fetched at each connection. */
export class NightHistory {
  readonly #context: Pick<MonitorContext, "store" | "clock" | "logger">;
  readonly #session: string;
  readonly #host: string;
  /** By run; our clock. */
  readonly #marks = new Map<string, readonly LogMark[]>();
  /** What runs wrote, until it is told; by run, the host's clock, which is ahead of ours by `#aheadMs`. */
  readonly #outputs = new Map<string, readonly OutputMark[]>();
  #aheadMs = 0;
  /** Until when all was seen, our clock. */
  #seenUntil = 0;
  #complete = false;
  #isLoaded = true;
  #loaded: Promise<void> = Promise.resolve();

  constructor(context: Pick<MonitorContext, "store" | "clock" | "logger">, session: string, host: string) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
  }

  /** Resolves when what was missed is in the picture, or is not waited for any longer. Never rejects. */
  get loaded(): Promise<void> {
    return this.#loaded;
  }

  /** Whether `loaded` has resolved. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** How the log of a run grew, our clock; oldest first. */
  marksOf(run: string): readonly LogMark[] {
    return this.#marks.get(run) ?? [];
  }

  /** The connection begins. */
  connected(ops: HostOps, signal: AbortSignal): void {
    const { clock } = this.#context;
    if (clock.now() - this.#seenUntil < shortestMs) return;
    this.#complete = false;
    const patience = clock.sleep(patienceMs, signal).catch(() => undefined); // aborted: nobody waits any more
    this.#isLoaded = false;
    const loaded = Promise.race([this.#load(ops, signal), patience]).then(() => {
      if (this.#loaded === loaded) this.#isLoaded = true;
    });
    this.#loaded = loaded;
  }

  /** Tells the picture what its runs have written meanwhile, when their records are known. */
  tell(members: readonly PlacedMember[]): void {
    if (this.#outputs.size === 0) return;
    const { store, clock } = this.#context;
    for (const { ref, member, stage } of members) {
      const { run } = member;
      const marks = run && this.#outputs.get(run.run);
      if (!run || !marks || !stage) continue;
      this.#outputs.delete(run.run);
      const looks = looksOf(marks, stage, run).map((look) => byOurClock(look, this.#aheadMs));
      if (looks.length === 0) continue;
      store.apply(this.#session, { type: "written-history", at: clock.now(), ...ref, run: run.run, looks });
    }
  }

  /** The connection has ended: from now on something may be missed. */
  lost(): void {
    if (this.#complete) this.#seenUntil = this.#context.clock.now();
  }

  async #load(ops: HostOps, signal: AbortSignal): Promise<void> {
    const { store, clock, logger } = this.#context;
    const { clockOffsetMs } = ops.identity;
    try {
      const { gpus, runs } = await ops.history(Math.max(0, this.#seenUntil + clockOffsetMs));
      if (signal.aborted) return;
      this.#aheadMs = clockOffsetMs;
      for (const { run, marks, outputs } of runs) {
        if (outputs.length > 0) this.#outputs.set(run, outputs);
        const known = this.marksOf(run);
        const last = known.at(-1)?.at ?? -Infinity;
        const more = marks.map((mark) => ({ ...mark, at: mark.at - clockOffsetMs })).filter(({ at }) => at > last);
        this.#marks.set(run, [...known, ...more]);
      }
      this.#complete = true;
      if (gpus.length > 0)
        store.apply(this.#session, { type: "gpu-history", at: clock.now(), host: this.#host, samples: gpus });
    } catch (error) {
      if (!isAborted(signal)) logger.debug(`${this.#host}: what was missed: ${messageOf(error)}`);
    }
  }
}

/** As a window would have seen them; where the session file has counted otherwise since the launch, nothing. */
function looksOf(
  marks: readonly OutputMark[],
  stage: StageDefinition,
  { startedAt }: RunRecord,
): readonly OutputLook[] {
  const watched = watchedOutputs(stage, 0);
  if (!watched) return [];
  const { unit, total: declared } = watched;
  return marks.flatMap(({ at, kind, count, bytes, newestAt, totalBytes }): readonly OutputLook[] => {
    if ((kind === "bytes" ? "B" : kind) !== unit) return [];
    const total = unit === "B" ? (totalBytes ?? declared) : declared;
    const ofRun = newestAt !== undefined && newestAt >= startedAt - secondMs;
    return [
      { at, unit, done: count, bytes, ...(total === undefined ? {} : { total }), ...(ofRun ? { newestAt } : {}) },
    ];
  });
}

function byOurClock(look: OutputLook, aheadMs: number): OutputLook {
  const newest = look.newestAt === undefined ? {} : { newestAt: look.newestAt - aheadMs };
  return { ...look, at: look.at - aheadMs, ...newest };
}
