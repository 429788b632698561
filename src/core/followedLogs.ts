import { Emitter, type Disposable, type Event } from "./lifecycle";
import { ByteTail, type KeptBytes } from "./log/byteTail";
import { LogText } from "./log/logText";
import type { MemberRef } from "./session/events";
import { lostText } from "./session/lostText";
import type { RemoteLogs, RemoteLogText } from "./session/remoteLogs";

/** How much of a log is kept for the editor; what is older is read from the host when asked for. */
const mostBytes = 4 * 1024 * 1024;
/** How much of all logs together, and of each in any case. */
const mostOfAll = 64 * 1024 * 1024;
const leastBytes = 256 * 1024;

/** The text of one followed log, written by its follower. It is made of the bytes when somebody first looks at it. */
export class FollowedLog implements RemoteLogText {
  readonly #tail = new ByteTail();
  #made: LogText | undefined;
  readonly #changed: () => void;
  readonly #most: () => number;
  #following = false;
  #runStart = 0;
  /** What stands above the text, as a line of its own, where something before it was never read. */
  #gap: { readonly words: string; readonly offset: number } | undefined;

  /** @param most how many of its last bytes are kept, as things are */
  constructor(changed: () => void, most: () => number = () => mostBytes) {
    this.#changed = changed;
    this.#most = most;
  }

  /** The first byte that is kept. */
  get keptFrom(): number {
    return this.#tail.start;
  }

  /** The bytes that are kept, from one of the file on. */
  bytesFrom(offset: number): Iterable<KeptBytes> {
    return this.#tail.from(offset);
  }

  /** As lines, from a whole one on. */
  get #text(): LogText {
    this.#made ??= textOf(this.#tail);
    return this.#made;
  }

  get text(): string {
    return this.#gapLine + this.#text.text;
  }

  get startOffset(): number {
    return this.#text.startOffset;
  }

  get following(): boolean {
    return this.#following;
  }

  get runStart(): number {
    return this.#runStart;
  }

  lineAt(offset: number): number | undefined {
    const line = this.#text.lineAt(offset);
    return line === undefined || this.#gapLine === "" ? line : line + 1;
  }

  offsetOfLine(line: number): number | undefined {
    return this.#text.offsetOfLine(this.#gapLine === "" ? line : Math.max(0, line - 1));
  }

  /** Gone with the beginning of the text, when that is no longer kept. */
  get #gapLine(): string {
    return this.#gap?.offset === this.#text.startOffset ? `${this.#gap.words}\n` : "";
  }

  /** Something that was in the log before what is shown is gone, and nobody has read it. */
  setGap(lost: number, more: boolean): void {
    const words = gapWords(lost, more);
    this.#gap = words === "" ? undefined : { words, offset: this.#tail.start };
    if (this.#gap) this.#changed();
  }

  reset(offset: number, runStart: number): void {
    this.#gap = undefined;
    this.#runStart = runStart;
    this.#tail.reset(offset);
    this.#made = undefined;
    this.#changed();
  }

  /** A run has begun in what is shown; the lines before it are history. */
  setRunStart(offset: number): void {
    this.#runStart = offset;
    this.#changed();
  }

  push(bytes: Uint8Array): void {
    this.#tail.push(bytes, this.#most());
    this.#made?.push(bytes);
    this.#changed();
  }

  setFollowing(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    this.#changed();
  }
}

/** The texts of all followed logs, for the editor. */
export class FollowedLogs implements RemoteLogs, Disposable {
  readonly #logs = new Map<string, FollowedLog>();
  readonly #changes = new Emitter<{ session: string; stage: string; member: string }>();
  readonly onDidChange: Event<{ session: string; stage: string; member: string }> = (listener) =>
    this.#changes.event(listener);

  /** The log of a member, made at the first asking. */
  of(session: string, ref: MemberRef): FollowedLog {
    const key = keyOf(session, ref.stage, ref.member);
    const known = this.#logs.get(key);
    if (known) return known;
    const changed = (): void => {
      this.#changes.fire({ session, ...ref });
    };
    const log = new FollowedLog(changed, () => shareOf(this.#logs.size));
    this.#logs.set(key, log);
    return log;
  }

  text(session: string, stage: string, member: string): RemoteLogText | undefined {
    return this.#logs.get(keyOf(session, stage, member));
  }

  /** Lets go of all logs of a session. */
  forget(session: string): void {
    for (const key of this.#logs.keys()) if (key.startsWith(`${session}\n`)) this.#logs.delete(key);
  }

  dispose(): void {
    this.#changes.dispose();
  }
}

/** How many bytes of each log are kept where so many are followed. */
function shareOf(logs: number): number {
  return Math.max(leastBytes, Math.min(mostBytes, Math.floor(mostOfAll / logs)));
}

function textOf(tail: ByteTail): LogText {
  const text = new LogText(mostBytes);
  let cut = tail.isCut;
  text.reset(tail.start);
  for (const { offset, data } of tail.from(0)) {
    // Of a line whose beginning is gone nothing is shown.
    const end = cut ? data.indexOf(10) : -1;
    if (end >= 0) text.reset(offset + end + 1);
    if (end >= 0) cut = false;
    text.push(data.subarray(end + 1));
  }
  return text;
}

function gapWords(lost: number, more: boolean): string {
  const text = lostText({ lost, ...(more && { lostMore: true }) });
  return text === undefined ? "" : `[… ${text} …]`;
}

function keyOf(session: string, stage: string, member: string): string {
  return `${session}\n${stage}\n${member}`;
}
