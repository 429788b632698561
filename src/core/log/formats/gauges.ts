import { parseDuration } from "../quantities";
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
        /^[| ]{0,4}(?:N\/A|\d+%)\s+(\d+)C\s+P\d+\s+([\d.]+|N\/A)W? \/\s+\S+\s*\|\s*(\d+)MiB \/\s*(\d+)MiB \|\s*(\d+)%\s/.exec(
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
    // gpustat: `[0] NVIDIA H200 | 63'C,  97 %,  412 / 700 W | 78123 / 81559 MB | user(78000M)`
    key: "gpustat",
    trigger: " MB |",
    needles: [" MB | "],
    read: ({ body }) => {
      const match =
        /^\[(\d+)\] [^|]{1,60}\| *(\d+)[°']C, *(\d+) %(?:, *(\d+) \/ *\d+ W)? \| *(\d+) \/ *(\d+) MB \|/u.exec(body);
      if (match === null) return undefined;
      const [, index = "", temperature = "", util = "", power = "", used = "", total = ""] = match;
      return present({
        label: `GPU ${index}`,
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
    // EAGLE 1 to 3, SpecForge: `Train Epoch [1/20], position 0,  Acc: 0.45`; the same words for train and test, seven lines
    // an epoch; EAGLE 1 and many loops: `Epoch [1/20], Loss: 2.3451`
    key: "eagle",
    trigger: "Epoch [",
    read: ({ body }) => {
      const match =
        /^(?:(Train|Test|Eval|Val) )?Epoch \[(\d+)\/(\d+)\](?:, position (\d+))?, +(Acc|pLoss|Loss): ([\d.]+|nan)\s*$/.exec(
          body,
        );
      if (match === null) return undefined;
      const [, part = "Train", done, total, position, what = "", value = ""] = match;
      const suffix = position === undefined || position === "0" ? "" : `_${position}`;
      const name = `${part === "Train" ? "" : "eval_"}${what.toLowerCase().replace("ploss", "loss")}${suffix}`;
      return present({
        done: Number(done),
        total: Number(total),
        unit: "epoch",
        role: part === "Train" ? undefined : "aux",
        metrics: readMetrics([[name, value]]),
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
