/** A state of a counter. `t` in seconds, of any zero; ascending. */
export interface ProgressRow {
  readonly t: number;
  readonly done: number;
  readonly total: number;
}

/** Time left in seconds with an 80 % range. */
export interface Estimate {
  readonly eta: number;
  readonly lo: number;
  readonly hi: number;
}

/** Rows beyond this are thinned evenly: more precision is not to be had from more of them. */
const mostRows = 400;

/**
 * Time left from what was printed up to `now` (same zero as the rows). Null until it can be said: three rows of one
 * segment that show progress. docs/eta.md explains the method and its scores.
 *
 * A weighted choice between two rates: the mean since the warm-up, which pauses and bursts do not shake, and a robust
 * recent slope, which follows a lasting change. The recent one counts as much as it disagrees with the mean beyond
 * the scatter that the run itself shows.
 */
export function estimate(rows: readonly ProgressRow[], now: number): Estimate | null {
  const last = rows[rows.length - 1];
  if (!last || !(last.total > 0)) return null;
  const segment = thinned(oneAMoment(lastSegment(rows)));
  const first = segment[0];
  if (!first) return null;
  const left = Math.max(0, last.total - last.done);
  if (left === 0) return { eta: 0, lo: 0, hi: 0 };
  if (segment.length < 3 || last.done <= first.done) return null;

  const steady = afterWarmUp(segment);
  const mean = rateBetween(steady[0] ?? first, last);
  const recent = recentSlope(steady);
  const weight = trust(mean, recent, steady);
  const rate = Math.exp((1 - weight) * Math.log(mean) + weight * Math.log(recent));
  const silence = silenceBeyondCadence(segment, now);
  // The last row is `sinceLast` old: work goes on meanwhile, unless the log is quieter than its own cadence allows.
  const sinceLast = Math.max(0, now - last.t - silence);
  const eta = Math.max(0, left / rate - sinceLast);
  const spread = relativeSpread(mean, recent, last);
  return { eta, lo: eta / (1 + 0.6 * spread), hi: eta * (1 + spread) + silence };
}

/** From where the count last went back: a restart begins anew. */
function lastSegment(rows: readonly ProgressRow[]): readonly ProgressRow[] {
  let start = 0;
  for (let i = 1; i < rows.length; i++) {
    const row = rows[i];
    const before = rows[i - 1];
    if (row && before && (row.done < before.done || row.total !== before.total)) start = i;
  }
  return rows.slice(start);
}

/** Lines printed within one second of the log's own clock are one state: between them there is no time to divide by. */
function oneAMoment(rows: readonly ProgressRow[]): readonly ProgressRow[] {
  return rows.filter((row, i) => rows[i + 1]?.t !== row.t);
}

function thinned(rows: readonly ProgressRow[]): readonly ProgressRow[] {
  if (rows.length <= mostRows) return rows;
  const step = (rows.length - 1) / (mostRows - 1);
  return Array.from({ length: mostRows }, (_, i) => rows[Math.round(i * step)]).filter((row) => row !== undefined);
}

/** Drops the slow beginning: rows before the rate first reached 70 % of the median of its later rates. */
function afterWarmUp(rows: readonly ProgressRow[]): readonly ProgressRow[] {
  const cut = Math.floor(rows.length * 0.3);
  const later = rates(rows.slice(cut));
  const typical = median(later);
  if (!(typical > 0)) return rows;
  for (let i = 0; i < rows.length / 2; i++) {
    const here = rows[i];
    const next = rows[i + Math.max(1, Math.floor(rows.length / 20))];
    if (here && next && rateBetween(here, next) >= 0.7 * typical) return rows.slice(i);
  }
  return rows;
}

/** Median of the slopes between rows that are far apart, over the last third (Theil-Sen, thinned). */
function recentSlope(rows: readonly ProgressRow[]): number {
  const from = Math.min(rows.length - 3, Math.floor(rows.length * 0.67));
  const tail = rows.slice(Math.max(0, from));
  const half = Math.floor(tail.length / 2);
  const slopes: number[] = [];
  for (let i = 0; i + half < tail.length; i++) {
    const a = tail[i];
    const b = tail[i + half];
    if (a && b && b.t > a.t) slopes.push(rateBetween(a, b));
  }
  const slope = median(slopes);
  const first = rows[0];
  const last = rows[rows.length - 1];
  return slope > 0 ? slope : first && last ? rateBetween(first, last) : Number.NaN;
}

/** How much the recent slope is to be believed, 0..1: it must differ by more than the run's own scatter explains. */
function trust(mean: number, recent: number, rows: readonly ProgressRow[]): number {
  const difference = Math.abs(Math.log(recent / mean));
  const blocks = rates(blocksOf(rows, 12));
  const logs = blocks.filter((rate) => rate > 0).map((rate) => Math.log(rate));
  const scatter = median(logs.map((value) => Math.abs(value - median(logs)))) + 0.05;
  const surprise = difference / scatter;
  return Math.min(0.9, Math.max(0.25, surprise / 4));
}

function blocksOf(rows: readonly ProgressRow[], count: number): readonly ProgressRow[] {
  const step = Math.max(1, Math.floor(rows.length / count));
  return rows.filter((_, i) => i % step === 0);
}

/** Seconds that the log is silent beyond five times its usual spacing: as long as that nothing is assumed to happen. */
function silenceBeyondCadence(rows: readonly ProgressRow[], now: number): number {
  const gaps: number[] = [];
  for (let i = 1; i < rows.length; i++) {
    const a = rows[i - 1];
    const b = rows[i];
    if (a && b) gaps.push(b.t - a.t);
  }
  const last = rows[rows.length - 1];
  return last ? Math.max(0, now - last.t - 5 * median(gaps)) : 0;
}

function relativeSpread(mean: number, recent: number, last: ProgressRow): number {
  const share = last.done / last.total;
  return 0.12 + 0.5 * Math.abs(Math.log(recent / mean)) + 0.25 * (1 - share);
}

function rates(rows: readonly ProgressRow[]): number[] {
  const all: number[] = [];
  for (let i = 1; i < rows.length; i++) {
    const a = rows[i - 1];
    const b = rows[i];
    if (a && b && b.t > a.t) all.push(rateBetween(a, b));
  }
  return all;
}

/** Never 0 or infinite, so that logarithms and quotients stay finite. */
function rateBetween(a: ProgressRow, b: ProgressRow): number {
  return Math.max(1e-12, (b.done - a.done) / Math.max(1e-3, b.t - a.t));
}

function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
