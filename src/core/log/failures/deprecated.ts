import { group, rule, type FailureRule } from "./rule";

const replacement = { program: "huggingface-cli", replacement: "hf" } as const;

/** Tools that were renamed, and left a stub behind. */
export const deprecatedRules: readonly FailureRule[] = [
  // huggingface_hub 1.x: the stub does nothing and exits 1; its level word is "Warning". In 0.34 to 0.36 the old name is
  // deprecated, but does its work: no failure.
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
  // vLLM's benchmarks/benchmark_*.py since 0.10
  rule({
    failure: "deprecated-command",
    permanent: true,
    needles: ["DEPRECATED: This "],
    pattern:
      /^DEPRECATED: This (?:script|command|tool|program) (?:has (?:been )?|was )(?<what>moved|replaced|renamed|removed)\b/,
    unless: /forwarding|still works|will be removed/i,
    cause: (captured) =>
      `This command is only a stub that prints a notice and exits with code 1: it was ${group(captured, "what")}, and nothing was done.`,
    remedy:
      "Use the command that the next lines name (for vLLM's benchmarks `vllm bench serve …`), with the same options.",
  }),
  // other stubs: llama.cpp's old names print two lines and exit 1
  rule({
    failure: "deprecated-command",
    permanent: true,
    needles: ["WARNING: The binary '"],
    pattern: /^WARNING: The binary '(?<program>[\w.-]{1,60})' is deprecated\.?\s*$/,
    cause: (captured) =>
      `The program ${group(captured, "program")} of llama.cpp is only a stub that prints this notice and exits with code 1: nothing was done.`,
    remedy: "Call the program that the next line names (`llama-cli`, `llama-server`, `llama-quantize` …) in its place.",
    subject: (captured) => ({ program: group(captured, "program") }),
  }),
  rule({
    failure: "deprecated-command",
    permanent: true,
    needles: ["is no longer supported", "has been removed", "no longer supports '"],
    pattern:
      /^(?:(?:ERROR|Error|error): |RuntimeError: )?(?:[`'"](?<program>[\w ./-]{2,80})[`'"] (?:is no longer supported|(?:is deprecated and )?has been removed)\b.{0,60}[Uu]se [`'"](?<instead>[^`'"]{1,80})|PyPI no longer supports 'pip (?<pip>search)')/,
    cause: (captured) =>
      `The command ${captured["program"] ?? "pip search"} does not exist any more in this version: it only prints a notice.`,
    remedy: (captured) =>
      captured["instead"] === undefined
        ? "Use what the message names in its place."
        : `Use \`${captured["instead"]}\` in its place.`,
    subject: (captured) => ({ program: captured["program"] ?? "pip search" }),
  }),
];
