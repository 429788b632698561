import { parseCount, parseMetric } from "../quantities";
import { present, stepReading, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

const milliseconds = (text: string): string => String(Number(text) / 1000);

const megatronNames: Readonly<Record<string, string>> = {
  "consumed samples": "consumed_samples",
  "learning rate": "lr",
  "lm loss": "loss",
  loss: "loss",
  "grad norm": "grad_norm",
  "throughput per GPU (TFLOP/s/GPU)": "tflops_per_gpu",
  TFLOPs: "tflops_per_gpu",
  "samples per second": "samples_per_s",
  "tokens-per-second-per-gpu": "tokens_per_s_per_gpu",
};

/** Trainers that print a line a step. */
export const stepFormats: readonly ProgressFormat[] = [
  {
    // Megatron-LM 2.5+, Megatron core, Megatron-DeepSpeed: ` iteration       20/  500000 | consumed samples: … |`
    key: "megatron",
    trigger: " iteration ",
    needles: ["iteration "],
    // GPT-NeoX puts its samples in front.
    read: ({ body }) => readMegatron(` ${body.trimStart().replace(/^samples\/sec: [\d.]{1,20} \| /, "")}`),
  },
  {
    // torchtitan 0.1+, `validate step:` in its validation: `step: 10  loss:  8.02114  grad_norm: …  memory: 51.62GiB(54.35%)  tps: 7,120  tflops: … mfu: 41.69%`
    key: "torchtitan",
    trigger: "step:",
    needles: [" loss:"],
    read: ({ body }) => readTorchtitan(body),
  },
  {
    // DeepSpeed 0.9+: `[Rank 0] step=10, skipped=0, lr=[9.998e-06], mom=[(0.9, 0.999)]`
    key: "deepspeed",
    trigger: "step=",
    needles: [", skipped=", "/global_step="],
    read: ({ body }) => readDeepSpeed(body),
  },
  {
    key: "deepspeed",
    trigger: "RunningAvgSamplesPerSec=",
    read: ({ body }) => readDeepSpeed(body),
  },
  {
    // DeepSpeed's pipeline engine: `steps: 100 loss: 3.4121 iter time (s): 1.512 samples/sec: 169.312`
    key: "deepspeed",
    trigger: "iter time (s): ",
    read: ({ body }) => {
      const match = /^steps: (\d+) loss: (\S+) iter time \(s\): ([\d.]+) samples\/sec: ([\d.]+)/.exec(body);
      if (match === null) return undefined;
      const [, done, loss = "", time = "", samples = ""] = match;
      const metrics = readMetrics([
        ["loss", loss],
        ["step_time_s", time],
        ["samples_per_s", samples],
      ]);
      return stepReading(done, { rate: parseCount(samples), rate_unit: "sample/s", metrics });
    },
  },
  {
    // verl 0.2+: `step:12 - actor/pg_loss:-0.0123 - …`; values may be np.float64(…)
    key: "verl",
    trigger: "step:",
    needles: ["step:\\d"],
    read: ({ body }) => {
      const match = /^step:(\d+) - (\S+:\S+(?: - .*)?)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      return stepReading(match[1], {
        metrics: readMetrics(pairsOf((match[2] ?? "").replace(/ *\[repeated .*$/, "").split(" - "), ":")),
      });
    },
  },
  {
    // MLX-LM: `Iter 200: Train loss 1.618, Learning Rate 1.000e-05, It/sec 1.271, Tokens/sec 512.443, …`
    key: "mlx",
    trigger: "Iter ",
    needles: [": Train loss ", ": Val loss "],
    read: ({ body }) => readMlx(body),
  },
  {
    // torchtune's file logger: `Step 5 | loss:0.42 lr:1e-06 tokens_per_second_per_gpu:8412.3 …`
    key: "torchtune",
    trigger: "Step ",
    needles: ["Step \\d"],
    read: ({ body }) => {
      const match = /^Step (\d+) \| (\w\S{0,60}:\S.{0,4000})$/.exec(body.trimEnd());
      const parts = (match?.[2] ?? "").split(" ");
      if (match === null || !parts.every((part) => part.includes(":"))) return undefined;
      return stepReading(match[1], { metrics: readMetrics(pairsOf(parts, ":")) });
    },
  },
  {
    // MaxText: `completed step: 24, seconds: 28.114, TFLOP/s/device: 241.307, Tokens/s/device: 2331.105, …, loss: 9.412`
    key: "maxtext",
    trigger: "completed step: ",
    read: ({ body }) => {
      const match = /^completed step: (\d+), (.*)$/.exec(body);
      if (match === null) return undefined;
      const names: Readonly<Record<string, string>> = {
        seconds: "step_time_s",
        "TFLOP/s/device": "tflops_per_gpu",
        "Tokens/s/device": "tokens_per_s_per_gpu",
      };
      return stepReading(match[1], { metrics: readMetrics(pairsOf((match[2] ?? "").split(", "), ":", names)) });
    },
  },
  {
    // MaxText's evaluation: `eval metrics after step: 99, loss=4.512, total_weights=65504.0`
    key: "maxtext",
    trigger: "eval metrics after step: ",
    read: ({ body }) => {
      const match = /^eval metrics after step: (\d+), loss=([^,\s]+)/.exec(body);
      if (match === null) return undefined;
      return stepReading(match[1], { role: "aux", metrics: readMetrics([["eval_loss", match[2] ?? ""]]) });
    },
  },
  {
    // NeMo 2 and Megatron's printer: `Validation: iteration 3/50`
    key: "nemo",
    trigger: ": iteration ",
    read: ({ body }) => {
      const match = /^(?:Validation|Testing|Predicting|Sanity checking): iteration (\d+)\/(\d+)\s*$/i.exec(body);
      if (match === null) return undefined;
      return stepReading(match[1], { total: Number(match[2]), role: "aux" });
    },
  },
  {
    // NeMo 2: `Training epoch 0, iteration 9/99 | lr: 3e-05 | … | reduced_train_loss: 1.341 | …`; counts from 0 against N-1
    key: "nemo",
    trigger: "Training epoch ",
    read: ({ body }) => {
      const match = /^Training epoch \d+, iteration (\d+)\/(\d+) \| (.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      const names = { reduced_train_loss: "loss", "train_step_timing in s": "step_time_s" };
      return stepReading(match[1], {
        total: Number(match[2]),
        metrics: readMetrics(pairsOf((match[3] ?? "").split(" | "), ":", names)),
      });
    },
  },
  {
    // fairseq 0.10+: `train_inner | epoch 001:    100 / 5487 loss=5.102, ppl=34.34, wps=121345.6, …`
    key: "fairseq",
    trigger: "| epoch ",
    read: ({ body }) => readFairseq(body),
  },
  {
    // fairseq, after the logger's name was peeled; `| epoch 001:    100 / 5487 loss=5.102, …` in older versions
    key: "fairseq",
    trigger: " / ",
    needles: [" loss="],
    read: ({ body }) => readFairseq(body),
  },
];

function readMegatron(body: string): FormatReading | undefined {
  const match = /^ (?:\[[^\]]{1,40}\] )?iteration +(\d+)\/ *(\d+) \| (.*)$/.exec(body.trimEnd());
  if (match === null) return readMegatronValidation(body);
  const [, done, total, rest = ""] = match;
  const pairs = pairsOf(rest.split("|"), ":", megatronNames);
  const time = pairs.find(([name]) => name === "elapsed time per iteration (ms)")?.[1];
  const known = pairs.filter(([name]) => Object.values(megatronNames).includes(name));
  if (time !== undefined) known.push(["step_time_s", milliseconds(time)]);
  return stepReading(done, { total: Number(total), metrics: readMetrics(known) });
}

/** ` validation loss at iteration 1000 | lm loss value: 2.341000E+00 | lm loss PPL: 1.039200E+01 |` */
function readMegatronValidation(body: string): FormatReading | undefined {
  const match = /^ (?:validation|test) loss at [^|]{1,120}\| lm loss value: (\S+) \| lm loss PPL: (\S+) \|/.exec(body);
  const metrics = readMetrics([
    ["eval_loss", match?.[1] ?? ""],
    ["ppl", match?.[2] ?? ""],
  ]);
  return metrics === undefined ? undefined : { role: "aux", metrics };
}

function readTorchtitan(body: string): FormatReading | undefined {
  const match = /^(validate )?step: *([\d,]+) +loss: *(\S+) +(.*)$/.exec(body.trimEnd());
  if (match === null) return undefined;
  const [, validation, done, loss = "", rest = ""] = match;
  const field = (pattern: RegExp): string => pattern.exec(rest)?.[1] ?? "";
  return stepReading(done, {
    role: validation === undefined ? undefined : "aux",
    metrics: readMetrics([
      [validation === undefined ? "loss" : "eval_loss", loss],
      ["grad_norm", field(/grad_norm: *(\S+)/)],
      ["mem_gib", field(/memory: *([\d.]+)GiB/)],
      ["tokens_per_s_per_gpu", field(/(?:tps|wps): *([\d,.]+)/)],
      ["tflops_per_gpu", field(/tflops: *([\d,.]+)/)],
      ["mfu", field(/mfu: *([\d.]+)%/)],
    ]),
  });
}

function readDeepSpeed(body: string): FormatReading | undefined {
  const stepLine = /^step=(\d+), skipped=\d+, lr=\[([^\],]+)/.exec(body);
  if (stepLine !== null) return stepReading(stepLine[1], { metrics: readMetrics([["lr", stepLine[2] ?? ""]]) });
  const match =
    /^(?:epoch=\d+\/micro_step=\d+\/global_step=(\d+)|\d+\/\d+), (?:RunningAvgSamplesPerSec=([^,\s]+), )?CurrSamplesPerSec=([^,\s]+)/.exec(
      body,
    );
  if (match === null) return undefined;
  const [, done, average = "", current = ""] = match;
  const rate = parseMetric(current);
  const usable = typeof rate === "number" ? rate : undefined;
  const more = {
    rate: usable,
    rate_unit: usable === undefined ? undefined : "sample/s",
    metrics: readMetrics([
      ["samples_per_s", current],
      ["samples_per_s_avg", average],
    ]),
  };
  // older versions print epoch and micro step, which is no fraction
  return done === undefined ? present(more) : stepReading(done, more);
}

function readMlx(body: string): FormatReading | undefined {
  const train =
    /^Iter (\d+): Train loss ([\d.]+|nan), Learning Rate ([\d.e+-]+), It\/sec ([\d.]+), Tokens\/sec ([\d.]+)/.exec(
      body,
    );
  if (train !== null) {
    const [, done, loss = "", lr = "", rate = "", tokens = ""] = train;
    return present({
      done: Number(done),
      unit: "it",
      rate: Number(rate),
      rate_unit: "it/s",
      metrics: readMetrics([
        ["loss", loss],
        ["lr", lr],
        ["tokens_per_s", tokens],
      ]),
    });
  }
  const validation = /^Iter (\d+): Val loss ([\d.]+|nan), Val took /.exec(body);
  if (validation === null) return undefined;
  return present({
    done: Number(validation[1]),
    unit: "it",
    role: "aux",
    metrics: readMetrics([["eval_loss", validation[2] ?? ""]]),
  });
}

const fairseqNames: Readonly<Record<string, string>> = {
  wps: "tokens_per_s",
  ups: "updates_per_s",
  gnorm: "grad_norm",
};

function readFairseq(body: string): FormatReading | undefined {
  const match = /^(?:(?:INFO \| )?train_inner \| |\| )?epoch \d+: +(\d+) \/ (\d+) (loss=.*)$/.exec(body.trimEnd());
  if (match === null) return undefined;
  const pairs = pairsOf((match[3] ?? "").split(", "), "=", fairseqNames);
  return stepReading(match[1], { total: Number(match[2]), metrics: readMetrics(pairs) });
}

/** `name: value` parts, cut at the last sign, because names may hold one. */
function pairsOf(
  parts: readonly string[],
  sign: string,
  names: Readonly<Record<string, string>> = {},
): [string, string][] {
  return parts.flatMap((part): [string, string][] => {
    const cut = sign === ":" ? part.lastIndexOf(":") : part.indexOf(sign);
    if (cut <= 0) return [];
    const name = part.slice(0, cut).trim();
    return [[names[name] ?? name, part.slice(cut + 1).trim()]];
  });
}
