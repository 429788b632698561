// Composes runs and writes what the estimator sees of them, for scripts/etaFit.py:
//   node scripts/run.mjs scripts/etaRuns.ts wide|usual SEED RUNS FILE
// A run is a rate over time made of kinds of things that happen to jobs: warm-ups, drifts, lasting changes, levels that
// come and go, dips, single and recurring pauses, long tails, restarts, bursts, noise. How often and how much is drawn
// from wide ranges of our own, so that what is fitted knows kinds and not one collection's numbers.
// FILE: 32 bit floats, a record for each asking: the inputs of estimateInputs.ts, then the work ahead by the plain
// methods, the pauses ahead, the work under way and the silence, in units of the true time left, and the unevenness.
import { closeSync, openSync, writeSync } from "node:fs";
import { inputsOf, unevennessOf } from "../src/core/session/estimateInputs";
import { situationOf } from "../src/core/session/estimateSituation";
import { type ProgressRow } from "../src/core/session/estimateTrack";

/** Askings of a run, spread over 2.5 … 97.5 % of its duration. */
const askings = 19;
/** Of estimateInputs.ts. Where nothing can be said, a record holds no numbers. */
const inputs = 112;

interface Run {
  readonly rows: readonly ProgressRow[];
  readonly finish: number;
}

/** Draws of one seeded sequence (splitmix32). */
function drawsOf(seed: number) {
  let state = seed >>> 0;
  let spare: number | undefined;
  const share = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let t = state ^ (state >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    t ^= t >>> 15;
    return (t >>> 0) / 4294967296;
  };
  const between = (a: number, b: number): number => a + share() * (b - a);
  return {
    share,
    between,
    /** Evenly over orders of magnitude. */
    logBetween: (a: number, b: number): number => Math.exp(between(Math.log(a), Math.log(b))),
    chance: (p: number): boolean => share() < p,
    upTo: (n: number): number => Math.floor(share() * n),
    normal: (): number => {
      if (spare !== undefined) {
        const kept = spare;
        spare = undefined;
        return kept;
      }
      const radius = Math.sqrt(-2 * Math.log(1 - share()));
      const angle = 2 * Math.PI * share();
      spare = radius * Math.sin(angle);
      return radius * Math.cos(angle);
    },
  };
}
type Draws = ReturnType<typeof drawsOf>;

/** Lasting changes: from when on (share of the nominal time) which factor holds. */
function levelsOf(d: Draws, plain: boolean): readonly (readonly [number, number])[] {
  const factor = (): number => Math.exp((d.upTo(2) === 0 ? -1 : 1) * d.between(0.2, 1.2));
  const u = d.share() * (plain ? 0.7 : 1);
  if (u < 0.42) return [];
  if (u < 0.7) return [[d.between(0.03, 0.97), factor()]];
  const count = u < 0.8 ? 2 : 3 + d.upTo(6);
  const moments = Array.from({ length: count }, () => d.between(0.03, 0.97)).sort((a, b) => a - b);
  const other = factor();
  const kind = d.upTo(3);
  let level = 1;
  return moments.map((at, k) => {
    // Two levels in turn (a neighbour that comes and goes), a walk, or any level each time (a shared network).
    if (kind === 0) level = k % 2 === 0 ? other : 1;
    else level = kind === 1 ? level * factor() : Math.exp(d.between(-2.8, 0.6));
    return [at, Math.min(6, Math.max(0.05, level))] as const;
  });
}

function driftOf(d: Draws): (time: number) => number {
  if (!d.chance(0.35)) return () => 1;
  const [down, up] = [d.logBetween(0.2, 0.9), d.logBetween(1.1, 2.5)];
  const end = d.upTo(2) === 0 ? down : up;
  const kind = d.upTo(4);
  const from = d.between(0.1, 0.7);
  return (time) => {
    const t = Math.min(1.6, time);
    if (kind === 2) return Math.exp(Math.log(end) * t);
    if (kind === 3) return t < from ? 1 : Math.max(0.1, 1 + ((end - 1) * (t - from)) / (1 - from));
    return Math.max(0.1, 1 + (end - 1) * t);
  };
}

