import { ChartFeed } from "../../src/core/session/chartFeed";
import { chartPlan } from "../../src/core/session/chartPlan";
import type { Gpu, Session } from "../../src/core/session/model";
import { noSeries, withSamples, type SeriesSet } from "../../src/core/session/series";
import type { ToPage } from "../../src/protocol/webview";
import { host, member, progress, session, stage } from "../unit/sampleSession";

/** Where the sampled night begins: Tuesday, 1 December 2026, 22:00 UTC. */
export const nightStart = Date.UTC(2026, 11, 1, 22, 0);

/** Repeatable noise of −1..1. */
function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
}

/** The picture after so many minutes of a night: inference ramps up, a download fails, eight GPUs work. */
export function nightSession(minutes: number): Session {
  const [inference, vllm] = logsOf(minutes);
  const gpus = Array.from({ length: 8 }, (_, index) => gpu(index, minutes));
  const marks = [
    { at: nightStart, kind: "started", label: "started" },
    { at: nightStart + 145 * 60_000, kind: "failed", label: "failed" },
    { at: nightStart + 160 * 60_000, kind: "started", label: "started" },
  ] as const;
  const reading = progress({ done: 1, total: 25_000, rate_unit: "req/s" });
  const stages = [
    stage("inference", [member({ kind: "running" }, { series: inference, progress: reading, marks: [marks[0]] })]),
    stage("download", [member({ kind: "failed", cause: "hf is not on PATH", remedy: "" }, { marks: marks.slice(1) })]),
    stage("vllm", [member({ kind: "watching" }, { series: vllm })]),
  ];
  return session(stages, { hosts: new Map([["gpu8", host({ gpus, seenAt: nightStart })]]) });
}

function logsOf(minutes: number): readonly [SeriesSet, SeriesSet] {
  let inference = noSeries;
  let vllm = noSeries;
  let [done, tokens] = [0, 0];
  for (let minute = 0; minute < minutes; minute++) {
    // For half an hour nothing could be seen.
    if (minute > 200 && minute < 230) continue;
    const at = nightStart + minute * 60_000;
    const rate = 3.2 * (1 - Math.exp(-minute / 40)) + 0.15 * noise(minute) + 0.5;
    done += Math.round(rate * 60);
    tokens += Math.round(rate * 60) * (360 + 40 * noise(minute + 500));
    const errors = Math.floor(minute / 70);
    inference = withSamples(inference, at, { done, rate, errors, avg_completion_tokens: Math.round(tokens / done) });
    const running = Math.round(118 + 20 * noise(minute + 9));
    const waiting = Math.max(0, Math.round(30 * noise(minute + 77)));
    const rates = { gen_tok_s: rate * 367, prompt_tok_s: rate * 900 };
    vllm = withSamples(vllm, at, { running, waiting, kv_cache_pct: 14 + 3 * noise(minute), ...rates });
  }
  return [inference, vllm];
}

function gpu(index: number, minutes: number): Gpu {
  let series = noSeries;
  for (let tick = 0; tick < minutes * 6; tick++) {
    if (tick > 1200 && tick < 1380) continue;
    const seed = tick + index * 1000;
    series = withSamples(series, nightStart + tick * 10_000, {
      utilisation: Math.min(100, 95 + 5 * noise(seed)) - (tick < 60 ? 90 : 0),
      memoryUsedMib: tick < 60 ? 600 + tick * 2200 : 134_144 + 200 * index,
      powerW: 600 + 40 * noise(seed) + 5 * index,
      temperatureC: 66 + index + 3 * noise(seed),
    });
  }
  const name = "NVIDIA H200";
  const sample = { index, uuid: `GPU-${index}`, name, at: nightStart };
  return { index, name, sample, usedBy: [], series };
}

/** A session as the page gets it first. */
export function snapshotOf(of: Session): ToPage {
  const plan = chartPlan(of, { kind: "session", session: of.id });
  const charts = plan.charts.map(({ lines, ...chart }) => ({
    ...chart,
    lines: lines.map(({ key, label }) => ({ key, label })),
  }));
  const { title, marks } = plan;
  return { type: "snapshot", title, target: null, charts, samples: new ChartFeed(1800).whole(plan), marks };
}
