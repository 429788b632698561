import { watchCost } from "./costWatch";
import { messageOf } from "./errors";
import { branch, isAborted } from "./lifecycle";
import { lastLineOf } from "./log/lastLine";
import { LogReader } from "./log/reader";
import { LogFollowers } from "./logFollowers";
import type { MonitorContext } from "./monitorContext";
import { NightHistory } from "./nightHistory";
import { OutputWatch } from "./outputWatch";
import type { HostOps, OutputReport, RunRecord } from "./ports";
import { curesFor, namesToFind } from "./session/cure";
import type { MemberRef, SessionEvent } from "./session/events";
import { readingOptions } from "./session/readingOptions";
import { gravest } from "./session/judge";
import { membersOn, type PlacedMember } from "./session/membersOn";
import type { Session } from "./session/model";
import { WriterWatch } from "./writerWatch";
import { uncheckable, verdictCheck } from "./session/outputChecks";
import { TokenWatch } from "./tokenWatch";

const gpuEverySeconds = 2;
/** How often members are looked at for what is still to be asked of the host. */
const lookEveryMs = 250;
/** Of a run that ended before its log was followed so much is read at once: what dies early says little. */
const wordsBytes = 64 * 1024;
/** A task that failed on a live link is tried again after this. */
const againAfterMs = 5000;
/** A question that failed is asked again after this. */
const askAgainMs = 30_000;
/** Last words may come after the record of the end; then the unfinished line is taken as it stands. */
const lastWordsMs = 1600;
/** How often it is looked whether they are here. */
const wordsEveryMs = 40;

/** One connection to the host, for as long as it holds. */
interface Link {
  readonly ops: HostOps;
  readonly signal: AbortSignal;
}

/** What is watched of one host of a session while it is connected: run records, GPUs, and the logs of its members. */
export class HostWatch {
  readonly #context: MonitorContext;
  readonly #session: string;
  readonly #host: string;
  readonly #night: NightHistory;
  readonly #followers: LogFollowers;
  readonly #outputs: OutputWatch;
  readonly #tokens: TokenWatch;
  readonly #writers: WriterWatch;
  /** Questions by what they are about → when they may be asked again; each is answered once. */
  readonly #asked = new Map<string, number>();

  constructor(context: MonitorContext, session: string, host: string) {
    this.#context = context;
    this.#session = session;
    this.#host = host;
    this.#night = new NightHistory(context, session, host);
    this.#followers = new LogFollowers(context, session, host, this.#night);
    this.#outputs = new OutputWatch(context, session, host);
    this.#tokens = new TokenWatch(context, session, host);
    this.#writers = new WriterWatch(context, session);
  }

