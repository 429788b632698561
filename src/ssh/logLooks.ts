import type { Clock } from "../core/ports";
import looksScript from "../host/logLooks.sh";
import type { Control } from "./control";

/** How often logs without a channel of their own are looked at where nothing has happened for a while. */
const quietRoundMs = 5000;
const quietAfterMs = 30_000;

/** What is at a path. `file` without numbers: it changed between two looks, so it must be looked at closer. */
export type LogLook =
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable"; readonly reason: string }
  | {
      readonly kind: "file";
      readonly at?: { readonly device: string; readonly inode: string; readonly size: number };
    };

interface Waiting {
  readonly path: string;
  readonly resolve: (look: LogLook) => void;
  readonly reject: (error: unknown) => void;
}

/** Looks at the logs that are polled, all in one request a round: more seldom where all is quiet. */
export class LogLooks {
  readonly #control: Control;
  readonly #clock: Clock;
  readonly #roundMs: number;
  #waiting: Waiting[] = [];
  #going = false;
  /** What the rounds saw last, by path, and when that was something else than before. */
  readonly #seen = new Map<string, string>();
  #changedAt: number;
  #wake = new AbortController();

  /** @param roundMs how often they are looked at while something happens */
  constructor(control: Control, clock: Clock, roundMs: number) {
    this.#control = control;
    this.#clock = clock;
    this.#roundMs = roundMs;
    this.#changedAt = clock.now();
  }

  async now(path: string): Promise<LogLook> {
    const [look] = await this.#look([path]);
    return look ?? { kind: "file" };
  }

  /** With the next round. */
  inTurn(path: string): Promise<LogLook> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ path, resolve, reject });
      if (!this.#going) void this.#rounds();
    });
  }

  /** Something has happened on the host, of which logs may tell: they are looked at soon, and often for a while. */
  hurry(): void {
    this.#changedAt = this.#clock.now();
    this.#wake.abort();
  }

  async #pause(): Promise<void> {
    const quiet = this.#clock.now() - this.#changedAt >= quietAfterMs;
    this.#wake = new AbortController();
    const ms = quiet ? Math.max(quietRoundMs, this.#roundMs) : this.#roundMs;
    await this.#clock.sleep(ms, this.#wake.signal).catch(() => undefined); // somebody is in a hurry
  }

  #note(path: string, look: LogLook | undefined): void {
    const seen = JSON.stringify(look);
    if (this.#seen.get(path) === seen) return;
    this.#seen.set(path, seen);
    this.#changedAt = this.#clock.now();
  }

  async #rounds(): Promise<void> {
    this.#going = true;
    while (this.#waiting.length > 0) {
      await this.#pause();
      const round = this.#waiting;
      this.#waiting = [];
      try {
        const looks = await this.#look(round.map(({ path }) => path));
        round.forEach(({ path, resolve }, index) => {
          this.#note(path, looks[index]);
          resolve(looks[index] ?? { kind: "file" });
        });
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    this.#going = false;
  }

  async #look(paths: readonly string[]): Promise<readonly LogLook[]> {
    const answer = await this.#control.ask([looksScript], {
      path_count: paths.length,
      ...Object.fromEntries(paths.map((path, index) => [`path_${index}`, path])),
    });
    const states = answer.slice(0, paths.length);
    const stats = answer.slice(paths.length);
    const files = states.filter((state) => state === "@ file").length;
    // One that went between the two looks leaves no line, and then the others cannot be told apart.
    const told = stats.length === files ? stats : [];
    return states.map((state) => {
      if (state === "@ missing") return { kind: "missing" };
      if (state.startsWith("@ unreadable ")) return { kind: "unreadable", reason: state.slice("@ unreadable ".length) };
      const [device, inode, size] = (told.shift() ?? "").split(" ");
      if (device === undefined || inode === undefined || size === undefined) return { kind: "file" };
      return { kind: "file", at: { device, inode, size: Number(size) } };
    });
  }
}
