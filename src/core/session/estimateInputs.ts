import { type Situation } from "./estimateSituation";
import { type Cell } from "./estimateTrack";
import { median } from "./median";

/** Equal stretches of the work done so far whose pace is looked at, and those whose pauses are. */
const stretches = 48;
const pauseStretches = 12;

/**
 * What the correction of a forecast is judged by, in a fixed order: figures without a unit, so that neither the length
 * of a run nor the kind of its work matters. Paces are logarithms relative to the pace that the plain methods expect.
 * Always finite.
 */
export function inputsOf(situation: Situation): readonly number[] {
  const { track, done, left, total, pace, said } = situation;
  const { cells } = track;
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  const paces = cells.map((cell) => Math.log(cell.active / cell.work) - pace);
  const share = Math.min(1, Math.max(0, done / total));
  const expected = left * Math.exp(pace);
  const active = sumOf(cells, "active");
  return [
    ...[share, Math.log(Math.max(1 - share, 1e-4))],
    ...[Math.log(track.states / 100), Math.log(cells.length / 60), Math.log(whole / Math.max(whole, done))],
    ...said.map((each) => within(each - pace, 2)),
    ...[situation.error, Math.log(scatterOf(paces, 4) + 0.005)],
    ...situation.errors,
    ...profileOf(cells, stretches, "active").map((each) => within(each - pace, 2.5)),
    ...pausedOf(cells).map((each) => within(each, 3)),
    within(paces[paces.length - 1] ?? 0, 2.5),
    ...track.newest.map((each) => within(Math.log(each) - pace, 3)),
    ...trendOf(cells, paces, 0.12),
    ...trendOf(cells, paces, 0.5),
    ...[Math.log(sumOf(cells, "seconds") / active), Math.log1p(situation.pauses / expected), track.habit ? 1 : 0],
    within(Math.log(track.usualGap / expected), 6) / 3,
    ...[Math.log1p(situation.silence / track.usualGap) / 2, Math.log1p(situation.silence / active)],
  ].map((value) => within(value, 20));
}

/** How much the pace differs from one stretch to the next, typically: 0 for a run that is exactly regular. */
export function unevennessOf(cells: readonly Cell[]): number {
  return scatterOf(
    cells.map((cell) => Math.log(cell.active / cell.work)),
    2,
  );
}

/** Of fewer stretches than `least` nothing is known, and a tenth is assumed. */
function scatterOf(paces: readonly number[], least: number): number {
  if (paces.length < least) return 0.1;
  return 1.48 * median(paces.slice(1).map((pace, i) => Math.abs(pace - (paces[i] ?? 0))));
}

function sumOf(cells: readonly Cell[], time: "seconds" | "active"): number {
  return cells.reduce((sum, cell) => sum + cell[time], 0);
}

/** 0 where there is no number; else at most so far from 0. */
function within(value: number, bound: number): number {
  return Number.isNaN(value) ? 0 : Math.max(-bound, Math.min(bound, value));
}

/** How much longer equal shares of the work took for their pauses; logarithms. */
function pausedOf(cells: readonly Cell[]): readonly number[] {
  const active = profileOf(cells, pauseStretches, "active");
  return profileOf(cells, pauseStretches, "seconds").map((each, i) => each - (active[i] ?? 0));
}

/** Logarithms of the seconds per item over `count` equal shares of the work. */
function profileOf(cells: readonly Cell[], count: number, of: "seconds" | "active"): readonly number[] {
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  const profile: number[] = [];
  let at = 0;
  let begun = 0;
  let time = 0;
  let before = 0;
  for (let k = 1; k <= count; k++) {
    const edge = (whole * k) / count;
    for (let cell = cells[at]; cell && begun + cell.work <= edge * (1 + 1e-12); cell = cells[++at]) {
      begun += cell.work;
      time += cell[of];
    }
    const next = cells[at];
    const until = time + (next ? (next[of] * (edge - begun)) / next.work : 0);
    profile.push(Math.log(((until - before) * count) / whole));
    before = until;
  }
  return profile;
}

/** Slope of a straight line through the paces after this share of the stretches, and how clear it is. */
function trendOf(cells: readonly Cell[], paces: readonly number[], after: number): readonly [number, number] {
  const whole = cells[cells.length - 1]?.workAtEnd ?? 0;
  const from = Math.floor(after * cells.length);
  const n = cells.length - from;
  if (n < 4) return [0, 0];
  const places = cells.slice(from).map((cell) => (cell.workAtEnd - cell.work / 2) / whole);
  const values = paces.slice(from);
  const place = places.reduce((a, b) => a + b, 0) / n;
  const value = values.reduce((a, b) => a + b, 0) / n;
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const x = (places[i] ?? 0) - place;
    const y = (values[i] ?? 0) - value;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const slope = xy / xx;
  const rest = Math.max(1e-4 * n, yy - slope * xy) / (n - 2);
  return [within(slope, 3), Math.tanh((slope * Math.sqrt(xx / rest)) / 8)];
}
