import { parseCount, parseDuration } from "../quantities";
import { present, stepReading, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

/** Trainers of vision models: an iteration of an epoch in brackets, then named values. */
export const visionFormats: readonly ProgressFormat[] = [
  {
    // MMEngine: `Epoch(train)  [1][ 10/240]  lr: 2.5000e-04  eta: 0:15:42  time: 0.3911  … loss: 5.9023`
    key: "mmengine",
    trigger: "eta: ",
    needles: [
      "Epoch(train)",
      "Iter(train)",
      "Epoch(val)",
      "Epoch(test)",
      "Iter(val)",
      "Iter(test)",
      "Epoch [",
      "Iter [",
    ],
    read: ({ body }) => readMmengine(body),
  },
  {
    // Swin and its kin: `Train: [0/300][50/1251]	eta 0:12:15 lr 0.000001	 wd 0.0500	time 0.5121 (0.6121)	loss 6.9512 (6.9602)	…`
    key: "timm",
    trigger: "]\teta ",
    read: ({ body }) => {
      const match = /^(?:Train|Test|Epoch): \[\d+\/\d+\]\[ *(\d+)\/(\d+)\]\teta (\S+(?: days?, \S+)?)[ \t](.*)$/.exec(
        body.trimEnd(),
      );
      if (match === null) return undefined;
      const [, done, total, eta = "", rest = ""] = match;
      const pairs = [...rest.matchAll(/(?:^|[ \t])([a-z_]{2,20}) ([\d.]+(?:e[+-]\d+)?|nan)(?=\s|$)/g)];
      return present({
        done: Number(done),
        total: Number(total),
        unit: "it",
        eta_s: parseDuration(eta),
        metrics: readMetrics(pairs.map(([, name = "", value = ""]) => [name === "time" ? "step_time_s" : name, value])),
      });
    },
  },
  {
    // timm: `Train: 0 [  50/1251 (  4%)]  Loss:  6.951211 (6.9602)  Time: 0.512s,  500.00/s  (…)  LR: 1.000e-05`
    key: "timm",
    trigger: "Train: ",
    read: ({ body }) => {
      const match =
        /^Train: \d+ \[ *(\d+)\/(\d+) \( *\d+%\)\] +Loss: *([\d.]+|nan) \([^)]{1,20}\) +Time: ([\d.]+)s, +([\d.]+)\/s.{0,80}?LR: ([\d.e+-]+)/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, done, total, loss = "", time = "", rate = "", lr = ""] = match;
      return present({
        done: Number(done),
        total: Number(total),
        unit: "it",
        rate: Number(rate),
        rate_unit: "sample/s",
        metrics: readMetrics([
          ["loss", loss],
          ["step_time_s", time],
          ["samples_per_s", rate],
          ["lr", lr],
        ]),
      });
    },
  },
  {
    // timm's validation: `Test: [  10/48]  Time: 0.312 (0.412)  Loss:  1.0211 (1.1)  Acc@1:  75.120 ( 74.1)`
    key: "timm",
    trigger: "Test: [",
    read: ({ body }) => {
      const match = /^Test: \[ *(\d+)\/(\d+)\]\s+Time:? .{1,60}?Loss:? +([\d.]+|nan) /.exec(body);
      if (match === null) return undefined;
      const metrics = readMetrics([["eval_loss", match[3] ?? ""]]);
      return present({ done: Number(match[1]), total: Number(match[2]), unit: "it", role: "aux", metrics });
    },
  },
  {
    // Detectron2: `eta: 5:12:01  iter: 1019  total_loss: 1.02  …  lr: 0.0199  max_mem: 4120M`; the total is in its configuration
    key: "detectron2",
    trigger: "  total_loss: ",
    read: ({ body }) => {
      const match = /^(?:\[[^\]]{1,60}\]:)? *eta: (\S+(?: days?, \S+)?) +iter: (\d+) +(.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      const [, eta = "", done, rest = ""] = match;
      return present({
        done: Number(done),
        unit: "it",
        eta_s: parseDuration(eta),
        metrics: readMetrics(colonPairs(rest, { time: "step_time_s", total_loss: "loss" })),
      });
    },
  },
  {
    // torchvision's MetricLogger, DINO, MAE: `Epoch: [0]  [ 10/240]  eta: 0:02:11  lr: 0.0002  loss: 1.2 (1.4)  time: 0.31  data: 0.01  max mem: 5120`
    key: "metric-logger",
    trigger: "eta: ",
    needles: ["] eta: ", "]  eta: ", "]   eta: "],
    read: ({ body }) => {
      const match =
        /^\w[\w ]{0,30}(?:: {1,3}| {2})(?:\[\d+(?:\/\d+)?\] +)?\[ *(\d+)\/(\d+)\] +eta: (\S+(?: days?, \S+)?) +(.*)$/.exec(
          body.trimEnd(),
        );
      if (match === null) return undefined;
      const [, done, total, eta = "", rest = ""] = match;
      return present({
        done: Number(done),
        total: Number(total),
        unit: "it",
        eta_s: parseDuration(eta),
        role: /^(?:Test|Val|Eval)/i.test(body) ? "aux" : undefined,
        metrics: readMetrics(colonPairs(rest, { time: "step_time_s" })),
      });
    },
  },
];

