import { parseMetric } from "../quantities";

/**
 * Names that tools use for the same thing. What is not listed keeps the tool's own name; a name that ends up here
 * twice on one line keeps the first value.
 */
const knownNames: Readonly<Record<string, string>> = {
  learning_rate: "lr",
  "actor/lr": "lr",
  act_lr: "lr",
  "train/lr": "lr",
  "train/grad_norm": "grad_norm",
  actor_lr: "lr",
  base_lr: "base_lr",
  "actor/pg_loss": "loss",
  "actor/loss": "loss",
  act_loss: "loss",
  gpt_loss: "loss",
  policy_loss: "loss",
  train_loss_step: "loss",
  "train/loss": "loss",
  "train/loss_step": "loss",
  lm_loss: "loss",
  val_loss: "eval_loss",
  valid_loss: "eval_loss",
  "eval/loss": "eval_loss",
  "val/loss": "eval_loss",
  gnorm: "grad_norm",
  gradnorm: "grad_norm",
  "actor/grad_norm": "grad_norm",
  accuracy: "acc",
  gen_len: "avg_completion_tokens",
  "completions/mean_length": "avg_completion_tokens",
  "response_length/mean": "avg_completion_tokens",
  "perf/throughput": "tokens_per_s_per_gpu",
  "tokens/train_per_sec_per_gpu": "tokens_per_s_per_gpu",
  tokens_per_second_per_gpu: "tokens_per_s_per_gpu",
  "timing_s/step": "step_time_s",
  "memory/max_active (GiB)": "mem_gib",
  "memory/max_mem_active(gib)": "mem_gib",
  "val/loss_epoch": "eval_loss",
  perplexity: "ppl",
  rps: "req_per_s",
  train_runtime: "train_runtime_s",
  train_samples_per_second: "samples_per_s",
  train_steps_per_second: "steps_per_s",
  eval_runtime: "eval_runtime_s",
  eval_samples_per_second: "eval_samples_per_s",
  eval_steps_per_second: "eval_steps_per_s",
};

/** The name a metric has in the product. */
export function metricName(name: string): string {
  return knownNames[name] ?? name;
}

/** Metrics of name and text pairs; what is no number is left out. Undefined when nothing is left. */
export function readMetrics(pairs: Iterable<readonly [string, string]>): Record<string, number | "nan"> | undefined {
  const metrics: Record<string, number | "nan"> = {};
  for (const [name, text] of pairs) {
    const value = parseMetric(text);
    const known = metricName(name.trim());
    if (value !== undefined && known !== "" && !Object.hasOwn(metrics, known)) metrics[known] = value;
  }
  return Object.keys(metrics).length > 0 ? metrics : undefined;
}
