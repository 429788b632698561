import { Emitter, type Disposable, type Event } from "./lifecycle";
import { LogText } from "./log/logText";
import type { MemberRef } from "./session/events";
import type { RemoteLogs, RemoteLogText } from "./session/remoteLogs";

/** How much of a log is kept for the editor; what is older is read from the host when asked for. */
const mostBytes = 4 * 1024 * 1024;

/** The text of one followed log, written by its follower. */
export class FollowedLog implements RemoteLogText {
  readonly #text = new LogText(mostBytes);
  readonly #changed: () => void;
  #following = false;
  #runStart = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get text(): string {
    return this.#text.text;
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
    return this.#text.lineAt(offset);
  }

  offsetOfLine(line: number): number | undefined {
    return this.#text.offsetOfLine(line);
  }

  reset(offset: number, runStart: number): void {
    this.#runStart = runStart;
    this.#text.reset(offset);
    this.#changed();
  }

  /** A run has begun in what is shown; the lines before it are history. */
  setRunStart(offset: number): void {
    this.#runStart = offset;
    this.#changed();
  }

  push(bytes: Uint8Array): void {
    this.#text.push(bytes);
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
    const log = new FollowedLog(() => {
      this.#changes.fire({ session, ...ref });
    });
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

function keyOf(session: string, stage: string, member: string): string {
  return `${session}\n${stage}\n${member}`;
}
