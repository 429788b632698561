import { messageOf } from "../core/errors";
import { isAborted } from "../core/lifecycle";
import type { FollowEvent, FollowFrom } from "../core/following";
import logFile from "../host/logFile.sh";
import followScript from "../host/follow.sh";
import partScript from "../host/logPart.sh";
import { cksum } from "./cksum";
import { awayNow, checkedBytes, FileReader, type Progress } from "./fileReader";
import type { HostSession } from "./hostSession";
import type { LogLook } from "./logLooks";
import { openLongScript, type LongChannel } from "./longChannel";
import type { TailSeat } from "./tailSeats";

/** How much one look at a polled log brings at most. */
const partBytes = 1 << 20;

interface Following {
  readonly session: HostSession;
  readonly path: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Whether a channel of its own is of use: there is a GNU tail, and it did not end for no reason. */
  canTail: boolean;
  /** Whether the channel that was tried last was refused. */
  refused: boolean;
}

/**
 * Follows one file: by a channel of its own where there is a seat for it, else by looks through the control channel; from
 * one to the other without a byte lost or doubled. See `HostOps.follow`.
 */
export async function* followFile(
  session: HostSession,
  path: string,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncGenerator<FollowEvent> {
  const known = from.kind === "position" ? from : undefined;
  const progress: Progress = {
    from,
    last: known?.last ?? new Uint8Array(),
    begun: false,
    catchUpAt: undefined,
    away: "",
    size: known?.size ?? 0,
    modifiedAt: known?.modifiedAt,
    readBefore: undefined,
    rotated: false,
  };
  const following: Following = {
    session,
    path,
    progress,
    signal,
    canTail: session.identity.has.has("gnu-tail"),
    refused: false,
  };
  for (;;) {
    const seat = yield* pollUntilSeat(following);
    try {
      yield* tailOn(following, seat);
    } finally {
      seat.release();
    }
    signal.throwIfAborted();
  }
}

/**
 * Polls until there is a seat for a file that is there and whose present content was read: a channel of its own may be
 * slow to answer (start-up files of the login shell), and until then nobody would read.
 */
async function* pollUntilSeat(following: Following): AsyncGenerator<FollowEvent, TailSeat> {
  const { session, path, progress, signal } = following;
  let settled = false;
  let look = await firstLook(following);
  for (;;) {
    let part = 0;
    if (look.kind !== "file") yield* awayNow(progress, look.kind === "missing" ? "missing" : look.reason);
    else if (differs(look, progress)) {
      part = yield* readPart(following, settled);
      settled = part === 0;
    }
    // What is full may have more behind it, and after a file that was rotated away comes the next one.
    if (part === partBytes || (part > 0 && progress.rotated)) continue;
    const mayTail = look.kind === "file" && progress.away === "" && following.canTail && !progress.rotated;
    const seat = mayTail ? await seatFor(session, part > 0) : undefined;
    if (seat !== undefined) return seat;
    look = await during(signal, session.looks.inTurn(path));
  }
}

async function firstLook(following: Following): Promise<LogLook> {
  const { session, path, progress, signal } = following;
  // Where there was no channel after all, it is known what is there.
  if (following.refused) {
    following.refused = false;
    return during(signal, session.looks.inTurn(path));
  }
  // At first all there is has to be read, and reading says itself what is there.
  return progress.from.kind === "end" ? { kind: "file" } : during(signal, session.looks.now(path));
}

/** A free seat, or that of a log that has been quiet for long where this one is not. */
async function seatFor({ seats }: HostSession, grows: boolean): Promise<TailSeat | undefined> {
  return seats.take() ?? (grows ? seats.takeFromQuiet() : undefined);
}

function differs(look: LogLook & { readonly kind: "file" }, { from, away }: Progress): boolean {
  if (from.kind === "end" || away !== "" || look.at === undefined) return true;
  const { device, inode, offset } = from.position;
  return look.at.device !== device || look.at.inode !== inode || look.at.size !== offset;
}

/** One look at a file: what comes next of it. Gives how many bytes that were. */
async function* readPart(following: Following, settled: boolean): AsyncGenerator<FollowEvent, number> {
  const { session, progress, signal } = following;
  const variables = { ...variablesOf(following), limit: partBytes, settled: settled ? 1 : "" };
  const answer = await during(signal, session.control.read([partScript], variables));
  const cut = answer.indexOf("\n") + 1;
  const reader = new FileReader(progress);
  yield* reader.take({ from: "stderr", data: answer.subarray(0, cut) });
  const data = answer.subarray(cut);
  yield* reader.take({ from: "stdout", data });
  return data.length;
}

/** One channel after the other, until the seat is wanted by another log or a channel is of no use. */
async function* tailOn(following: Following, seat: TailSeat): AsyncGenerator<FollowEvent> {
  let idleEnds = 0;
  while (following.canTail && !isAborted(seat.wanted)) {
    const channel = await openTail(following, seat);
    if (channel === undefined) return;
    const reader = new FileReader(following.progress);
    const got: boolean = yield* readTail(channel, reader, seat);
    following.signal.throwIfAborted();
    // A tail that complains about something else than a cut file (no inotify left) would end at once for ever.
    idleEnds = got ? 0 : idleEnds + 1;
    following.canTail = !reader.noTail && idleEnds < 2;
    if (following.progress.away !== "") return;
  }
}

/** All that one channel says; whether that was anything. */
async function* readTail(
  channel: LongChannel,
  reader: FileReader,
  seat: TailSeat,
): AsyncGenerator<FollowEvent, boolean> {
  let got = false;
  try {
    for await (const part of channel.parts) {
      seat.active();
      for (const event of reader.take(part)) {
        got ||= event.kind !== "caught-up";
        yield event;
      }
      if (reader.done) break;
    }
  } catch (error) {
    if (!isAborted(seat.wanted)) throw error;
  } finally {
    channel.close();
  }
  return got;
}

/** Undefined where the server allows no further channel. */
async function openTail(following: Following, seat: TailSeat): Promise<LongChannel | undefined> {
  const { session, signal } = following;
  const script = { parts: [logFile, followScript], variables: variablesOf(following), waits: true };
  try {
    const until = AbortSignal.any([signal, seat.wanted]);
    const channel = await openLongScript(session.transport, session.clock, script, until);
    session.seats.given();
    return channel;
  } catch (error) {
    signal.throwIfAborted();
    if (isAborted(seat.wanted)) return undefined;
    // If it is the link that broke, the next look says so.
    session.seats.bar();
    following.refused = true;
    session.logger.debug(`${session.transport.label}: ${following.path} is polled: ${messageOf(error)}`);
    return undefined;
  }
}

function variablesOf({ session, path, progress }: Following): Record<string, string | number> {
  const { from, last, begun, modifiedAt } = progress;
  const start =
    from.kind === "end"
      ? `end ${Math.max(0, Math.floor(from.bytes))}`
      : `position ${digits(from.position.device)} ${digits(from.position.inode)} ${Math.max(0, Math.floor(from.position.offset))}`;
  const whole = from.kind === "position" && last.length === Math.min(checkedBytes, from.position.offset);
  const readAt = from.kind === "position" && !begun ? from.readAt : undefined;
  return {
    ...session.variables,
    path,
    start,
    check: whole && last.length > 0 ? cksum(last) : "",
    seen_modified: modifiedAt === undefined ? "" : Math.floor(modifiedAt),
    read_at: readAt === undefined ? "" : Math.floor((readAt + session.identity.clockOffsetMs) / 1000),
  };
}

/** Positions may come from a store of old; only numbers are put into the host's arithmetic. */
function digits(text: string): string {
  return /^\d+$/.test(text) ? text : "0";
}

/** The result of something that is not ended by the signal, unless it comes first. */
function during<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { signal: over.signal });
    work.then(resolve, reject);
  }).finally(() => {
    over.abort();
  });
}
