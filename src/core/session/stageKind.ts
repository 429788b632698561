import type { StageKind } from "./definition";

/**
 * Words that give a stage's kind away, in the order in which they are looked for. Only a guess for the icon and the
 * palette command; `kind` in the session file wins. Documented in docs/session-file.md.
 */
const inName: readonly (readonly [StageKind, RegExp])[] = [
  ["download", /download|fetch|pull/i],
  ["extraction", /extract|hidden|embed|featur/i],
  ["inference", /infer|generat|synth|serve|sample|rollout/i],
  ["training", /train|finetune|fine-tune|sft|dpo|grpo|pretrain/i],
];

const inCommand: readonly (readonly [StageKind, RegExp])[] = [
  ["download", /\b(?:hf|huggingface-cli)\s+download\b|\b(?:wget|aria2c|rclone|rsync)\b|\b(?:aws\s+s3|gsutil|s5cmd)\b/i],
  ["training", /\b(?:torchrun|deepspeed|accelerate\s+launch)\b|\btrain\w*\.py\b/i],
  ["extraction", /extract\w*\.py\b/i],
  ["inference", /(?:generat|infer)\w*\.py\b|\bvllm\b/i],
];

/** The kind that a stage most likely is, from its name, else from its command. */
export function guessKind(name: string, command: string): StageKind {
  const found = inName.find(([, words]) => words.test(name)) ?? inCommand.find(([, words]) => words.test(command));
  return found?.[0] ?? "other";
}
