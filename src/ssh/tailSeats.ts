import type { Clock } from "../core/ports";

/** OpenSSH allows 10 sessions a connection, the transport 8; the control channel and other windows' needs fit beside. */
const most = 4;
/** A log that was quiet for so long gives its channel to one that is being written. */
const quietMs = 30_000;
/** After the server refused a channel none is tried for so long; twice as long each time, up to the other. */
const barredMs = 60_000;
const longestBarMs = 15 * 60_000;

/** The right to follow one log on a channel of its own. */
export interface TailSeat {
  /** Aborted when another log is to have the channel. */
  readonly wanted: AbortSignal;
  /** Its log has grown. */
  active(): void;
  /** Gives the seat back; again does nothing. */
  release(): void;
}

interface Taken {
  readonly stop: AbortController;
  activeAt: number;
}

/**
 * The channels for logs of one host. Each log that is there gets one while there are any; the others are polled. One that
 * grows while it is polled takes the place of the one that was quiet longest, if that was for half a minute.
 */
export class TailSeats {
  readonly #clock: Clock;
  readonly #taken = new Set<Taken>();
  readonly #waiting: ((seat: TailSeat) => void)[] = [];
  #barredUntil = 0;
  #barMs = barredMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A free seat. */
  take(): TailSeat | undefined {
    if (this.#taken.size >= most || this.#clock.now() < this.#barredUntil) return undefined;
    return this.#seat();
  }

  /** The seat of a quiet log, once that has left it; undefined when all are in use. */
  takeFromQuiet(): Promise<TailSeat> | undefined {
    const now = this.#clock.now();
    if (now < this.#barredUntil) return undefined;
    const quiet = [...this.#taken]
      .filter(({ stop, activeAt }) => !stop.signal.aborted && now - activeAt >= quietMs)
      .sort((a, b) => a.activeAt - b.activeAt)
      .at(0);
    if (quiet === undefined) return undefined;
    const seat = new Promise<TailSeat>((resolve) => this.#waiting.push(resolve));
    quiet.stop.abort();
    return seat;
  }

  /** The server refuses further channels. What is refused to several logs in one moment is one refusal. */
  bar(): void {
    const now = this.#clock.now();
    if (now < this.#barredUntil) return;
    this.#barredUntil = now + this.#barMs;
    this.#barMs = Math.min(longestBarMs, 2 * this.#barMs);
  }

  /** It gave one. */
  given(): void {
    this.#barMs = barredMs;
  }

  #seat(): TailSeat {
    const taken: Taken = { stop: new AbortController(), activeAt: this.#clock.now() };
    this.#taken.add(taken);
    return {
      wanted: taken.stop.signal,
      active: () => {
        taken.activeAt = this.#clock.now();
      },
      release: () => {
        if (!this.#taken.delete(taken)) return;
        const next = this.#waiting.shift();
        if (next !== undefined) next(this.#seat());
      },
    };
  }
}