/** What a run is made of; times in units of its nominal duration. */
function planOf(d: Draws) {
  const total = Math.round(d.logBetween(40, 500_000));
  // Most jobs meet few things: no dips, and one lasting change at most.
  const plain = d.chance(0.65);
  const some = <T>(chance: number, most: number, one: () => T): readonly T[] =>
    Array.from({ length: d.chance(chance) ? 1 + d.upTo(most) : 0 }, one);
  /** Steps of the simulation in the time that the run would take at its nominal rate. */
  const steps = 1500;
  return {
    total,
    steps,
    /** Seconds; rows are dated to the hundredth. */
    length: d.logBetween(30, 200_000),
    head: d.chance(0.3),
    begin: d.chance(0.2) ? d.logBetween(0.001, 0.03) : 0,
    warm: d.chance(0.45)
      ? { length: d.logBetween(0.004, 0.2), from: d.between(0, 0.6), power: d.logBetween(0.5, 3) }
      : undefined,
    drift: driftOf(d),
    levels: levelsOf(d, plain),
    pauses: some(0.3, plain ? 2 : 3, () => ({ at: d.between(0.03, 0.97), length: d.logBetween(0.008, 0.15) })),
    dips: some(plain ? 0 : 0.3, 2, () => ({
      at: d.between(0.05, 0.95),
      length: d.logBetween(0.02, 0.25),
      by: d.logBetween(0.03, 0.5),
    })),
    stops: d.chance(0.25)
      ? {
          every: d.logBetween(0.02, 0.3) * total,
          length: d.logBetween(0.002, 0.05),
          first: d.chance(0.15) ? d.between(0.2, 1.8) : 1,
          jitter: d.between(0, 0.3),
        }
      : undefined,
    tail: d.chance(0.3)
      ? { from: (1 - d.logBetween(0.003, 0.06)) * total, by: d.logBetween(0.04, 0.5), grows: d.chance(0.3) }
      : undefined,
    restart: d.chance(0.13)
      ? {
          at: d.between(0.05, 0.95) * total,
          back: d.logBetween(0.003, 0.1) * total,
          down: d.logBetween(0.003, 0.08),
        }
      : undefined,
    noise: d.logBetween(0.01, 0.5),
    memory: Math.exp(-1 / steps / d.logBetween(0.001, 0.25)),
    burst: d.chance(0.2) ? Math.max(2, Math.round(d.logBetween(0.001, 0.05) * total)) : 1,
    white: d.chance(plain ? 0.25 : 0.6) ? d.logBetween(0.02, 0.8) : 0,
    everyItems: Math.max(1, Math.round(total / d.logBetween(20, 1500))),
    byTime: d.chance(0.35),
    everyTime: 1 / d.logBetween(25, 1500),
  };
}
type Plan = ReturnType<typeof planOf>;

/** The same with few kinds of things, each from a narrow range: what the generator of the scored runs composes. */
function usualPlanOf(d: Draws): Plan {
  const total = Math.round(d.logBetween(60, 200_000));
  const drift = d.chance(0.3) ? d.between(-0.7, 0.9) : 0;
  const change = d.chance(0.35)
    ? [[d.between(0.15, 0.85), d.chance(0.5) ? d.between(0.35, 0.7) : d.between(1.4, 2.5)] as const]
    : [];
  return {
    total,
    steps: 4000,
    length: d.logBetween(30, 200_000),
    head: false,
    begin: 0,
    warm: d.chance(0.5) ? { length: d.between(0.01, 0.12), from: 0.1, power: 1.5 } : undefined,
    drift: (t) => 1 + drift * Math.min(1.5, t),
    levels: change,
    pauses: Array.from({ length: d.chance(0.3) ? 1 + d.upTo(2) : 0 }, () => ({
      at: d.between(0.1, 0.9),
      length: d.between(0.02, 0.12),
    })),
    dips: [],
    stops: d.chance(0.25)
      ? { every: d.between(0.04, 0.25) * total, length: d.between(0.004, 0.03), first: 1, jitter: 0.2 }
      : undefined,
    tail: d.chance(0.3) ? { from: d.between(0.97, 0.995) * total, by: d.between(0.08, 0.3), grows: false } : undefined,
    restart: d.chance(0.15)
      ? { at: d.between(0.2, 0.8) * total, back: d.between(0.01, 0.06) * total, down: d.between(0.005, 0.05) }
      : undefined,
    noise: d.between(0.02, 0.35),
    memory: d.between(0.9, 0.995),
    burst: d.chance(0.2) ? Math.max(2, Math.round(d.between(0.002, 0.03) * total)) : 1,
    white: 0,
    everyItems: Math.max(1, Math.round(total / d.logBetween(30, 1500))),
    byTime: d.chance(0.35),
    everyTime: 1 / d.logBetween(40, 1500),
  };
}

