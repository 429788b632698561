import type { ProgressFormat } from "./format";

/** llama.cpp's programs; what its logger puts in front is peeled off. */
export const llamaCppFormats: readonly ProgressFormat[] = [
  {
    // llama.cpp's server, one prompt: `slot update_slots: id  3 | task 811 | prompt processing progress, …, progress = 0.146495`
    key: "llama-server",
    trigger: "prompt processing progress, ",
    read: ({ body }) => {
      const match = /\| prompt processing progress, .{0,120}?progress = ([\d.]+)/.exec(body);
      return match === null ? undefined : { role: "aux", metrics: { percent: Number(match[1]) * 100 } };
    },
  },
  {
    // llama.cpp's timings: `prompt eval time = 1234.50 ms /   500 tokens (    2.47 ms per token,   405.02 tokens per second)`
    key: "llama-server",
    trigger: " tokens per second)",
    read: ({ body }) => {
      const match =
        /^(?:.{0,80}[|:])? *(prompt eval|eval) time = *[\d.]+ ms \/ *\d+ (?:tokens|runs) *\( *[\d.]+ ms per token, *([\d.]+) tokens per second\)/.exec(
          body,
        );
      return match === null
        ? undefined
        : { metrics: { [match[1] === "eval" ? "gen_tok_s" : "prompt_tok_s"]: Number(match[2]) } };
    },
  },
  {
    // llama-quantize: `[  57/ 291]   blk.5.ffn_down.weight - [ 4096, 128256, 1, 1], type = f16, converting to q6_K ..`
    key: "llama-quantize",
    trigger: ", type =",
    read: ({ body }) => {
      const match = /^\[ *(\d+)\/ *(\d+)\] +[\w.]+ +- \[[\d, ]+\], type =/.exec(body);
      return match === null ? undefined : { done: Number(match[1]), total: Number(match[2]), unit: "tensor" };
    },
  },
  {
    // llama-perplexity and llama-imatrix, after the first pass: `perplexity: 24.43 seconds per pass - ETA 1 hours 6.68 minutes`
    key: "llama-perplexity",
    trigger: " seconds per pass - ETA ",
    read: ({ body }) => {
      const match = /^(?:\w{1,40}: )?[\d.]+ seconds per pass - ETA (?:([\d.]+) hours)? ?(?:([\d.]+) minutes)?\s*$/.exec(
        body,
      );
      if (match === null || (match[1] === undefined && match[2] === undefined)) return undefined;
      return { eta_s: Number(match[1] ?? 0) * 3600 + Number(match[2] ?? 0) * 60 };
    },
  },
];
