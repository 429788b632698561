import { dateBacklog } from "./backlog";
import { LogDates } from "./logDates";
import type { FollowedLog } from "./followedLogs";
import { lastLineOf } from "./log/lastLine";
import { LogReader } from "./log/reader";
import type { ProgressReading, Reading } from "./log/reading";
import type { FollowEvent, FollowFrom, LogPosition } from "./following";
import type { Clock, HostOps, RunRecord, LogMark } from "./ports";
import type { LogRule, ProgressHint } from "./session/definition";
import type { MemberRef, SessionEvent } from "./session/events";

/** How much of a log is read at first look: enough for a picture, little enough for a slow link. */
const firstLookBytes = 4 * 1024 * 1024;
/** The unfinished line (a bar that is being redrawn) is looked at no more often than this. */
const peekEveryMs = 500;

/** A log that is silent for so long has said what it had to say for now. */
const quietMs = 700;
/** Of what was read last, what may hold the last line. */
const lastLineBytes = 64 * 1024;

/** What was fetched and had to wait for longer is old: what has come since would be taken for new. */
const freshMs = 2000;

/** So many of the last bytes tell a file, or a copy of it, from another one. */
const lastBytes = 64;

/** What a follower reads and whom it tells. */
export interface LogFollowerOptions {
  readonly ref: MemberRef;
  readonly path: string;
  /** The run whose log it is: bytes before its start are history. Absent for a log that somebody else's job writes. */
  readonly run?: RunRecord;
  readonly hint?: ProgressHint;
  readonly rules?: readonly LogRule[];
  readonly log: FollowedLog;
  readonly clock: Clock;
  /** How the log of a run grew while nobody read it. */
  readonly marksOf: (run: string) => readonly LogMark[];
  /** Resolves when that is known, or not waited for any longer. */
  readonly marksKnown: () => Promise<void>;
  readonly apply: (event: SessionEvent) => void;
}

/**
 * Reads the log of one member of a stage, over as many connections as it takes: `follow` may be called again after a
 * link was lost and goes on where reading ended. Every line is read once.
 */
export class LogFollower {
  readonly options: LogFollowerOptions;
  #run: RunRecord | undefined;
  #reader: LogReader | undefined;
  #position: LogPosition | undefined;
  /** First byte of what counts for the run; 0 once the log was cut. */
  #runStart: number;
  /** Reading began in the middle of a line, whose rest is skipped. */
  #midLine = false;
  #caughtUp = false;
  #backlog: ProgressReading[] = [];
  #grewAt = 0;
  /** When something was read last, our clock. */
  #readAt = 0;
  /** The largest size that the file was seen to have. */
  #size = 0;
  /** The latest time of modification that the host has told, its own clock. */
  #modifiedAt: number | undefined;
  /** The last bytes that were read, whatever file they are of. */
  #last: Uint8Array = new Uint8Array();
  #settled = true;
  #peekedAt = 0;
  #lastPeek = "";

  constructor(options: LogFollowerOptions) {
    this.options = options;
    this.#run = options.run;
    this.#runStart = options.run?.log.start.offset ?? 0;
  }

  /** The run whose log it is. */
  get run(): RunRecord | undefined {
    return this.#run;
  }

  /** When the log last grew, our clock; 0 before anything was seen. */
  get grewAt(): number {
    return this.#grewAt;
  }

  /** How far it was read. */
  get position(): LogPosition | undefined {
    return this.#position;
  }

  get caughtUp(): boolean {
    return this.#caughtUp;
  }

