import type { Gpu } from "./model";
import type { MetricSeries } from "./series";

/** A time, our clock, ms since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A sample stands for the time to the next, but not for longer than this: what nobody saw is nobody's. */
const longestMs = 60_000;
/** What sends no sample for so long was not seen, ms. */
export const unseenMs = 5 * 60_000;
/** A GPU that works less than this is idle, per cent. */
const idleBelow = 5;
/** So long a time of idleness is worth naming, ms. */
const longIdleMs = 10 * 60_000;
const hourMs = 3_600_000;

/** What one GPU did in a span, as far as it was seen. */
export interface GpuUse {
  readonly seenHours: number;
  readonly idleHours: number;
  /** The longest time in which it was seen to be idle, if that was long. */
  readonly longestIdle?: Span;
  /** Over the time that it was seen, per cent. */
  readonly meanUtilisation: number;
  readonly peakMemoryMib?: number;
}

/** Undefined where the GPU was not seen in the span. */
export function gpuUse({ series }: Gpu, span: Span): GpuUse | undefined {
  const utilisation = series.byName.get("utilisation");
  if (!utilisation) return undefined;
  let [seen, idle, worked] = [0, 0, 0];
  eachSample(utilisation, span, (value, ms) => {
    if (!Number.isFinite(value)) return;
    seen += ms;
    worked += value * ms;
    if (value < idleBelow) idle += ms;
  });
  if (seen === 0) return undefined;
  const longestIdle = longestStill(utilisation, span, (value) => value < idleBelow, longIdleMs);
  let peak = -Infinity;
  const memory = series.byName.get("memoryUsedMib");
  if (memory) eachSample(memory, span, (value) => (peak = Math.max(peak, value)));
  return {
    seenHours: seen / hourMs,
    idleHours: idle / hourMs,
    ...(longestIdle ? { longestIdle } : {}),
    meanUtilisation: worked / seen,
    ...(Number.isFinite(peak) ? { peakMemoryMib: peak } : {}),
  };
}

/** Times in a span in which a series has nothing for at least `leastMs`, its ends included. */
export function silences({ times }: MetricSeries, { from, to }: Span, leastMs: number): readonly Span[] {
  const found: Span[] = [];
  let last = from;
  for (const time of [...times.filter((one) => one >= from && one <= to), to]) {
    if (time - last >= leastMs) found.push({ from: last, to: time });
    last = time;
  }
  return found;
}

/** From the first to the last sample of a series in a span; undefined without any. */
export function seenPart({ times }: MetricSeries, { from, to }: Span): Span | undefined {
  const seen = times.filter((time) => time >= from && time <= to);
  const [first, last] = [seen[0], seen.at(-1)];
  return first === undefined || last === undefined ? undefined : { from: first, to: last };
}

/** How much a counter gained in a span, and between which of its samples. One that begins anew gains from there. */
export interface Gain extends Span {
  readonly amount: number;
}

/** Undefined where the counter was not seen twice in the span. */
export function gainOf({ times, values }: MetricSeries, { from, to }: Span): Gain | undefined {
  let [amount, first, last, before] = [0, NaN, NaN, NaN];
  for (let index = 0; index < times.length; index++) {
    const [at, value] = [times[index] ?? NaN, values[index] ?? NaN];
    if (at < from || at > to || Number.isNaN(value)) continue;
    if (Number.isNaN(first)) first = at;
    else amount += Math.max(0, value - before);
    [last, before] = [at, value];
  }
  return last > first ? { amount, from: first, to: last } : undefined;
}

/** The longest time of at least `leastMs` in which `is` holds for each sample, given the one before; what was not seen ends it. */
export function longestStill(
  { times, values }: MetricSeries,
  { from, to }: Span,
  is: (value: number, before: number) => boolean,
  leastMs: number,
): Span | undefined {
  let longest: Span | undefined;
  let [start, before, last] = [NaN, NaN, NaN];
  for (let index = 0; index < times.length; index++) {
    const [at, value] = [times[index] ?? NaN, values[index] ?? NaN];
    if (at < from || at > to) continue;
    if (!is(value, before)) start = is(value, value) ? at : NaN;
    else if (Number.isNaN(start) || at - last > unseenMs) start = at;
    [before, last] = [value, at];
    const still = at - start;
    if (still >= leastMs && still > (longest ? longest.to - longest.from : 0)) longest = { from: start, to: at };
  }
  return longest;
}

/** Mean of a series over the samples of a span; undefined without any. */
export function meanOf(series: MetricSeries, span: Span): number | undefined {
  let [sum, ms] = [0, 0];
  eachSample(series, span, (value, lasts) => {
    if (!Number.isFinite(value)) return;
    sum += value * lasts;
    ms += lasts;
  });
  return ms === 0 ? undefined : sum / ms;
}

function eachSample(
  { times, values }: MetricSeries,
  { from, to }: Span,
  take: (value: number, lastsMs: number) => void,
): void {
  for (let index = 0; index < times.length; index++) {
    const at = times[index] ?? 0;
    if (at < from || at > to) continue;
    const next = Math.min(times[index + 1] ?? to, to);
    take(values[index] ?? NaN, Math.max(1, Math.min(longestMs, next - at)));
  }
}
