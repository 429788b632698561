import { parseMetric } from "../quantities";
import { present, type ProgressFormat } from "./format";

const line =
  /^Progress: (?<done>\d+)\/(?<total>\d+) \((?<errors>\d+) errors?\), (?<rate>[\d.]+) req\/s(?:, avg completion: (?<tokens>[\d.]+|nan) tokens)?(?:, elapsed: (?<elapsed>[\d.]+)s)?\s*$/;

/**
 * The synthetic data generator's own line, stdout, `\n`:
 * `Progress: 40/25000 (0 errors), 0.6 req/s, avg completion: 367 tokens, elapsed: 65s`.
 * The rate is the mean since start. The whole line must match: generated text may say "Progress: 3/4 cup".
 */
export const seedFormats: readonly ProgressFormat[] = [
  {
    key: "seed",
    trigger: "Progress: ",
    read: ({ body }) => {
      const groups = line.exec(body)?.groups;
      if (groups === undefined) return undefined;
      const tokens = parseMetric(groups["tokens"] ?? "");
      const elapsed = groups["elapsed"];
      return present({
        done: Number(groups["done"]),
        total: Number(groups["total"]),
        unit: "req",
        rate: Number(groups["rate"]),
        rate_unit: "req/s",
        errors: Number(groups["errors"]),
        elapsed_s: elapsed === undefined ? undefined : Number(elapsed),
        metrics: tokens === undefined ? undefined : { avg_completion_tokens: tokens },
      });
    },
  },
];