  /** The last line that the run wrote, as far as it was read. */
  get lastLine(): string | undefined {
    // Before anything was read, what is kept is of the log before.
    if (!this.#position) return undefined;
    const from = Math.max(this.#runStart, this.#position.offset - lastLineBytes);
    const own = [...this.options.log.bytesFrom(from)].map(({ data }) => data);
    return lastLineOf(joined(own));
  }

  /** Ends when aborted; throws when the link breaks. */
  async follow(ops: HostOps, signal: AbortSignal): Promise<void> {
    while (!(await this.#followFresh(ops, signal))) signal.throwIfAborted();
  }

  /** The log is fetched while what its lines are dated by is on its way. False where that took too long. */
  async #followFresh(ops: HostOps, signal: AbortSignal): Promise<boolean> {
    const { clock, marksKnown } = this.options;
    const from: FollowFrom = this.#position
      ? {
          kind: "position",
          position: this.#position,
          last: this.#last,
          size: this.#size,
          readAt: this.#readAt,
          ...(this.#modifiedAt !== undefined && { modifiedAt: this.#modifiedAt }),
        }
      : { kind: "end", bytes: firstLookBytes };
    try {
      for await (const event of ops.follow(this.options.path, from, signal)) {
        const fetchedAt = clock.now();
        await marksKnown();
        signal.throwIfAborted();
        if (clock.now() - fetchedAt > freshMs) return false;
        this.#take(event, ops);
      }
      return true;
    } finally {
      this.options.log.setFollowing(false);
    }
  }

  /**
   * Goes on for a run that has begun in the log that is being followed: what it has written is told anew, what was
   * written before is history. False where its beginning is no longer at hand; then somebody must read it again.
   */
  adopt(run: RunRecord): boolean {
    const { start } = run.log;
    const at = this.#position;
    const { log } = this.options;
    if (!this.#caughtUp || at?.inode !== start.inode || start.offset < log.keptFrom) return false;
    this.#run = run;
    this.#runStart = start.offset;
    this.#midLine = false;
    this.#reader = new LogReader({ offset: start.offset, ...this.#readingOptions() });
    log.setRunStart(start.offset);
    this.#tellGrowth();
    for (const { offset, data } of log.bytesFrom(start.offset)) {
      const own = this.#countedPart(offset, data);
      if (own.length > 0) this.#emit(this.#reader.push(own));
    }
    this.#settled = false;
    return true;
  }

  /** Nothing came for a moment: what waited for a following line (the end of a traceback) counts now. */
  settle(): void {
    if (this.#settled || !this.#reader || !this.#caughtUp || this.options.clock.now() - this.#readAt < quietMs) return;
    this.#settled = true;
    this.#emit(this.#reader.settle());
  }

  /** The job has ended: what its unfinished last line says counts now. */
  finish(): void {
    if (this.#reader && this.#caughtUp) this.#emit(this.#reader.flush());
  }

  #take(event: FollowEvent, ops: HostOps): void {
    const { ref, apply, clock, log } = this.options;
    switch (event.kind) {
      case "opened":
        this.#noteModified(event.modifiedAt, ops);
        this.#open(event);
        return;
      case "data":
        this.#read(event.offset, event.data);
        return;
      case "caught-up":
        this.#catchUp();
        return;
      case "restarted":
        if (event.modifiedAt !== undefined) this.#noteModified(event.modifiedAt, ops);
        this.#runStart = event.position.offset;
        this.#start(event.position);
        log.setGap(event.lost, event.lostMore === true);
        apply({
          type: "log-restarted",
          at: clock.now(),
          ...ref,
          lost: event.lost,
          ...(event.lostMore && { lostMore: true }),
        });
        return;
      case "missing":
        log.setFollowing(false);
        apply({ type: "log-missing", at: clock.now(), ...ref });
        return;
      case "unreadable":
        log.setFollowing(false);
        apply({ type: "log-unreadable", at: clock.now(), ...ref, reason: event.reason });
        return;
    }
  }

  #noteModified(at: number, { identity }: HostOps): void {
    this.#grewAt = at - identity.clockOffsetMs;
    this.#modifiedAt = Math.max(this.#modifiedAt ?? 0, at);
  }

  #open({ position, size, goesOn }: Extract<FollowEvent, { readonly kind: "opened" }>): void {
    const known = this.#position;
    // In a copy of the file its lines go on as well.
    const resumed = known?.offset === position.offset && (goesOn === true || known.inode === position.inode);
    const ofRun = this.#run?.log.start;
    // A log that was replaced since the run began holds nothing but lines of that run.
    if (!resumed && ofRun && ofRun.inode !== position.inode) this.#runStart = 0;
    if (!resumed) this.#start(position);
    // What was written meanwhile is dated as what is read late.
    else if (size > position.offset) this.#caughtUp = false;
    this.#position = position;
    this.#size = Math.max(this.#size, size);
    this.options.log.setFollowing(true);
    this.#tellGrowth();
  }

  #start(position: LogPosition): void {
    // What is still to be told is of the file before.
    this.#tellBacklog();
    this.#position = position;
    this.#reader = new LogReader({ offset: Math.max(position.offset, this.#runStart), ...this.#readingOptions() });
    this.#midLine = position.offset > this.#runStart;
    this.#last = new Uint8Array();
    this.#size = 0;
    this.options.log.reset(position.offset, this.#runStart);
  }

  #read(offset: number, data: Uint8Array): void {
    const { log, clock } = this.options;
    if (this.#position) this.#position = { ...this.#position, offset: offset + data.length };
    const last = data.length < lastBytes ? joined([this.#last, data]) : data;
    // A copy: a part of the data would keep all of it.
    this.#last = last.slice(-lastBytes);
    this.#readAt = clock.now();
    this.#settled = false;
    const counted = this.#countedPart(offset, data);
    if (this.#caughtUp) this.#grewAt = clock.now();
    const said = counted.length > 0 && this.#reader ? this.#reader.push(counted) : [];
    this.#tellGrowth(this.#toTell(said));
    // After the picture: nobody looks at the text before this is over.
    log.push(data);
    if (this.#caughtUp) this.#peek();
  }

  /** Without what older runs wrote, and without the rest of a line whose beginning was not read. */
  #countedPart(offset: number, data: Uint8Array): Uint8Array {
    const own = offset >= this.#runStart ? data : data.subarray(Math.min(data.length, this.#runStart - offset));
    if (!this.#midLine) return own;
    const end = own.findIndex((byte) => byte === 10 || byte === 13);
    if (end < 0) return own.subarray(own.length);
    this.#midLine = false;
    const start = offset + (data.length - own.length) + end + 1;
    this.#reader = new LogReader({ offset: start, ...this.#readingOptions() });
    return own.subarray(end + 1);
  }

  #readingOptions(): { readonly hint?: ProgressHint; readonly rules?: readonly LogRule[] } {
    const { hint, rules } = this.options;
    return { ...(hint ? { hint } : {}), ...(rules ? { rules } : {}) };
  }

  #emit(readings: readonly Reading[]): void {
    const { ref, apply, clock } = this.options;
    for (const reading of this.#toTell(readings)) {
      if (reading.kind === "failure") apply({ type: "failure", at: clock.now(), ...ref, reading });
      else apply({ type: "progress", at: clock.now(), ...ref, reading });
    }
  }

  /** What is told at once; progress of the past is kept until all of it is read and can be dated. */
  #toTell(readings: readonly Reading[]): readonly Reading[] {
    if (this.#caughtUp) return readings;
    const failures: Reading[] = [];
    for (const reading of readings) {
      if (reading.kind === "failure") failures.push(reading);
      else this.#backlog.push(reading);
    }
    return failures;
  }

  #catchUp(): void {
    const unfinished = this.#reader?.peek();
    if (unfinished) this.#backlog.push(unfinished);
    this.#tellBacklog();
    this.#caughtUp = true;
    this.#tellGrowth();
  }

  #tellBacklog(): void {
    const { ref, apply, clock } = this.options;
    const dates = new LogDates(this.#marks(), this.#position?.inode ?? "");
    const readings = dateBacklog(this.#backlog, this.#grewAt, (offset) => dates.of(offset));
    this.#backlog = [];
    if (readings.length > 0) apply({ type: "backlog", at: clock.now(), ...ref, readings });
  }

  /** Between the run's start and the end of what is there now. */
  #marks(): readonly LogMark[] {
    const run = this.#run;
    if (!run || !this.#position) return [];
    const marks = this.options.marksOf(run.run);
    const { inode, offset } = this.#position;
    const last = marks.at(-1);
    const grown = last?.inode === inode && last.size < offset && last.at < this.#grewAt;
    return grown ? [...marks, { at: this.#grewAt, inode, size: offset }] : marks;
  }

  #peek(): void {
    const { ref, apply, clock } = this.options;
    const now = clock.now();
    if (now - this.#peekedAt < peekEveryMs) return;
    this.#peekedAt = now;
    const reading = this.#reader?.peek();
    const said = reading ? `${reading.offset}:${reading.done ?? ""}/${reading.total ?? ""}` : "";
    if (!reading || said === this.#lastPeek) return;
    this.#lastPeek = said;
    apply({ type: "progress", at: now, ...ref, reading });
  }

  #tellGrowth(readings: readonly Reading[] = []): void {
    const { ref, apply, clock } = this.options;
    const offset = this.#position?.offset ?? 0;
    const growth = { offset, modifiedAt: this.#grewAt, caughtUp: this.#caughtUp };
    apply({ type: "log", at: clock.now(), ...ref, ...growth, ...(readings.length > 0 && { readings }) });
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
