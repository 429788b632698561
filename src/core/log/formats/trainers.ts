import { parseDuration } from "../quantities";
import { present, type FormatMemory, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

const dictPair =
  /(['"])([^'"]{1,100})\1: (['"]?)(?:(?:np\.\w{1,20}|tensor)\()?(-?[\d.]+(?:e[+-]?\d+)?|nan|-?inf)\)?\3(?=[,}])/gi;
const trainerKeys = [
  "loss",
  "eval_loss",
  "train_loss",
  "train_runtime",
  "eval_runtime",
  "learning_rate",
  "grad_norm",
  "reward",
];
const trainerKey = new RegExp(`'(?:${trainerKeys.join("|")})':`);

/** Trainers that print a dictionary. */
export const trainerFormats: readonly ProgressFormat[] = [
  {
    // HF Trainer 4.x `{'loss': 1.2345, …}`, 5.x with quoted numbers, TRL, Axolotl. Python, not JSON; no step in it.
    key: "hf-trainer",
    trigger: "{'",
    needles: trainerKeys.map((key) => `'${key}':`),
    read: ({ body }, memory) => {
      const text = body.trim();
      if (!text.startsWith("{'") || !text.endsWith("}") || !trainerKey.test(text)) return undefined;
      const metrics = readMetrics(dictPairs(text));
      if (metrics === undefined) return undefined;
      rememberSteps(metrics, memory);
      return { metrics };
    },
  },
  {
    // HF Trainer 4.x and 5.x header; the only total when bars are off
    key: "hf-trainer-header",
    trigger: "Total optimization steps = ",
    read: ({ body }, memory) => {
      const match = /^ {0,8}Total optimization steps = ([\d,]+)\s*$/.exec(body);
      if (match === null) return undefined;
      const total = Number((match[1] ?? "").replaceAll(",", ""));
      memory.steps = total;
      memory.stepping = true;
      memory.stepped = false;
      return { total, unit: "step" };
    },
  },
  {
    // LLaMA-Factory 0.8+, trainer_log.jsonl; its times are str(timedelta)
    key: "llama-factory",
    trigger: '"current_steps"',
    read: ({ body }) => readLlamaFactory(body),
  },
];

/**
 * The dictionary with a loss is printed while the bar of the training stands; evaluations draw bars of their own, without
 * a label, too.
 */
export function rememberSteps(metrics: Readonly<Record<string, unknown>>, memory: FormatMemory): void {
  if (!Object.hasOwn(metrics, "loss")) return;
  if (!memory.stepping && memory.bar > 0) memory.steps = memory.bar;
  memory.stepping = false;
}

function* dictPairs(text: string): Generator<readonly [string, string]> {
  for (const match of text.matchAll(dictPair)) yield [match[2] ?? "", match[4] ?? ""];
}

const llamaFactoryNames: Readonly<Record<string, string>> = { throughput: "tokens_per_s", percentage: "percent" };

function readLlamaFactory(body: string): FormatReading | undefined {
  const counts = /^\{"current_steps": (\d+), "total_steps": (\d+), .*\}\s*$/.exec(body);
  if (counts === null) return undefined;
  const pairs = [...dictPairs(body)].filter(([name]) => name !== "current_steps" && name !== "total_steps");
  const time = (key: string): number | undefined => {
    const text = new RegExp(`"${key}": "([^"]{1,40})"`).exec(body)?.[1];
    return text === undefined ? undefined : parseDuration(text);
  };
  return present({
    done: Number(counts[1]),
    total: Number(counts[2]),
    unit: "step",
    elapsed_s: time("elapsed_time"),
    eta_s: time("remaining_time"),
    metrics: readMetrics(
      pairs.map(([name, value]): readonly [string, string] => [llamaFactoryNames[name] ?? name, value]),
    ),
  });
}
