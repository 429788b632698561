import { parseDuration, parseMetric } from "../quantities";
import { present, type FormatMemory, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

const gpuColumnNames: Readonly<Record<string, string>> = {
  "utilization.gpu": "gpu_util_pct",
  "memory.used": "gpu_mem_mib",
  "memory.total": "gpu_mem_total_mib",
  "temperature.gpu": "gpu_temp_c",
  "power.draw": "gpu_power_w",
};

/** Everything else: GPUs in a log, single tools with a form of their own. */
export const gaugeFormats: readonly ProgressFormat[] = [
  {
    // nvidia-smi --query-gpu … --format=csv: the header names the columns, each cell repeats its unit
    key: "nvidia-smi",
    trigger: ", ",
    needles: Object.keys(gpuColumnNames),
    always: true,
    read: ({ body }, memory) => readGpuRow(body, memory),
  },
  {
    // the table of nvidia-smi: `| N/A   63C    P0   412W /  700W |   78123MiB /  81559MiB |     97%      Default |`
    key: "nvidia-smi",
    trigger: "MiB / ",
    read: ({ body }) => {
      const match =
        /^\|\s*(?:N\/A|\d+%)\s+(\d+)C\s+P\d+\s+([\d.]+|N\/A)W? \/\s+\S+\s*\|\s*(\d+)MiB \/\s*(\d+)MiB \|\s*(\d+)%\s/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, temperature = "", power = "", used = "", total = "", util = ""] = match;
      return present({
        metrics: readMetrics([
          ["gpu_util_pct", util],
          ["gpu_mem_mib", used],
          ["gpu_mem_total_mib", total],
          ["gpu_temp_c", temperature],
          ["gpu_power_w", power],
        ]),
      });
    },
  },
  {
    // nvidia-smi dmon: the header `# gpu    pwr  gtemp …` names the columns, which vary
    key: "nvidia-dmon",
    trigger: "  ",
    needles: ["# gpu "],
    always: true,
    read: ({ body }, memory) => readDmonRow(body, memory),
  },
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
    // speculators 0.2+, its summary
    key: "speculators",
    trigger: "Timing: ",
    needles: ["s elapsed, "],
    read: ({ body }) => {
      const match = /^Timing: ([\d.]+)s elapsed, ([\d.]+) samples\/s/.exec(body);
      return match === null
        ? undefined
        : { elapsed_s: Number(match[1]), rate: Number(match[2]), rate_unit: "sample/s" };
    },
  },
  {
    // SpecForge 0.1+, its summary
    key: "specforge",
    trigger: "Generation loop finished. ",
    read: ({ body }) => {
      const match = /^Generation loop finished\. Processed: (\d+), Skipped: (\d+)/.exec(body);
      return match === null
        ? undefined
        : { done: Number(match[1]), unit: "sample", metrics: { skipped: Number(match[2]) } };
    },
  },
  {
    // EAGLE 1 to 3: `Train Epoch [1/20], position 0,  Acc: 0.45`; the same words for train and test, seven lines an epoch
    key: "eagle",
    trigger: "Epoch [",
    read: ({ body }) => {
      const match =
        /^(Train|Test) Epoch \[(\d+)\/(\d+)\](?:, position (\d+))?, +(Acc|pLoss|Loss): ([\d.]+|nan)\s*$/.exec(body);
      if (match === null) return undefined;
      const [, part, done, total, position, what = "", value = ""] = match;
      const suffix = position === undefined || position === "0" ? "" : `_${position}`;
      const name = `${part === "Test" ? "eval_" : ""}${what.toLowerCase().replace("ploss", "loss")}${suffix}`;
      return present({
        done: Number(done),
        total: Number(total),
        unit: "epoch",
        role: part === "Test" ? "aux" : undefined,
        metrics: readMetrics([[name, value]]),
      });
    },
  },
  {
    // Keras: `Epoch 1/10`, the outer counter
    key: "keras",
    trigger: "Epoch ",
    read: ({ body }) => {
      const match = /^Epoch (\d+)\/(\d+)\s*$/.exec(body);
      return match === null ? undefined : { done: Number(match[1]), total: Number(match[2]), unit: "epoch" };
    },
  },
  {
    // Keras 3: ` 400/1500 ━━━━━ 1:23 75ms/step - accuracy: 0.5521 - loss: 1.2711`; on the last row the time is elapsed
    key: "keras",
    trigger: "/step",
    needles: ["s/step"],
    read: ({ body }) => readKeras(body),
  },
  {
    // Keras with verbose=2, a line an epoch: `1500/1500 - 112s - 74ms/step - accuracy: 0.6120 - loss: 1.0712`
    key: "keras",
    trigger: "s - ",
    needles: ["s/step", "s - loss: ", " - loss: "],
    read: ({ body }) => {
      const match = /^(\d+)\/(\d+) - (\d+)s - (.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "step",
        elapsed_s: Number(match[3]),
        metrics: readMetrics(dashPairs(match[4] ?? "")),
      });
    },
  },
  {
    // Keras 2, the last state: `60000/60000 [==============================] - 15s 250us/step - loss: 0.1021`
    key: "keras",
    trigger: "=] - ",
    needles: ["=====] - "],
    read: ({ body }) => {
      const match = /^ *(\d+)\/(\d+) \[={10,80}\] - (\S+)(?: \d+[mu]?s\/(?:step|sample))?( - .*)?$/.exec(
        body.trimEnd(),
      );
      if (match === null) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "step",
        elapsed_s: parseDuration(match[3] ?? ""),
        metrics: readMetrics(dashPairs(match[4] ?? "")),
      });
    },
  },
  {
    // Keras 2: ` 7680/60000 [==>...........................] - ETA: 12s - loss: 1.0211 - acc: 0.6893`
    key: "keras",
    trigger: " - ETA: ",
    read: ({ body }) => {
      const match = /^ *(\d+)\/(\d+) \[[=>.]{10,80}\] - ETA: (\S+)(.*)$/.exec(body.trimEnd());
      if (match === null) return undefined;
      return present({
        done: Number(match[1]),
        total: Number(match[2]),
        unit: "step",
        eta_s: parseDuration(match[3] ?? ""),
        metrics: readMetrics(dashPairs(match[4] ?? "")),
      });
    },
  },
  {
    // GNU parallel --eta: `ETA: 310s Left: 62 AVG: 5.00s  local:4/138/100%/5.0s`
    key: "parallel",
    trigger: " AVG: ",
    read: ({ body }) => {
      const match = /^ETA: (\d+)s Left: (\d+) AVG: [\d.]+s\b/.exec(body);
      return match === null ? undefined : { unit: "job", eta_s: Number(match[1]), metrics: { left: Number(match[2]) } };
    },
  },
  {
    // GNU parallel --bar: `69% 138:62=5m10s /data/in/chunk-139.jsonl`: done:left=ETA; the total is not printed
    key: "parallel",
    trigger: "=",
    needles: [],
    always: true,
    read: ({ body }) => {
      const match = /^ *(\d{1,3})% (\d+):(\d+)=((?:\d+[dhms])+) /.exec(body);
      if (match === null) return undefined;
      const [, percent, done, left, eta = ""] = match;
      return present({
        done: Number(done),
        unit: "job",
        eta_s: parseDuration(eta),
        metrics: { percent: Number(percent), left: Number(left) },
      });
    },
  },
];

