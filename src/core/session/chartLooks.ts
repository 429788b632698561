/** How the numbers of a chart are said; as in the protocol with the charts page. */
export type ChartUnit =
  | { readonly kind: "number" | "percent" | "mib" | "watt" | "celsius" }
  | { readonly kind: "rate"; readonly unit: string };

/** A chart without its lines. */
export interface ChartLook {
  readonly id: string;
  readonly title: string;
  /** What it shows, for screen readers and as a hint. */
  readonly about: string;
  readonly unit: ChartUnit;
  /** Ends of the value axis, where they are known beforehand. */
  readonly min?: number;
  readonly max?: number;
  /** Digits behind the point that the value axis may have: 0 for what is counted. */
  readonly precision?: number;
}

/** Names of metrics, and the word for each where several of one owner share a chart. */
export type Words = Readonly<Record<string, string>>;

/** Charts of logs: which metrics they draw, and the word for a line where there are several of one member. */
export const memberLooks: readonly (ChartLook & { readonly metrics: Words })[] = [
  look("errors", "Errors", "Failed requests or items so far", { errors: "" }, { min: 0, precision: 0 }),
  look("loss", "Loss", "Training and evaluation loss", {
    loss: "",
    eval_loss: "evaluation",
    train_loss: "mean of the run",
  }),
  look("lr", "Learning rate", "Learning rate of the optimiser", { lr: "" }, { min: 0 }),
  look("grad", "Gradient norm", "Norm of the gradient", { grad_norm: "" }, { min: 0 }),
  look("acc", "Accuracy", "Accuracy as the trainer prints it", { acc: "" }),
  look("reward", "Reward", "Reward as the trainer prints it", { reward: "" }),
  look("kl", "KL divergence", "Distance from the reference model", { kl: "" }),
  look("trained", "Tokens trained on", "Tokens that the trainer goes through", { tokens_per_s: "", tokens_per_s_per_gpu: "a GPU" }, { min: 0, unit: { kind: "rate", unit: "tok/s" } }), // prettier-ignore
  look("mfu", "Model FLOPs utilisation", "Share of the GPUs' arithmetic that the model uses", { mfu: "" }, { min: 0, unit: { kind: "percent" } }), // prettier-ignore
  look("queue", "Requests in the server", "Requests that the server works on, and that wait for it", { running: "running", waiting: "waiting" }, { min: 0, precision: 0 }), // prettier-ignore
  look("kv", "KV cache", "Share of the server's KV cache in use, and of prompts found in it", { kv_cache_pct: "in use", prefix_hit_pct: "prompts found" }, { min: 0, max: 100, unit: { kind: "percent" } }), // prettier-ignore
  look("serverTokens", "Server tokens per second", "Tokens that the server reads and writes", { gen_tok_s: "written", prompt_tok_s: "read" }, { min: 0, unit: { kind: "rate", unit: "tok/s" } }), // prettier-ignore
];

function look(
  ...[id, title, about, metrics, more = {}]: readonly [string, string, string, Words, Partial<ChartLook>?]
): ChartLook & { readonly metrics: Words } {
  return { id, title, about, unit: { kind: "number" }, metrics, ...more };
}

/** Charts of GPUs: one metric each. */
export const gpuLooks: readonly (ChartLook & { readonly name: string })[] = [
  { id: "gpu", name: "utilisation", title: "GPU utilisation", about: "Share of time in which each GPU worked", unit: { kind: "percent" }, min: 0, max: 100 }, // prettier-ignore
  { id: "memory", name: "memoryUsedMib", title: "GPU memory", about: "Memory in use on each GPU", unit: { kind: "mib" }, min: 0 }, // prettier-ignore
  { id: "power", name: "powerW", title: "GPU power", about: "Power drawn by each GPU", unit: { kind: "watt" }, min: 0 },
  { id: "temperature", name: "temperatureC", title: "GPU temperature", about: "Temperature of each GPU", unit: { kind: "celsius" } }, // prettier-ignore
];

/** Metrics that some chart draws, so that no others need be kept. */
export const chartedMetrics: ReadonlySet<string> = new Set([
  ...["done", "rate", "avg_completion_tokens", "outputBytes", "outputCount"],
  ...memberLooks.flatMap(({ metrics }) => Object.keys(metrics)),
  ...gpuLooks.map(({ name }) => name),
]);
