import { noise, tqdmBar, tqdmTime, type Score, type ScoreLine } from "./score";

/** Real seconds that the time-lapsed night lasts at speed 1. */
const nightSeconds = 600;
const requests = 25_000;
const seconds = 1000;
const mebibyte = 1024 * 1024;

/** Bytes of the played checkpoint: small, since the demo writes to a real disk. */
export const checkpointBytes = 24 * mebibyte;

/** Real milliseconds between two lines; never so short that the player would only be starting `sleep`. */
function step(atSpeed1: number, speed: number): number {
  return Math.max(100, atSpeed1 / speed);
}

/**
 * The synthetic data run: 25,000 requests over the whole night. The server warms up for the first fifteenth of it, so
 * that the first rates promise a far later finish. `elapsed` is real time and the rates are those of the time-lapse, so that every
 * number and the ETA made from them hold on the viewer's clock. The format is the generator script's own.
 */
export function inferenceScore(speed: number): Score {
  const random = noise(25_000);
  const length = nightSeconds / speed;
  const answered = answeredBy(length);
  const lines: ScoreLine[] = [{ at: 0, kind: "out", text: "Model: /shared/kimi-k2.5-int4\n" }];
  const every = step(700, speed) / seconds;
  let printed = 0;
  for (let at = every * (0.8 + 0.4 * random()); printed < requests; at += every * (0.8 + 0.4 * random())) {
    const done = at >= length ? requests : Math.floor(answered(at) / 10) * 10;
    const wobble = random();
    if (done <= printed) continue;
    printed = done;
    lines.push({ at: at * seconds, kind: "out", text: progressLine(done, at, at / length + wobble * 0.02) });
  }
  const end = lines.at(-1)?.at ?? 0;
  const summary = `{"requests": ${requests}, "errors": ${errorsBy(requests)}}\n`;
  return [...lines, { at: end, kind: "append", path: "synth_25k/summary.json", text: summary }];
}

/** Requests answered after so many seconds: none for a moment, then a rate that nears its full value exponentially. */
function answeredBy(length: number): (at: number) => number {
  const latency = length / 200;
  const warmUp = length / 40;
  const ramp = (at: number): number => at - warmUp * (1 - Math.exp(-at / warmUp));
  const full = requests / ramp(length - latency);
  return (at) => Math.min(requests, Math.max(0, full * ramp(Math.max(0, at - latency))));
}

function errorsBy(done: number): number {
  return Math.floor((done + 1200) / 4400);
}

function progressLine(done: number, at: number, phase: number): string {
  const tokens = Math.round(395 + 32 * Math.sin(phase * 9));
  const rate = (done / at).toFixed(1);
  return `Progress: ${done}/${requests} (${errorsBy(done)} errors), ${rate} req/s, avg completion: ${tokens} tokens, elapsed: ${Math.round(at)}s\n`;
}

/** `hf download`: a bar per file on a terminal's terms (carriage returns), and the file growing under it. */
export function downloadScore(speed: number): Score {
  const length = 6 / speed;
  const steps = Math.max(4, Math.min(24, Math.floor((length * seconds) / step(250, speed))));
  const chunk = Math.floor(checkpointBytes / steps);
  const lines: ScoreLine[] = [{ at: 0, kind: "out", text: bar("model.safetensors", 0, 0, length) }];
  for (let index = 1; index <= steps; index += 1) {
    const at = (length * index) / steps;
    const bytes = index === steps ? checkpointBytes - chunk * (steps - 1) : chunk;
    lines.push({ at: at * seconds, kind: "grow", path: "model.safetensors", bytes });
    const done = index === steps ? checkpointBytes : chunk * index;
    lines.push({ at: at * seconds, kind: "out", text: `\r${bar("model.safetensors", done, at, length)}` });
  }
  const end = length * seconds;
  return [
    ...lines,
    { at: end, kind: "append", path: "config.json", text: '{"architectures": ["LlamaForCausalLMEagle3"]}\n' },
  ];
}

function bar(label: string, bytes: number, at: number, length: number): string {
  const share = bytes / checkpointBytes;
  const mega = (value: number): string => `${(value / 1e6).toFixed(1)}M`;
  const rate = at > 0 ? `${(bytes / 1e6 / at).toFixed(1)}MB/s` : "?B/s";
  const percent = String(Math.floor(share * 100)).padStart(3, " ");
  const left = at > 0 ? tqdmTime(length - at) : "?";
  return `${label}: ${percent}%|${tqdmBar(bytes, checkpointBytes)}| ${mega(bytes)}/${mega(checkpointBytes)} [${tqdmTime(at)}<${left}, ${rate}]`;
}