/** Cells with their units, or without; the header is remembered. */
function readGpuRow(body: string, memory: FormatMemory): FormatReading | undefined {
  if (!/^[\w./: -]{1,40}(?: \[[%\w]+\])?, /.test(body)) return undefined;
  const cells = body.trim().split(", ");
  if (cells.length < 2 || cells.length > 60) return undefined;
  const named = cells.map((cell) => cell.replace(/ \[[^\]]+\]$/, ""));
  if (named.some((name) => Object.hasOwn(gpuColumnNames, name))) {
    memory.gpuColumns = named;
    return undefined;
  }
  if (memory.gpuColumns.length !== cells.length) return undefined;
  const index = cells[memory.gpuColumns.indexOf("index")];
  const pairs = memory.gpuColumns.flatMap((column, at): [string, string][] => {
    const name = gpuColumnNames[column];
    return name === undefined ? [] : [[name, (cells[at] ?? "").replace(/ (?:%|MiB|W)$/, "")]];
  });
  const metrics = readMetrics(pairs);
  return metrics === undefined
    ? undefined
    : present({ metrics, label: index === undefined ? undefined : `GPU ${index}` });
}

const dmonNames: Readonly<Record<string, string>> = {
  pwr: "gpu_power_w",
  gtemp: "gpu_temp_c",
  sm: "gpu_util_pct",
  fb: "gpu_mem_mib",
};

function readDmonRow(body: string, memory: FormatMemory): FormatReading | undefined {
  const header = /^# gpu +([a-z][\w %]*)$/.exec(body.trimEnd());
  if (header !== null) {
    memory.dmonColumns = ["gpu", ...(header[1] ?? "").trim().split(/ +/)];
    return undefined;
  }
  if (memory.dmonColumns.length < 2 || !/^ +\d+ [\d -]+$/.test(body)) return undefined;
  const cells = body.trim().split(/ +/);
  if (cells.length !== memory.dmonColumns.length) return undefined;
  const pairs = memory.dmonColumns.flatMap((column, at): [string, string][] => {
    const name = dmonNames[column];
    return name === undefined ? [] : [[name, cells[at] ?? ""]];
  });
  const metrics = readMetrics(pairs);
  return metrics === undefined ? undefined : { metrics, label: `GPU ${cells[0] ?? ""}` };
}

function readKeras(body: string): FormatReading | undefined {
  const match = /^ *(\d+)\/(?:(\d+) [━ ]{5,80}|Unknown) ?(\d[\d:]*s?) (\d+)(s|ms|us)\/step(.*)$/u.exec(body.trimEnd());
  if (match === null) return undefined;
  const [, done, total, time = "", per = "", unit = "", rest = ""] = match;
  const duration = parseDuration(time);
  const stepTime = Number(per) / (unit === "ms" ? 1e3 : unit === "us" ? 1e6 : 1);
  return present({
    done: Number(done),
    total: total === undefined ? undefined : Number(total),
    unit: "step",
    ...(done === total || total === undefined ? { elapsed_s: duration } : { eta_s: duration }),
    metrics: { ...readMetrics(dashPairs(rest)), step_time_s: stepTime },
  });
}

/** ` - accuracy: 0.5521 - loss: 1.2711` */
function dashPairs(text: string): [string, string][] {
  return text.split(" - ").flatMap((part): [string, string][] => {
    const cut = part.indexOf(": ");
    const value = part.slice(cut + 2);
    return cut > 0 && parseMetric(value) !== undefined ? [[part.slice(0, cut).trim(), value]] : [];
  });
}
