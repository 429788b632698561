import { present, stepReading, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

const milliseconds = (text: string): string => String(Number(text) / 1000);

/** nanoGPT and the trainers that came from it. */
export const nanoGptFormats: readonly ProgressFormat[] = [
  {
    // nanoGPT: `iter 10: loss 9.4512, time 1412.60ms, mfu 36.81%`; mfu is -100 % at first
    key: "nanogpt",
    trigger: "iter ",
    needles: [": loss "],
    read: ({ body }) => {
      const match = /^iter (\d+): loss ([\d.]+|nan), time ([\d.]+)ms(?:, mfu (-?[\d.]+)%)?\s*$/.exec(body);
      if (match === null) return undefined;
      const [, done, loss = "", time = "", mfu] = match;
      const pairs: [string, string][] = [
        ["loss", loss],
        ["step_time_s", milliseconds(time)],
      ];
      if (mfu !== undefined && Number(mfu) >= 0) pairs.push(["mfu", mfu]);
      return stepReading(done, { metrics: readMetrics(pairs) });
    },
  },
  {
    // nanoGPT's evaluation, which repeats the number
    key: "nanogpt",
    trigger: "step ",
    needles: [": train loss "],
    read: ({ body }) => {
      const match = /^step (\d+): train loss ([\d.]+|nan), val loss ([\d.]+|nan)\s*$/.exec(body);
      if (match === null) return undefined;
      return stepReading(match[1], {
        role: "aux",
        metrics: readMetrics([
          ["loss", match[2] ?? ""],
          ["eval_loss", match[3] ?? ""],
        ]),
      });
    },
  },
  {
    // modded-nanogpt: `step:125/1750 val_loss:4.5561 train_time:11412ms step_avg:91.30ms`
    key: "modded-nanogpt",
    trigger: "train_time:",
    read: ({ body }) => {
      const match = /^step:(\d+)\/(\d+) ((?:[a-z_]+:\S+ ?)+)$/.exec(body.trimEnd());
      return match === null
        ? undefined
        : stepReading(match[1], { total: Number(match[2]), ...readParts(match[3] ?? "") });
    },
  },
  {
    // llm.c: `step   12/19560 | loss 9.123456 (-1.02z)| norm 2.3412 (+0.10z)| lr 1.03e-05 | 312.45 ms | 58.1% bf16 MFU | 1678012 tok/s`;
    // build-nanogpt: `step    12 | loss: 9.123456 | lr 1.0390e-05 | norm: 2.3412 | dt: 312.45ms | tok/sec: 1678012.11`;
    // nanochat: `step 00120/21400 (0.56%) | loss: 6.123456 | lrm: 1.00 | dt: 512.31ms | tok/sec: 1,023,411 | mfu: 48.12 | …`
    key: "llm.c",
    trigger: " tok/s",
    needles: ["tok/sec: ", " tok/s"],
    read: ({ body }) => {
      const match = /^step +(\d+)(?:\/(\d+))?(?: \([\d.]+%\))? \|( .*)$/.exec(body.trimEnd());
      return match === null
        ? undefined
        : stepReading(match[1], {
            total: match[2] === undefined ? undefined : Number(match[2]),
            metrics: readColumns(match[3] ?? ""),
          });
    },
  },
];

/** `val_loss:4.5561 step_avg:91.30ms`; a line without a loss still counts. */
function readParts(text: string): FormatReading {
  const part = (name: string): string => new RegExp(`(?:^| )${name}:(\\S+?)(?:ms)?(?= |$)`).exec(text)?.[1] ?? "";
  return present({
    metrics: readMetrics([
      ["loss", part("train_loss")],
      ["eval_loss", part("val_loss")],
      ["step_time_s", milliseconds(part("step_avg") || "-")],
    ]),
  });
}

function readColumns(text: string): ReturnType<typeof readMetrics> {
  const field = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? "";
  const time = field(/\| (?:dt: )?([\d.]+) ?ms\b/);
  return readMetrics([
    ["loss", field(/ loss:? ([\d.]+|nan)/)],
    ["grad_norm", field(/ norm:? ([\d.]+|nan)/)],
    ["lr", field(/ lr:? ([\d.e+-]+)/)],
    ["step_time_s", time === "" ? "" : milliseconds(time)],
    ["mfu", field(/ mfu: ([\d.]+)/) || field(/ ([\d.]+)% \w+ MFU/)],
    ["tokens_per_s", field(/ tok\/sec: ([\d,.]+)/) || field(/ ([\d,.]+) tok\/s$/)],
  ]);
}
