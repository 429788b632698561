import { readFileSync } from "node:fs";
import { join } from "node:path";
import { estimate, type ProgressRow } from "../../src/core/session/estimate";
import { estimators } from "../fixtures/bench/eta/estimators.mjs";
import { median, print, quantile } from "./figure";

type Estimator = (rows: readonly ProgressRow[], now: number) => number | null | { readonly eta: number };

interface Run {
  readonly id: string;
  readonly finish_s: number;
  readonly rows: readonly ProgressRow[];
}

/** Runs that really happened, or were drawn to look like some that did; their true ends are known. */
const folder = "test/fixtures/bench/eta";
const fixed = [
  "01-warmup-ramp",
  "02-long-tail",
  "03-restart-checkpoint",
  "04-bursty-256",
  "06-download-steps",
  "08-rate-halves",
];

function readRuns(): readonly Run[] {
  const list = JSON.parse(readFileSync(join(folder, "runs.json"), "utf8")) as {
    readonly runs: readonly { readonly id: string; readonly file: string; readonly finish_s: number }[];
  };
  return list.runs
    .filter(({ id }) => fixed.includes(id))
    .map(({ id, file, finish_s }) => {
      const lines = readFileSync(join(folder, file), "utf8").trim().split("\n").slice(1);
      const rows = lines.map((line) => {
        const [t = 0, done = 0, total = 0] = line.split(",").map(Number);
        return { t, done, total };
      });
      return { id, finish_s, rows };
    });
}

/** Errors of the remaining time at 5 %, 10 % … 95 % of the true duration; no answer counts as 100 %. */
function errorsOf(estimator: Estimator, { rows, finish_s }: Run): readonly number[] {
  return Array.from({ length: 19 }, (_, k) => {
    const now = (finish_s * (k + 1)) / 20;
    const left = finish_s - now;
    const said = estimator(
      rows.filter((row) => row.t <= now),
      now,
    );
    const eta = typeof said === "object" ? said?.eta : said;
    return eta === undefined || !Number.isFinite(eta) ? 1 : Math.abs(eta - left) / left;
  });
}

function score(estimator: Estimator, runs: readonly Run[]): { mean: number; worst: number; p90: number } {
  const all = runs.map((run) => errorsOf(estimator, run));
  const medians = all.map((errors) => median(errors));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    mean: 100 * mean(medians),
    worst: 100 * Math.max(...medians),
    p90: 100 * mean(all.map((errors) => quantile(errors, 0.9))),
  };
}

/** How far off the time left is, beside what known tools would say. */
export function measureEta(): Promise<void> {
  const runs = readRuns();
  const ours = score(estimate, runs);
  const others = Object.entries(estimators)
    .map(([name, estimator]) => ({ name, ...score(estimator, runs) }))
    .sort((a, b) => a.mean - b.mean);
  const best = others[0];
  print({
    name: "eta",
    value: ours.mean,
    unit: "% mean of medians",
    rival: best?.name ?? "",
    rival_value: best?.mean ?? null,
    ratio: best === undefined ? null : best.mean / ours.mean,
    bar: "<= 12 %",
    ok: ours.mean <= 12,
    n: runs.length,
  });
  print({
    name: "eta-p90",
    value: ours.p90,
    unit: "% mean of p90",
    bar: "<= 45 %",
    ok: ours.p90 <= 45,
    n: runs.length,
  });
  print({
    name: "eta-worst",
    value: ours.worst,
    unit: "% worst run",
    bar: "<= 40 %",
    ok: ours.worst <= 40,
    n: runs.length,
  });
  return Promise.resolve();
}