const during = (t: number, { at, length }: { readonly at: number; readonly length: number }): boolean =>
  t > at && t < at + length;

/** Items a unit of time, without noise. */
function rateAt(plan: Plan, t: number, since: number, done: number): number {
  if (plan.pauses.some((pause) => during(t, pause))) return 0;
  let rate = plan.total * plan.drift(since);
  const { warm, tail } = plan;
  if (warm && since < warm.length) rate *= warm.from + (1 - warm.from) * (since / warm.length) ** warm.power;
  rate *= plan.levels.findLast(([from]) => t > from)?.[1] ?? 1;
  for (const dip of plan.dips) if (during(t, dip)) rate *= dip.by;
  if (!tail || done <= tail.from) return rate;
  const through = (done - tail.from) / (plan.total - tail.from);
  return rate * (tail.grows ? Math.max(tail.by * 0.5, 1 - (1 - tail.by) * through) : tail.by);
}

/** Undefined where it would hardly print or never end. */
function runOf(d: Draws, plan: Plan): Run | undefined {
  const { total, steps, begin, stops, restart } = plan;
  const rows: ProgressRow[] = plan.head ? [{ t: 0, done: 0, total }] : [];
  const dated = (time: number): number => Math.round(time * plan.length * 100) / (plan.length * 100);
  const fresh = Math.sqrt(1 - plan.memory ** 2);
  let [t, done, shown, lastItem, lastTime] = [begin, 0, 0, 0, 0];
  let level = d.normal();
  let nextStop = stops ? stops.every * stops.first : Infinity;
  let restarted = false;
  for (let guard = 0; shown < total && guard < steps * 30; guard++) {
    t += 1 / steps;
    level = plan.memory * level + fresh * d.normal();
    const noise = Math.exp(plan.noise * level + (plan.white > 0 ? plan.white * d.normal() : 0));
    done += (rateAt(plan, t, t - begin, done) * noise) / steps;
    if (stops && done > nextStop) {
      t += stops.length * (1 + stops.jitter * d.between(-1, 1));
      nextStop += stops.every;
    }
    if (restart && !restarted && done > restart.at) {
      restarted = true;
      t += restart.down;
      done = Math.max(0, done - restart.back);
      shown = Math.floor(done);
      lastItem = Math.min(lastItem, shown);
      rows.push({ t: dated(t), done: shown, total });
    }
    const now = Math.min(total, done >= total ? total : Math.floor(done / plan.burst) * plan.burst);
    const due = plan.byTime ? t - lastTime >= plan.everyTime : now - lastItem >= plan.everyItems;
    if (now !== shown && (now === total || due)) {
      [shown, lastItem, lastTime] = [now, now, t];
      rows.push({ t: dated(t), done: now, total });
    }
  }
  return rows.length >= 8 && shown === total ? { rows, finish: t } : undefined;
}

function recordOf(rows: readonly ProgressRow[], now: number, truth: number): readonly number[] {
  const situation = situationOf(rows, now);
  if (!situation || !(situation.left > 0)) return new Array<number>(inputs + 5).fill(Number.NaN);
  const ahead = [
    situation.left * Math.exp(situation.pace),
    situation.pauses,
    situation.underWay,
    situation.silence,
  ].map((seconds) => seconds / truth);
  return [...inputsOf(situation), ...ahead, unevennessOf(situation.track.cells)];
}

const [kind = "wide", seed = "1", runs = "1000", file = ""] = process.argv.slice(2);
if (file === "") throw new Error("node scripts/run.mjs scripts/etaRuns.ts wide|usual SEED RUNS FILE");
const draws = drawsOf(Number(seed));
const out = openSync(file, "w");
for (let made = 0; made < Number(runs);) {
  const run = runOf(draws, kind === "usual" ? usualPlanOf(draws) : planOf(draws));
  if (!run) continue;
  made++;
  for (let k = 0; k < askings; k++) {
    const now = run.finish * ((k + 0.5 + draws.share()) / (askings + 1));
    const record = recordOf(
      run.rows.filter((row) => row.t <= now),
      now,
      run.finish - now,
    );
    writeSync(out, Buffer.from(Float32Array.from(record).buffer));
  }
}
closeSync(out);
