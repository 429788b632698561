import { MetricSeries } from "./series";

/** Cards of a host are sampled together; samples further apart than this are of another round, ms. */
const oneRoundMs = 1500;

/**
 * The lowest, the mean and the highest of many series that are sampled in rounds, such as the GPUs of a host. A round is
 * a sample of the first series with what the others last said by then. Grows with its sources.
 */
export class Envelope {
  readonly low = new MetricSeries("lowest");
  readonly mean = new MetricSeries("mean");
  readonly high = new MetricSeries("highest");
  readonly #sources: readonly MetricSeries[];
  /** Time of the last round that was taken in. */
  #until = -Infinity;

  constructor(sources: readonly MetricSeries[]) {
    this.#sources = sources;
  }

  /** Takes in what its sources got since the last time. */
  update(): void {
    const columns = this.#sources.map(({ times, values }) => ({ times, values, at: 0 }));
    const [rounds] = columns;
    if (!rounds) return;
    for (const column of columns) column.at = after(column.times, this.#until + oneRoundMs);
    for (let round = after(rounds.times, this.#until); round < rounds.times.length; round++) {
      const time = rounds.times[round] ?? 0;
      this.#take(time, columns);
      this.#until = time;
    }
  }

  #take(time: number, columns: readonly Column[]): void {
    let [low, high, sum, count] = [Infinity, -Infinity, 0, 0];
    for (const column of columns) {
      const value = passRound(column, time, (extreme) => {
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

/** A source on its way through the rounds. */
interface Column {
  readonly times: Float64Array;
  readonly values: Float64Array;
  at: number;
}

/** Goes on to the round and tells all numbers on the way; returns the last, undefined where the card is silent. */
function passRound(column: Column, time: number, tell: (value: number) => void): number | undefined {
  const { times, values } = column;
  let last: number | undefined;
  for (; (times[column.at] ?? Infinity) <= time + oneRoundMs; column.at++) {
    const value = values[column.at] ?? NaN;
    if (Number.isNaN(value)) continue;
    tell(value);
    last = value;
  }
  return last;
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
