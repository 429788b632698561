import { rule, type FailureRule } from "./rule";

const replacement = { program: "huggingface-cli", replacement: "hf" } as const;

/** Tools that were renamed, and left a stub behind. */
export const deprecatedRules: readonly FailureRule[] = [
  // huggingface_hub 1.x: the stub does nothing and exits 1; its level word is "Warning"
  rule({
    failure: "deprecated-command",
    permanent: true,
    needles: ["huggingface-cli"],
    pattern:
      /^(?:⚠️? {0,2})?(?:Warning: |Error: )?[`'"]?huggingface-cli(?: [\w-]+)?[`'"]? is (?:deprecated and )?no longer (?:works|supported|available)/u,
    cause:
      "In this version of huggingface_hub `huggingface-cli` is only a stub that prints this notice and exits with code 1: nothing was done. The tool is now called hf.",
    remedy:
      "Replace `huggingface-cli` by `hf` in the command (`hf download REPO …`, `hf auth login`) and start it again.",
    subject: () => replacement,
  }),
  // huggingface_hub 0.34 to 0.36: deprecated, but it still does its work
  rule({
    failure: "deprecated-command",
    severity: "warning",
    permanent: true,
    needles: ["huggingface-cli"],
    pattern: /^(?:⚠️? {0,2})?(?:Warning: )?[`'"]?huggingface-cli(?: [\w-]+)?[`'"]? is deprecated(?! and no longer)/u,
    cause:
      "`huggingface-cli` is deprecated. This version still does the work, the next ones (huggingface_hub 1.0 and later) do nothing and exit 1.",
    remedy: "Use `hf` in its place: `hf download REPO …`, `hf auth login`.",
    subject: () => replacement,
  }),
];