  /** Watches until aborted. Trouble with one part is logged and tried again; it never ends the others. */
  async run(ops: HostOps, signal: AbortSignal): Promise<void> {
    this.#night.connected(ops, signal);
    this.#followers.newLink();
    // What failed with the link before is asked again at once.
    for (const [key, at] of this.#asked) if (at !== Infinity) this.#asked.delete(key);
    await Promise.all([
      this.#keep("run records", signal, (own) =>
        this.#watchRecords({ ops, signal: own }).finally(() => {
          this.#followers.recordsTold();
        }),
      ),
      this.#keep("GPUs", signal, (own) => this.#watchGpus({ ops, signal: own })),
      this.#keep("cost", signal, (own) => this.#watchCost({ ops, signal: own })),
      this.#keep("members", signal, (own) => this.#watchMembers({ ops, signal: own })),
    ]);
    this.#night.lost();
  }

  async #keep(what: string, until: AbortSignal, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, logger } = this.#context;
    const signal = branch(until);
    while (!signal.aborted) {
      try {
        await task(branch(signal));
      } catch (error) {
        if (!isAborted(signal)) logger.warn(`${this.#host}: ${what}: ${messageOf(error)}`);
      }
      await clock.sleep(againAfterMs, signal).catch(() => undefined); // aborted: the loop ends by itself
    }
  }

  async #watchRecords(link: Link): Promise<void> {
    const { clock } = this.#context;
    const name = this.#current()?.definition.name ?? this.#session;
    let first = true;
    for await (const records of link.ops.watchRecords(name, link.signal)) {
      this.#apply({ type: "records", at: clock.now(), host: this.#host, records, ...(first && { all: true }) });
      first = false;
      this.#followers.followAll(link.ops, link.signal);
      this.#followers.recordsTold();
      for (const record of records) if (record.end) this.#afterEnd(record, link);
      for (const one of this.#members()) this.#askForVerdict(one, link);
    }
  }

  async #watchGpus({ ops, signal }: Link): Promise<void> {
    // Samples go forward only: those of the time before come first.
    await this.#night.loaded;
    for await (const report of ops.gpus(gpuEverySeconds, signal)) {
      this.#apply({ type: "gpus", at: this.#context.clock.now(), host: this.#host, report });
    }
  }

  #watchCost({ ops, signal }: Link): Promise<void> {
    const { clock } = this.#context;
    return watchCost(this.#context, ops, signal, (cost) => {
      this.#apply({ type: "cost", at: clock.now(), host: this.#host, ...cost });
    });
  }

  /** What no event of the host announces: new definitions to follow, writers to look for, cures to find. */
  async #watchMembers(link: Link): Promise<void> {
    const { clock } = this.#context;
    while (!link.signal.aborted) {
      this.#followers.followAll(link.ops, link.signal);
      this.#followers.settle();
      const members = this.#members();
      // Looks go forward only: those of the time before come first.
      if (this.#night.isLoaded) {
        this.#night.tell(members);
        this.#outputs.look(members, link.ops, link.signal);
      }
      this.#tokens.look(members, link.ops, link.signal);
      for (const one of members) {
        this.#askForVerdict(one, link);
        this.#askForLastWords(one, link);
        this.#askForCures(one, link);
        this.#writers.look(one, this.#followers.quietSince(one.ref), link);
      }
      // All hosts at the same moments: a process that wakes for each of them wakes a hundred times a second.
      await clock.sleep(lookEveryMs - (clock.now() % lookEveryMs), link.signal);
    }
  }

  #afterEnd(record: RunRecord, link: Link): void {
    const { clock } = this.#context;
    const ref = { stage: record.stage, member: record.member };
    this.#once(`end ${record.run}`, async () => {
      const until = clock.now() + lastWordsMs;
      const signal = branch(link.signal);
      while (!this.#followers.hasRead(record) && clock.now() < until) await clock.sleep(wordsEveryMs, signal);
      this.#followers.finish(ref, record.run);
      if (this.#followers.hasRead(record)) this.#tellWordsRead(ref, record.run);
      else this.#apply({ type: "tick", at: clock.now() });
    });
  }

  /** After all that the log says was told: then the exit status alone has to do as a cause. */
  #tellWordsRead(ref: MemberRef, run: string, lastLine = this.#followers.lastLine(ref, run)): void {
    const line = lastLine === undefined ? {} : { lastLine };
    this.#apply({ type: "words-read", at: this.#context.clock.now(), ...ref, run, ...line });
  }

  /** Whether what `done_when` declares is there, of the newest run alone: older ones are history. */
  #askForVerdict({ ref, member, stage }: PlacedMember, link: Link): void {
    const { run, outputs } = member;
    if (!stage || run?.end?.exit.kind !== "code" || run.end.exit.code !== 0) return;
    if (outputs && outputs.unchecked === undefined) return;
    const check = verdictCheck(stage, run);
    if (!check) return;
    const tell = (report: OutputReport): void => {
      this.#apply({ type: "outputs", at: this.#context.clock.now(), ...ref, run: run.run, report });
    };
    const leave = (unchecked: string): void => {
      tell({ ok: false, bytes: 0, files: 0, detail: "", unchecked });
    };
    const host = this.#current()?.hosts.get(this.#host)?.definition;
    const why = host && uncheckable(check, host);
    this.#once(`outputs ${run.run} ${why ?? ""}`, async () => {
      if (why !== undefined) {
        leave(why);
        return;
      }
      try {
        tell(await link.ops.checkOutputs(check, run.cwd));
      } catch (error) {
        // A link that broke says nothing about the outputs; a host that cannot look leaves them unchecked.
        if (!isAborted(link.signal)) leave(messageOf(error));
        throw error;
      }
    });
  }

  /** A run that died before its log could be followed: its words are fetched, the follower tells them again in its time. */
  #askForLastWords({ ref, member, stage }: PlacedMember, link: Link): void {
    const { run, log, failures } = member;
    if (!run?.end || failures.length > 0 || log?.state === "following") return;
    if (run.end.exit.kind === "code" && run.end.exit.code === 0) return;
    this.#once(`words ${run.run}`, async () => {
      const { path, start } = run.log;
      const reader = new LogReader({ offset: start.offset, ...readingOptions(stage) });
      const words = await link.ops.read(path, start.offset, wordsBytes);
      for (const reading of [...reader.push(words), ...reader.flush()]) {
        if (reading.kind !== "failure") continue;
        this.#apply({ type: "failure", at: this.#context.clock.now(), ...ref, reading });
      }
      if (words.length < wordsBytes) this.#tellWordsRead(ref, run.run, lastLineOf(words));
    });
  }

  #askForCures({ ref, member, stage }: PlacedMember, link: Link): void {
    const failure = gravest(member.failures);
    if (!failure || member.cures.length > 0) return;
    const names = namesToFind(failure);
    if (names.length === 0) return;
    this.#once(`cures ${ref.stage}/${ref.member} ${member.run?.run ?? ""} ${failure.text}`, async () => {
      const cures = curesFor(failure, await link.ops.findTools(names, stage?.cwd));
      this.#apply({ type: "cures", at: this.#context.clock.now(), ...ref, cures });
    });
  }

  #once(key: string, task: () => Promise<void>): void {
    const { clock, logger } = this.#context;
    if (clock.now() < (this.#asked.get(key) ?? 0)) return;
    this.#asked.set(key, Infinity);
    task().catch((error: unknown) => {
      this.#asked.set(key, clock.now() + askAgainMs);
      logger.debug(`${this.#host}: ${key}: ${messageOf(error)}`);
    });
  }

  #members(): readonly PlacedMember[] {
    const session = this.#current();
    return session ? membersOn(session, this.#host) : [];
  }

  #current(): Session | undefined {
    return this.#context.store.sessions.get(this.#session);
  }

  #apply(event: SessionEvent): void {
    this.#context.store.apply(this.#session, event);
  }
}