/** The extraction of hidden states: one tqdm bar, eight shards at its end. */
export function extractionScore(speed: number): Score {
  const length = 60 / speed;
  const every = step(500, speed) / seconds;
  const lines: ScoreLine[] = [{ at: 0, kind: "out", text: "Loading /shared/kimi-k2.5-int4 on 8 GPUs\n" }];
  for (let at = every; at < length; at += every) {
    const done = Math.floor((requests * at) / length);
    lines.push({
      at: at * seconds,
      kind: "out",
      text: `\r${countBar("Extracting hidden states", done, requests, at)}`,
    });
  }
  const end = length * seconds;
  lines.push({ at: end, kind: "out", text: `\r${countBar("Extracting hidden states", requests, requests, length)}\n` });
  for (let shard = 0; shard < 8; shard += 1)
    lines.push({ at: end, kind: "grow", path: `hidden/shard-${shard}.safetensors`, bytes: mebibyte });
  return lines;
}

/** The training: Hugging Face Trainer's bar and dictionaries, a loss that falls, the draft model at the end. */
export function trainingScore(speed: number): Score {
  const random = noise(7);
  const length = 90 / speed;
  const steps = 1500;
  const rounds = Math.max(5, Math.min(150, Math.floor((length * seconds) / step(600, speed))));
  const lines: ScoreLine[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const share = round / rounds;
    const at = length * share;
    const done = Math.round(steps * share);
    const loss = 1.1 + 2.6 * Math.exp(-4 * share) + 0.06 * random();
    const values = {
      loss: loss.toFixed(4),
      grad_norm: (0.7 + 0.5 * random()).toFixed(3),
      learning_rate: (5e-5 * (1 - share)).toExponential(3),
      epoch: (2 * share).toFixed(2),
    };
    const shown = Object.entries(values).map(([key, value]) => `'${key}': '${value}'`);
    lines.push({ at: at * seconds, kind: "out", text: `\r${countBar("", done, steps, at)}\n{${shown.join(", ")}}\n` });
  }
  const end = length * seconds;
  return [...lines, { at: end, kind: "grow", path: "draft/model.safetensors", bytes: 4 * mebibyte }];
}

function countBar(label: string, done: number, total: number, at: number): string {
  const rate = done / at;
  const percent = String(Math.floor((100 * done) / total)).padStart(3, " ");
  const head = label === "" ? "" : `${label}: `;
  const left = tqdmTime((total - done) / Math.max(rate, 1e-9));
  return `${head}${percent}%|${tqdmBar(done, total)}| ${done}/${total} [${tqdmTime(at)}<${left}, ${rate.toFixed(2)}it/s]`;
}

/**
 * The server's own statistics: busy while the night lasts, then empty. The lines carry wall-clock times, so the score
 * is made for a start. vLLM prints each 10 s; here each 2 s while the night lasts, and for four hours in all.
 */
export function vllmScore(speed: number, startedAt: number): Score {
  const random = noise(8000);
  const night = (nightSeconds / speed) * seconds;
  const stamp = (at: number): string => vllmStamp(new Date(startedAt + at));
  const lines: ScoreLine[] = [
    {
      at: 0,
      kind: "out",
      text: `INFO ${stamp(0)} [api_server.py:1090] Starting vLLM API server on http://127.0.0.1:8000\n`,
    },
  ];
  const every = step(2000, speed);
  for (let at = every; at < 4 * 3600 * seconds; at += at < 2 * night ? every : 10 * seconds) {
    const busy = at < night ? Math.min(1, (at / night) * 25) : 0;
    lines.push({
      at,
      kind: "out",
      text: `INFO ${stamp(at)} [loggers.py:127] Engine 000: ${statistics(busy, speed, random)}\n`,
    });
  }
  return lines;
}

/** Tokens a second belong to the requests a second of the time-lapse. */
function statistics(busy: number, speed: number, random: () => number): string {
  const about = (value: number): number => busy * value * (0.94 + 0.12 * random());
  const running = Math.min(200, Math.round(about(196)));
  const waiting = running > 190 ? Math.round(6 * random()) : 0;
  const hits = busy > 0 ? 21 + 4 * random() : 0;
  return (
    `Avg prompt throughput: ${about(13_900 * speed).toFixed(1)} tokens/s, Avg generation throughput: ${about(16_900 * speed).toFixed(1)} tokens/s, ` +
    `Running: ${running} reqs, Waiting: ${waiting} reqs, GPU KV cache usage: ${about(58).toFixed(1)}%, Prefix cache hit rate: ${hits.toFixed(1)}%`
  );
}

function vllmStamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
