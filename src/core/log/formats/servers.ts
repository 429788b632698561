import { parseMetric } from "../quantities";
import { present, type FormatReading, type ProgressFormat } from "./format";

type Metrics = Record<string, number | "nan">;

/** A field by name: fields are inserted in the middle from version to version. */
interface NamedField {
  readonly pattern: RegExp;
  readonly metric: string;
  readonly factor?: number;
}

function readFields(body: string, fields: readonly NamedField[]): Metrics {
  const metrics: Metrics = {};
  for (const field of fields) {
    const text = field.pattern.exec(body)?.[1];
    const value = text === undefined ? undefined : parseMetric(text);
    if (value === undefined || Object.hasOwn(metrics, field.metric)) continue;
    metrics[field.metric] = value === "nan" ? value : value * (field.factor ?? 1);
  }
  return metrics;
}

function gauges(body: string, fields: readonly NamedField[]): FormatReading | undefined {
  const metrics = readFields(body, fields);
  return Object.keys(metrics).length === 0 ? undefined : { metrics };
}

const number = String.raw`([\d.,]*\d|nan)`;
const field = (label: string, metric: string, factor?: number): NamedField => ({
  pattern: new RegExp(`(?:^|[ ,:])${label}${number}`, "i"),
  metric,
  ...(factor === undefined ? {} : { factor }),
});

const vllmFields: readonly NamedField[] = [
  field("Avg prompt throughput: ", "prompt_tok_s"),
  field("Avg generation throughput: ", "gen_tok_s"),
  field("Running: ", "running"),
  field("Swapped: ", "swapped"),
  field("(?:Waiting|Pending): ", "waiting"),
  field("Deferred: ", "deferred"),
  field("Preemptions: ", "preemptions"),
  field("Corrupted: ", "corrupted"),
  field("(?<!CPU )(?:GPU )?KV cache usage: ", "kv_cache_pct"),
  field("CPU KV cache usage: ", "cpu_kv_cache_pct"),
  field("(?<!External )Prefix cache hit rate: (?:GPU: )?", "prefix_hit_pct"),
  field("External prefix cache hit rate: ", "ext_prefix_hit_pct"),
  field("MM cache hit rate: ", "mm_hit_pct"),
];

const speculationFields: readonly NamedField[] = [
  field("Mean acceptance length: ", "accept_len"),
  field("Accepted throughput: ", "accepted_tok_s"),
  field("Drafted throughput: ", "drafted_tok_s"),
  field("(?:Avg Draft|Draft) acceptance rate: ", "accept_rate_pct"),
];

const sglangFields: readonly NamedField[] = [
  field("#running-req: ", "running"),
  field("#queue-req: ", "waiting"),
  field("(?:full )?token usage: ", "kv_cache_pct", 100),
  field("swa token usage: ", "swa_kv_cache_pct", 100),
  field("mamba usage: ", "mamba_pct", 100),
  field(String.raw`gen throughput \(token/s\): `, "gen_tok_s"),
  field(String.raw`input throughput \(token/s\): `, "prompt_tok_s"),
  field("cache hit rate: ", "prefix_hit_pct"),
  field("accept len: ", "accept_len"),
  field("accept rate: ", "accept_rate_pct", 100),
];

const trtllmFields: readonly NamedField[] = [
  field("host_step_time ?[=:] ?", "step_time_s", 0.001),
  field("num_scheduled_requests ?[=:] ?", "running"),
];

const benchLabels: Readonly<Record<string, string>> = {
  "Output token throughput (tok/s)": "gen_tok_s",
  "Total token throughput (tok/s)": "tokens_per_s",
  "Total Token throughput (tok/s)": "tokens_per_s",
  "Mean TTFT (ms)": "ttft_ms",
  "Mean TPOT (ms)": "tpot_ms",
};

