import { type Cell } from "./estimateTrack";
import { median } from "./median";

/** Shares of the work done so far over which a recent mean is taken. */
const windows = [1, 0.5, 0.25, 0.12, 0.06, 0.03] as const;
/** How clear a change of rate must be (an F statistic) for what was before to be forgotten. */
const clarities = [8, 25, 80] as const;

/**
 * Natural logarithms of the seconds per item that each of several plain methods expects from here on; never empty,
 * always as many and in one order. No method wins on every run: the caller weighs them.
 */
export function forecasts(cells: readonly Cell[]): readonly number[] {
  const pace = cells.map(paceOf);
  return [
    meanOfLast(cells, 1, "seconds"),
    ...windows.map((share) => meanOfLast(cells, share, "active")),
    afterWarmUp(cells, pace),
    medianOfLast(cells, pace, 0.5),
    medianOfLast(cells, pace, 0.25),
    ...clarities.map((clarity) => sinceChange(cells, pace, clarity)),
  ].map((value) => Math.log(value));
}

/** Active seconds per item of whole stretches, by the ratio of sums: a mean of rates would favour the fast ones. */
export function meanOf(cells: readonly Cell[], from: number, time: "seconds" | "active" = "active"): number {
  let seconds = 0;
  let work = 0;
  for (let i = from; i < cells.length; i++) {
    seconds += cells[i]?.[time] ?? 0;
    work += cells[i]?.work ?? 0;
  }
  return seconds / work;
}

function paceOf(cell: Cell): number {
  return cell.active / cell.work;
}

function meanOfLast(cells: readonly Cell[], share: number, time: "seconds" | "active"): number {
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  let from = cells.length - 1;
  let work = cells[from]?.work ?? 0;
  while (from > 0 && work < share * whole - 1e-9 * whole) work += cells[--from]?.work ?? 0;
  return meanOf(cells, from, time);
}

/** Not moved by single slow or fast stretches; at least three of them. */
function medianOfLast(cells: readonly Cell[], pace: readonly number[], share: number): number {
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  const from = cells.findIndex((cell) => whole - cell.workAtEnd < share * whole);
  return median(pace.slice(Math.max(0, Math.min(from, cells.length - 3))));
}

/** Leaves out the stretches before the pace first came near its later median. */
function afterWarmUp(cells: readonly Cell[], pace: readonly number[]): number {
  const typical = median(pace.slice(Math.floor(pace.length * 0.3)));
  const from = pace.slice(0, Math.ceil(pace.length / 2)).findIndex((value) => value <= 1.4 * typical);
  return meanOf(cells, Math.max(0, from));
}

/** Mean since the last clear change of the pace; up to three changes are looked for, each after the one before. */
function sinceChange(cells: readonly Cell[], pace: readonly number[], clarity: number): number {
  let from = 0;
  for (let round = 0; round < 3; round++) {
    const change = clearestChange(pace.slice(from));
    if (change.clarity <= clarity) break;
    from += change.at;
  }
  return meanOf(cells, from);
}

/** The split of a list into two levels (of logarithms) that leaves the least scatter within them. */
function clearestChange(pace: readonly number[]): { readonly clarity: number; readonly at: number } {
  const n = pace.length;
  if (n < 4) return { clarity: 0, at: 0 };
  const logs = pace.map((value) => Math.log(value));
  const sum = logs.reduce((a, b) => a + b, 0);
  const scatter = logs.reduce((a, b) => a + (b - sum / n) ** 2, 0);
  const latest = n > 6 ? n - 2 : n - 1;
  let best = 0;
  let at = 0;
  let before = 0;
  for (let k = 1; k <= latest; k++) {
    before += logs[k - 1] ?? 0;
    const explained = ((k * (n - k)) / n) * (before / k - (sum - before) / (n - k)) ** 2;
    if (explained > best) [best, at] = [explained, k];
  }
  // The floor keeps the rounding of printed times from looking like a change.
  return { clarity: best / (Math.max(0, scatter - best) / (n - 2) + 2e-4), at };
}