const lossOf = /\b[Ll]oss[ :=]+(nan|-?\d[\d.]*(?:e[+-]?\d+)?)/;

/** Loops written by hand, and PyTorch's examples. Without a loss beside it a bare `a/b` is no progress. */
export const loopFormats: readonly ProgressFormat[] = [
  {
    // `step 118300/120000 | loss 1.602 | 1.91 it/s`
    key: "loop",
    trigger: "oss",
    // A loss is a word by itself.
    needles: [" ", ",", "|", "[", "(", ":", "-"].flatMap((before) =>
      ["loss", "Loss"].flatMap((word) => [" ", ":", "="].map((after) => `${before}${word}${after}`)),
    ),
    read: ({ body }) => {
      const match =
        /^(?:\[?[Ee]poch[ :]{0,2}\[?\d+(?: ?\/ ?\d+)?\]?[ ,|:-]{1,3})?\[?(?:[Gg]lobal[ _])?(?:[Ss]tep|[Ii]ter(?:ation)?|[Bb]atch)[ :=]{1,2}\[?(\d+) ?\/ ?(\d+)\]?[ ,|:-]/.exec(
          body,
        );
      const loss = match === null ? undefined : lossOf.exec(body)?.[1];
      if (match === null || loss === undefined) return undefined;
      const rate = /(?:^|[ |,])([\d.]+) ?(it|steps?)\/s(?:ec)?\b/.exec(body)?.[1];
      const perSecond = rate === undefined ? undefined : parseCount(rate);
      return stepReading(match[1], {
        total: Number(match[2]),
        rate: perSecond,
        rate_unit: perSecond === undefined ? undefined : "it/s",
        metrics: readMetrics([["loss", loss]]),
      });
    },
  },
  {
    // epochs alone: `Epoch 2/10, Loss: 1.25`, `Epoch [2/10] train_loss=1.25 val_loss=1.31`
    key: "loop",
    trigger: "poch",
    needles: ["Epoch ", "epoch ", "Epoch: ", "epoch: "].flatMap((word) => ["\\d", "[\\d"].map((after) => word + after)),
    read: ({ body }) => {
      const match = /^\[?[Ee]poch[ :=]{1,2}\[?(\d+) ?\/ ?(\d+)\]?(?:[ ,|:;-]{1,4})(?=\S)(.*)$/.exec(body.trimEnd());
      const rest = match?.[3] ?? "";
      const loss = lossOf.exec(rest)?.[1];
      if (match === null || loss === undefined || /\d ?\/ ?\d/.test(rest)) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "epoch",
        metrics: readMetrics([["loss", loss]]),
      });
    },
  },
  {
    // PyTorch's MNIST example: `Train Epoch: 1 [12800/60000 (21%)]	Loss: 0.384`
    key: "pytorch-example",
    trigger: "Train Epoch: ",
    read: ({ body }) => {
      const match = /^Train Epoch: \d+ \[ *(\d+)\/(\d+) \(\d+%\)\]\s+Loss: (\S+)/.exec(body);
      if (match === null) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "sample",
        metrics: readMetrics([["loss", match[3] ?? ""]]),
      });
    },
  },
  {
    // PyTorch's ImageNet example: `Epoch: [0][ 447/1736]	Time  0.2 ( 0.3)	Loss 0.5504 (0.61)	Acc@1 …`
    key: "pytorch-example",
    trigger: "Epoch: [",
    read: ({ body }) => {
      const match = /^Epoch: \[\d+\]\[ *(\d+)\/(\d+)\]\s/.exec(body);
      const loss = match === null ? undefined : lossOf.exec(body)?.[1];
      if (match === null || loss === undefined) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "it",
        metrics: readMetrics([["loss", loss]]),
      });
    },
  },
];

function readMmengine(body: string): FormatReading | undefined {
  const match =
    /^(?:Epoch(?:\((?:train|val|test)\))? +(?:\[\d+\])?|Iter(?:\((?:train|val|test)\))? +)\[ *(\d+)\/(\d+)\]\s+(.*)$/.exec(
      body.trimEnd(),
    );
  if (match === null) return undefined;
  const [, done, total, rest = ""] = match;
  const eta = /(?:^| )eta: ([^\s,]+(?: days?, [^\s,]+)?)/.exec(rest)?.[1];
  return present({
    done: Number(done),
    total: Number(total),
    unit: "it",
    eta_s: eta === undefined ? undefined : parseDuration(eta),
    role: /^\w+\((?:val|test)\)/.test(body) ? "aux" : undefined,
    metrics: readMetrics(colonPairs(rest, { time: "step_time_s" }).filter(([name]) => name !== "eta")),
  });
}

/** `lr: 2.5e-04  time: 0.39  loss: 5.9 (6.1)`: names and first values. */
function colonPairs(text: string, names: Readonly<Record<string, string>>): (readonly [string, string])[] {
  return [...text.matchAll(/(?:^| )([A-Za-z_][\w/]{0,40}): ([^\s(,]{1,40})/g)].map(
    (match): readonly [string, string] => {
      const name = match[1] ?? "";
      return [names[name] ?? name, match[2] ?? ""];
    },
  );
}
