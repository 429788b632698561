import { MetricSeries } from "./series";

/** Cards of a host are sampled together; samples further apart than this are of another round, ms. */
const oneRoundMs = 1500;

/** Logs are written when each likes: then a round is as long as this, */
const paceMs = 30_000;
/** and who is silent counts for so long with what it said last. */
const lastsMs = 120_000;

/**
 * The lowest, the mean and the highest of many series. Such as are sampled in rounds, as the GPUs of a host are: then a
 * round is a sample of the first with what the others said by then. Or of `own` pace, as the logs of members are: then
 * it is half a minute. Grows with its sources; what comes late for a round that was told is left out.
 */
export class Envelope {
  readonly low = new MetricSeries("lowest");
  readonly mean = new MetricSeries("mean");
  readonly high = new MetricSeries("highest");
  readonly #sources: readonly MetricSeries[];
  readonly #pace: "rounds" | "own";
  /** Time of the last round that was taken in. */
  #until = -Infinity;

  constructor(sources: readonly MetricSeries[], pace: "rounds" | "own") {
    this.#sources = sources;
    this.#pace = pace;
  }

  /** Takes in what its sources got since the last time. */
  update(): void {
    const columns = this.#sources.map(({ times, values }) => ({ times, values, at: 0 }));
    if (this.#pace === "own") this.#takePaced(columns);
    else this.#takeRounds(columns);
  }

  #takeRounds(columns: readonly Column[]): void {
    const [rounds] = columns;
    if (!rounds) return;
    for (const column of columns) column.at = after(column.times, this.#until + oneRoundMs);
    for (let round = after(rounds.times, this.#until); round < rounds.times.length; round++) {
      const time = rounds.times[round] ?? 0;
      this.#take(time, columns, (column, tell) => passRound(column, time + oneRoundMs, tell));
      this.#until = time;
    }
  }

  #takePaced(columns: readonly Column[]): void {
    const [first, last] = [
      Math.min(...columns.map(({ times }) => times[0] ?? Infinity)),
      Math.max(...columns.map(({ times }) => times[times.length - 1] ?? -Infinity)),
    ];
    if (first > last) return;
    for (const column of columns) column.at = after(column.times, this.#until);
    const begun = this.#until === -Infinity ? Math.ceil(first / paceMs) * paceMs : this.#until + paceMs;
    for (let time = begun; time <= last; time += paceMs) {
      this.#take(time, columns, (column, tell) => passRound(column, time, tell) ?? lately(column, time, tell));
      this.#until = time;
    }
  }

  #take(time: number, columns: readonly Column[], pass: (column: Column, tell: Tell) => number | undefined): void {
    let [low, high, sum, count] = [Infinity, -Infinity, 0, 0];
    for (const column of columns) {
      const value = pass(column, (extreme) => {
        low = Math.min(low, extreme);
        high = Math.max(high, extreme);
      });
      if (value === undefined) continue;
      sum += value;
      count++;
    }
    if (count === 0) return;
    this.low.append(time, low);
    this.mean.append(time, sum / count);
    this.high.append(time, high);
  }
}

type Tell = (value: number) => void;

/** A source on its way through the rounds. */
interface Column {
  readonly times: Float64Array;
  readonly values: Float64Array;
  at: number;
}

/** Goes on to the end of a round and tells all numbers on the way; returns the last, undefined where one is silent. */
function passRound(column: Column, end: number, tell: Tell): number | undefined {
  const { times, values } = column;
  let last: number | undefined;
  for (; (times[column.at] ?? Infinity) <= end; column.at++) {
    const value = values[column.at] ?? NaN;
    if (Number.isNaN(value)) continue;
    tell(value);
    last = value;
  }
  return last;
}

/** What one said last that is silent in this round. */
function lately({ times, values, at }: Column, time: number, tell: Tell): number | undefined {
  const value = values[at - 1];
  if (value === undefined || Number.isNaN(value) || (times[at - 1] ?? 0) < time - lastsMs) return undefined;
  tell(value);
  return value;
}

function after(times: Float64Array, moment: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
