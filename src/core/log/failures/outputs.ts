import { group, rule, type FailureRule } from "./rule";

/** What comes out of a job, or goes into it, is not what it should be: weights, losses, results. */
export const outputRules: readonly FailureRule[] = [
  rule({
    failure: "weights-mismatch",
    severity: "warning",
    needles: ["| MISSING", "newly initialized", "were not initialized from the model checkpoint"],
    pattern:
      /^(?:[\w.*{}, ]{3,200} {1,80}\| MISSING {1,10}\||Some weights of (?<model>\w{1,80}) were not initialized from the model checkpoint.{0,300})/,
    cause:
      "Some weights were not in the checkpoint and were filled with random numbers, so the output will be nonsense until they are trained.",
    remedy:
      "Check that the class and the key names fit the checkpoint (a prefix such as base_model. is often too much), unless a new head is meant to be trained.",
  }),
  rule({
    failure: "weights-mismatch",
    permanent: true,
    scope: "exception",
    weight: 2,
    needles: ["Error(s) in loading state_dict", "size mismatch for"],
    pattern: /Error\(s\) in loading state_dict for (?<model>\w{1,80})|size mismatch for (?<key>[\w.]{1,120})/,
    cause: "The checkpoint does not fit the model: keys are missing or shapes differ.",
    remedy: "Use the configuration that the checkpoint was made with.",
  }),
  rule({
    failure: "empty-output",
    severity: "warning",
    needles: ["are empty", "were empty", "rote 0 ", "enerated 0 ", "s written"],
    pattern:
      /^(?:\w{1,30}: )?(?:(?<empty>\d+) of (?<all>[1-9]\d*) (?:responses|completions|outputs|samples|answers|generations|records) (?:are|were) empty|[Ww]rote 0 (?:records|samples|rows|lines|examples)\b|0 (?:records|samples|rows|lines|examples) written\b|[Gg]enerated 0 (?:records|samples|rows|tokens)\b)/,
    cause: (captured) =>
      captured["empty"] === undefined
        ? "The tool wrote no output at all."
        : `${captured["empty"]} of ${group(captured, "all")} results are empty.`,
    remedy:
      "Look at a raw answer: mostly the token limit ends inside the reasoning, or the post-processing cuts everything away.",
  }),
  rule({
    failure: "partial-output",
    severity: "warning",
    needles: ["Skipping save", "shards failed", "were skipped", "could not be"],
    pattern:
      /^(?:(?:WARNING|Warning|ERROR|Error): )?(?:NaN found in [\w ]{1,60} for (?<path>\S{1,300}?)\. Skipping save|[1-9]\d*(?: of | ?\/ ?)\d+ (?:shards|samples|files|records) (?:failed|were skipped|could not be))/,
    cause: "Some samples or shards were silently left out of the output.",
    remedy:
      "Count the outputs before the next stage uses them, and run the missing ones again (with bf16 instead of fp16 when values were NaN).",
  }),
  rule({
    failure: "nan-loss",
    needles: [
      "oss is nan",
      "oss is NaN",
      "oss is inf",
      "inimum loss scale",
      "Unexpected result nan",
      "probability tensor contains",
      "Current loss scale already at minimum",
      "found NaN",
      "NaN in loss",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): )?(?:Loss is (?:nan|NaN|inf),? (?:stopping|exiting|aborting).{0,100}|(?:.{0,120})Current loss scale already at minimum.{0,120}|(?:.{0,80})[Mm]inimum loss scale reached.{0,120}|Rank \d+(?:: found NaN in |,.{1,100}: Unexpected result nan).{1,120}|probability tensor contains either .{1,80}|(?:[Tt]raining )?[Ll]oss (?:is|became) (?:nan|NaN)\b.{0,120})/,
    scope: "both",
    weight: 3,
    cause: "The loss or a gradient is not a number any more: the training has diverged.",
    remedy:
      "Go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  }),
];
