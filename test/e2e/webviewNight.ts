import type { ConnectionState, Gpu, Mark, Member, Session } from "../../src/core/session/model";
import { noSeries, withSamples, type SeriesSet } from "../../src/core/session/series";
import * as samples from "../unit/sessions";
import { host, member, progress, session, stage } from "../unit/sampleSession";

/** Where the sampled night begins: Tuesday, 1 December 2026, 22:00 UTC. */
export const nightStart = Date.UTC(2026, 11, 1, 22, 0);
const minute = 60_000;

/** What a sampled night is like. */
export interface Night {
  readonly minutes: number;
  readonly hosts?: number;
  readonly gpus?: number;
  /** Minutes in which nothing could be seen. */
  readonly gap?: readonly [number, number];
  /** A training whose loss stops being a number in this minute. */
  readonly nanAt?: number;
  readonly failsAt?: number;
  /** Whether the outputs tell how long answers are. */
  readonly lengths?: boolean;
  /** Members of an extraction. */
  readonly members?: number;
  readonly connection?: ConnectionState;
}

/** Repeatable noise of −1..1. */
function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
}

/** The picture after such a night: inference ramps up, a download fails, GPUs work. */
export function nightSession(night: Night): Session {
  const { minutes, hosts = 1, gpus = 8, failsAt = 145, connection } = night;
  const [inference, vllm] = logsOf(night);
  const marks: readonly Mark[] = [
    { at: nightStart, kind: "started", label: "started" },
    { at: nightStart + failsAt * minute, kind: "failed", label: "failed: exit code 127" },
    { at: nightStart + (failsAt + 15) * minute, kind: "started", label: "started" },
  ];
  const seen = marks.filter(({ at }) => at < nightStart + minutes * minute);
  const reading = progress({ done: 1, total: 25_000, unit: "req", rate_unit: "req/s" });
  const stages = [
    stage("inference", [
      member(
        { kind: "running" },
        { series: inference, progress: reading, marks: seen.slice(0, 1), ...(night.lengths && answersOf(night)) },
      ),
    ]),
    stage("download", [failed(seen)]),
    stage("vllm", [member({ kind: "watching" }, { series: vllm })]),
    ...(night.nanAt === undefined ? [] : [stage("train", [trained(night, night.nanAt)])]),
    ...(night.members === undefined ? [] : [stage("extract", extracted(night, night.members))]),
  ];
  const seenAt = nightStart + minutes * minute;
  const names = Array.from({ length: hosts }, (_, index) => (hosts === 1 ? "gpu8" : `gpu8-${index}`));
  const built = names.map((name, place) => {
    const cards = Array.from({ length: gpus }, (_, index) => gpu(index + place * gpus, index, night));
    const definition = { ...samples.host, name };
    return [name, host({ definition, gpus: cards, seenAt, ...(connection && { connection }) })] as const;
  });
  return session(stages, { hosts: new Map([...built, ...(hosts === 1 ? [] : [["gpu8", host({ seenAt })] as const])]) });
}

/** What is known of outputs at some time. */
type Answers = Required<Pick<Member, "tokenLengths" | "tokensReadAt">> & Pick<Member, "run">;

/** Most answers around 400 tokens, a tail to the limit of 2,048, and some that it cut off. */
function answersOf({ minutes }: Night): Answers {
  const counts = new Map<number, number>([[2048, 310]]);
  for (let tokens = 8; tokens < 2048; tokens += 8) {
    const answers = Math.round(300 * Math.exp(-(((Math.log(tokens) - 6) / 0.6) ** 2)));
    if (answers > 0) counts.set(tokens, answers);
  }
  return readAnswers(counts, 310, nightStart + minutes * minute);
}

/** Outputs of answers that `--max-tokens 2048` limits. */
export function readAnswers(counts: ReadonlyMap<number, number>, ended: number, tokensReadAt: number): Answers {
  const lines = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const run = samples.record("inference", { command: "python generate.py --max-tokens 2048", startedAt: nightStart });
  return { tokenLengths: { counts, lines, without: 0, ended }, tokensReadAt, run };
}

function failed(marks: readonly Mark[]): Member {
  return member(
    { kind: "failed", cause: "hf is not on PATH", remedy: "" },
    { marks: marks.slice(1), series: withSamples(noSeries, nightStart, { errors: 0 }) },
  );
}

function isIn(at: number, gap: Night["gap"]): boolean {
  return gap !== undefined && at > gap[0] && at < gap[1];
}

function logsOf({ minutes, gap }: Night): readonly [SeriesSet, SeriesSet] {
  let inference = noSeries;
  let vllm = noSeries;
  let [done, tokens] = [0, 0];
  for (let step = 0; step < minutes * 2; step++) {
    const passed = step / 2;
    const rate = 3.2 * (1 - Math.exp(-passed / 40)) + 0.25 * noise(step) + 0.5;
    done += Math.round(rate * 30);
    tokens += Math.round(rate * 30) * (360 + 60 * Math.sin(passed / 50) + 40 * noise(step + 500));
    if (isIn(passed, gap)) continue;
    const at = nightStart + passed * minute;
    const errors = Math.floor(passed / 70);
    const mean = done / Math.max(1, passed * 60);
    inference = withSamples(inference, at, {
      done,
      rate: mean,
      errors,
      avg_completion_tokens: Math.round(tokens / done),
    });
    const running = Math.round(118 + 20 * noise(step + 9));
    const waiting = Math.max(0, Math.round(30 * noise(step + 77)));
    const rates = { gen_tok_s: rate * 367, prompt_tok_s: rate * 900 };
    vllm = withSamples(vllm, at, { running, waiting, kv_cache_pct: 14 + 3 * noise(step), ...rates });
  }
  return [inference, vllm];
}

function trained({ minutes, gap }: Night, nanAt: number): Member {
  let series = noSeries;
  for (let step = 0; step < minutes * 2; step++) {
    const passed = step / 2;
    if (isIn(passed, gap)) continue;
    const blown = passed >= nanAt;
    const loss = blown ? NaN : 1.4 + 6 * Math.exp(-passed / 30) + 0.12 * noise(step + 31);
    const lr = 3e-4 * Math.min(1, passed / 20);
    const grad = blown ? NaN : 0.8 + 0.3 * noise(step + 3) + (passed > nanAt - 8 ? (passed - nanAt + 8) * 4 : 0);
    series = withSamples(series, nightStart + passed * minute, {
      done: step * 10,
      loss,
      lr,
      grad_norm: grad,
      ...(step % 40 === 0 && !blown && { eval_loss: loss + 0.2 }),
    });
  }
  return member({ kind: "running" }, { series, progress: progress({ done: 1, unit: "step" }) });
}

function extracted({ minutes }: Night, members: number): readonly Member[] {
  return Array.from({ length: members }, (_, index) => {
    let series = noSeries;
    const ends = index === 2 ? minutes / 2 : minutes;
    for (let step = 0; step < ends * 3; step++) {
      const done = Math.round(step * 20 * (2.4 + index / 20) + 9 * noise(step + index * 50));
      series = withSamples(series, nightStart + (step * 20 + index) * 1000, { done });
    }
    const reading = progress({ done: 1, unit: "it", rate_unit: "it/s" });
    return member({ kind: "running" }, { name: String(index), series, progress: reading });
  });
}

function gpu(seedOf: number, index: number, { minutes, gap }: Night): Gpu {
  let series = noSeries;
  for (let tick = 0; tick < minutes * 6; tick++) {
    if (isIn(tick / 6, gap)) continue;
    const seed = tick + seedOf * 1000;
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