/** Servers of models: gauges of the last interval, without done and total. */
export const serverFormats: readonly ProgressFormat[] = [
  {
    // vLLM, V0 (0.2 to 0.9), V1 (0.8+): `Engine 000: Avg prompt throughput: 5120.8 tokens/s, …, Running: 118 reqs, …`
    key: "vllm-stats",
    trigger: "Avg prompt throughput: ",
    read: ({ body }) =>
      /^(?:(?:Engine \d+|\d+ Engines Aggregated): )?Avg prompt throughput: /.test(body)
        ? gauges(body, vllmFields)
        : undefined,
  },
  {
    // vLLM V0, a line of its own: `Prefix cache hit rate: GPU: 58.41%, CPU: 0.00%`
    key: "vllm-stats",
    trigger: "Prefix cache hit rate: GPU: ",
    read: ({ body }) => (body.startsWith("Prefix cache hit rate: GPU: ") ? gauges(body, vllmFields) : undefined),
  },
  {
    // vLLM 0.14+ with perf stats; "MFU" here is TFLOP/s, no percentage
    key: "vllm-mfu",
    trigger: "MFU: ",
    needles: [" TF/s/GPU"],
    read: ({ body }) => {
      const match = /^(?:Engine \d+: )?MFU: ([\d.]+) TF\/s\/GPU(?: ([\d.]+) GB\/s\/GPU)?/.exec(body);
      return match === null ? undefined : { metrics: { tflops_per_gpu: Number(match[1]) } };
    },
  },
  {
    // vLLM speculative decoding; V0 prints a fraction, V1 a percentage
    key: "vllm-spec-decode",
    trigger: "acceptance",
    needles: ["SpecDecoding metrics: ", "Speculative metrics: "],
    read: ({ body }) => readSpeculation(body),
  },
  {
    // vLLM bench serve: one number a line, label padded to 40 columns
    key: "vllm-bench",
    trigger: ":  ",
    needles: [
      "Successful requests:",
      "Failed requests:",
      "Benchmark duration (s):",
      "Request throughput (req/s):",
      ...Object.keys(benchLabels).map((label) => `${label}:`),
    ],
    read: ({ body }) => readBench(body),
  },
  {
    // vLLM bench throughput: `Throughput: 12.34 requests/s, 4410.08 total tokens/s, 1987.33 output tokens/s`
    key: "vllm-bench",
    trigger: "Throughput: ",
    needles: [" requests/s, "],
    read: ({ body }) => readThroughput(body),
  },
  {
    // SGLang 0.3+: `Decode batch. #running-req: 200, …`; a comma after the tag since 0.5.3
    key: "sglang",
    trigger: "#running-req: ",
    read: ({ body }) => (/^(?:Decode|Prefill) batch[., ]/.test(body) ? gauges(body, sglangFields) : undefined),
  },
  {
    // TensorRT-LLM 1.x iteration log; `currank_total_requests = 0/1` is no progress
    key: "trtllm",
    trigger: "num_scheduled_requests",
    read: ({ body }) => (/^iter ?[=:] ?\d+, /.test(body) ? gauges(body, trtllmFields) : undefined),
  },
];

function readSpeculation(body: string): FormatReading | undefined {
  if (body.startsWith("SpecDecoding metrics: ")) return gauges(body, speculationFields);
  const v0 = /^Speculative metrics: Draft acceptance rate: ([\d.]+)/.exec(body);
  return v0 === null ? undefined : { metrics: { accept_rate_pct: Number(v0[1]) * 100 } };
}

function readBench(body: string): FormatReading | undefined {
  const match = /^([A-Z][\w ]{2,40}(?:\([\w/.%]{1,12}\))?): {2,40}([\d.]+) {0,20}$/.exec(body);
  if (match === null) return undefined;
  const label = match[1] ?? "";
  const value = Number(match[2]);
  if (label === "Successful requests") return { done: value, unit: "req" };
  if (label === "Failed requests") return { errors: value };
  if (label === "Benchmark duration (s)") return { elapsed_s: value };
  if (label === "Request throughput (req/s)") return { rate: value, rate_unit: "req/s" };
  const metric = benchLabels[label];
  return metric === undefined ? undefined : { metrics: { [metric]: value } };
}

function readThroughput(body: string): FormatReading | undefined {
  const match =
    /^Throughput: ([\d.]+) requests\/s, ([\d.]+)(?: total)? tokens\/s(?:, ([\d.]+) output tokens\/s)?\s*$/.exec(body);
  if (match === null) return undefined;
  const metrics: Metrics = { tokens_per_s: Number(match[2]) };
  if (match[3] !== undefined) metrics["gen_tok_s"] = Number(match[3]);
  return present({ rate: Number(match[1]), rate_unit: "req/s", metrics });
}
