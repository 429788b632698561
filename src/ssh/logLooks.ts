import { ExpectedError } from "../core/errors";
import type { Clock } from "../core/ports";
import looksScript from "../host/logLooks.sh";
import type { Control } from "./control";
import { lines } from "./scriptChannel";

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

/** A script on the host that looks at some paths each time it is asked to. */
interface Looking {
  /** What it saw last. */
  looks: ReadonlyMap<string, LogLook>;
  readonly paths: readonly string[];
  readonly lines: AsyncGenerator<string>;
  readonly again: () => Promise<void>;
}

/** Looks at the logs that are polled, all in one go a round: more seldom where all is quiet. */
export class LogLooks {
  readonly #control: Pick<Control, "repeat">;
  readonly #clock: Clock;
  readonly #roundMs: number;
  #waiting: Waiting[] = [];
  #going = false;
  /** What the rounds saw last, by path, and when that was something else than before. */
  readonly #seen = new Map<string, string>();
  #changedAt: number;
  #wake = new AbortController();
  #looking: Looking | undefined;

  /** @param roundMs how often they are looked at while something happens */
  constructor(control: Pick<Control, "repeat">, clock: Clock, roundMs: number) {
    this.#control = control;
    this.#clock = clock;
    this.#roundMs = roundMs;
    this.#changedAt = clock.now();
  }

  async now(path: string): Promise<LogLook> {
    const looking = await this.#start([path]);
    await looking.lines.return(undefined);
    return looking.looks.get(path) ?? { kind: "file" };
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

  #note(path: string, look: LogLook): void {
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
        for (const { path, resolve } of round) {
          const look = looks.get(path) ?? { kind: "file" };
          this.#note(path, look);
          resolve(look);
        }
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    this.#going = false;
  }

  async #look(paths: readonly string[]): Promise<ReadonlyMap<string, LogLook>> {
    const looking = this.#looking;
    this.#looking = undefined;
    if (looking && paths.every((path) => looking.paths.includes(path))) {
      await looking.again();
      await readRound(looking);
      this.#looking = looking;
    } else {
      await looking?.lines.return(undefined);
      this.#looking = await this.#start([...new Set(paths)]);
    }
    return this.#looking.looks;
  }

  async #start(paths: readonly string[]): Promise<Looking> {
    const { output, again } = await this.#control.repeat([looksScript], {
      path_count: paths.length,
      ...Object.fromEntries(paths.map((path, index) => [`path_${index}`, path])),
    });
    const looking = { paths, again, lines: lines(output), looks: new Map<string, LogLook>() };
    await readRound(looking);
    return looking;
  }
}

/** @throws ExpectedError when the script says something else than it should, or has ended */
async function readRound(looking: Looking): Promise<void> {
  const { paths } = looking;
  const told: string[] = [];
  // A line for each path, and one more for each file.
  while (told.length <= 2 * paths.length) {
    const next = await looking.lines.next();
    if (next.done === true) break;
    if (next.value === "@ same") return;
    if (next.value === "@ over") {
      looking.looks = looksOf(paths, told);
      return;
    }
    told.push(next.value);
  }
  await looking.lines.return(undefined);
  throw new ExpectedError("The host does not say what is at the paths of the logs.");
}

function looksOf(paths: readonly string[], told: readonly string[]): ReadonlyMap<string, LogLook> {
  const states = told.slice(0, paths.length);
  const stats = told.slice(paths.length).filter(Boolean);
  // One that went between the two looks leaves no line, and then the others cannot be told apart.
  const numbers = stats.length === states.filter((state) => state === "@ file").length ? stats : [];
  const looks = states.map((state): LogLook => {
    if (state === "@ missing") return { kind: "missing" };
    if (state.startsWith("@ unreadable ")) return { kind: "unreadable", reason: state.slice("@ unreadable ".length) };
    const [device, inode, size] = (numbers.shift() ?? "").split(" ");
    if (device === undefined || inode === undefined || size === undefined) return { kind: "file" };
    return { kind: "file", at: { device, inode, size: Number(size) } };
  });
  return new Map(paths.map((path, index) => [path, looks[index] ?? { kind: "file" }]));
}
