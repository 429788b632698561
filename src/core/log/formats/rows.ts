import { parseCount, parseDuration } from "../quantities";
import { present, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

/** Seconds of Ultralytics' bar: `11.1s`, `1:12`, `1:02:03`. */
const clock = String.raw`\d+(?:\.\d+)?s|\d+:\d\d(?::\d\d)?`;
const ultralytics = new RegExp(
  String.raw`^(?<label>\S.{0,200}?): (?<percent>\d{1,3})% [━─╸╺]{5,40} (?<done>[\d.]+[KMG]?)/(?<total>[\d.]+[KMG]?)(?<bytes>B)? (?:(?<rate>[\d.]+)(?<unit>(?:[KMG]?B|s/\w+|\w+)(?:/s)?) )?(?<elapsed>${clock})(?:<(?<left>${clock}))?\s*$`,
  "u",
);
/** Lines that rich wrapped begin under the message's column. */
const wrapped = /^ {10,40}(?=[\w/.-]+=)/;

/** Bars and rows that rich and its kin draw. */
export const rowFormats: readonly ProgressFormat[] = [
  {
    // Ultralytics 8.3.190+: `1/300  2.61G  1.153 …  640: 42% ━━━━━─────── 118/281 10.6it/s 11.1s<15.2s`
    key: "ultralytics",
    trigger: "% ━",
    needles: ["% ━━", "% ━╸", "% ━╺", "% ━─"],
    read: ({ body }) => readUltralytics(body),
  },
  {
    key: "ultralytics",
    trigger: "% ─",
    needles: ["% ──", "% ─━", "% ╸─", "% ╸━", "% ╺─", "% ╺━"],
    read: ({ body }) => readUltralytics(body),
  },
  {
    // tqdm.rich, which speculators uses: `Epoch 0  25% ━━━━━╸━━━━━━━━━ 30/120  [ 0:01:23 < 0:04:11 , 3 it/s ]`
    key: "tqdm",
    trigger: "/s ]",
    needles: ["it/s ]", " < 0:\\d", " < -:--:-- ,"],
    read: ({ body }) => readTqdmRich(body),
  },
  {
    // speculators 0.3+, through rich: `train/loss=2.345, train/full_acc_0=0.512,          logger.py:63`, wrapped at 80 columns
    key: "speculators",
    trigger: "/loss",
    needles: ["/loss=", "/loss_"],
    read: ({ body }, memory) => {
      const match = /^ {0,40}(?:INFO +)?((?:train|val)\/\w.{0,2000})$/.exec(body.trimEnd());
      const pairs = match === null ? undefined : pairsOf(match[1] ?? "");
      if (pairs === undefined) return undefined;
      memory.wrapping = true;
      return readRow(pairs);
    },
  },
  {
    key: "speculators",
    trigger: "          ",
    needles: [],
    always: true,
    read: ({ body }, memory) => {
      if (!memory.wrapping || !wrapped.test(body)) return undefined;
      const pairs = pairsOf(body.trim());
      return pairs === undefined ? undefined : readRow(pairs);
    },
  },
];

/** `name=value` parts up to the file that rich names at the right; undefined if there is anything else. */
function pairsOf(text: string): [string, string][] | undefined {
  const parts = text
    .replace(/ +\w+\.py:\d+$/, "")
    .replace(/, *$/, "")
    .split(", ");
  const pairs = parts.map((part): [string, string] => {
    const cut = part.indexOf("=");
    return [part.slice(0, cut).trim(), part.slice(cut + 1).trim()];
  });
  return pairs.every(([name, value]) => /^[\w/.-]+$/.test(name) && value !== "") ? pairs : undefined;
}

const stepName = /^(?:train\/)?(?:global_)?step$/;

function readRow(pairs: readonly [string, string][]): FormatReading {
  const step = pairs.find(([name]) => stepName.test(name))?.[1];
  return present({
    done: step === undefined ? undefined : parseCount(step),
    unit: step === undefined ? undefined : "step",
    role: pairs.some(([name]) => name.startsWith("val/")) ? "aux" : undefined,
    metrics: readMetrics(pairs.filter(([name]) => !stepName.test(name))),
  });
}

const tqdmRich = new RegExp(
  String.raw`^ *(?<label>\S.{0,200}?)??:? *(?<percent>\d{1,3})% [━╸╺ ]{3,300} *(?<done>[\d,.]+)/(?<total>[\d,.]+|\?) ?(?<scale>[KMGT]?) *\[ (?<elapsed>\d+:\d\d:\d\d) < (?<left>\d+:\d\d:\d\d|-:--:--) , (?:(?<rate>[\d,.]+)|\?) (?<unit>[^\s/]{1,20})/s \]\s*$`,
  "u",
);

function readTqdmRich(body: string): FormatReading | undefined {
  const groups = tqdmRich.exec(body)?.groups;
  if (groups === undefined) return undefined;
  const { label, done = "", total, scale = "", elapsed = "", left = "", rate, unit = "" } = groups;
  const count = (text: string): number | undefined => parseCount(text.replaceAll(",", "") + scale);
  const rateScale = /^[KMGT](?=\w)/.exec(unit)?.[0] ?? "";
  const name = unit.slice(rateScale.length);
  const speed = parseCount((rate ?? "?") + rateScale);
  return present({
    done: count(done),
    total: count(total ?? "?"),
    unit: name,
    rate: speed,
    rate_unit: speed === undefined ? undefined : `${name}/s`,
    elapsed_s: parseDuration(elapsed),
    eta_s: parseDuration(left),
    label,
  });
}

function readUltralytics(body: string): FormatReading | undefined {
  const groups = ultralytics.exec(body.trimStart())?.groups;
  if (groups === undefined) return undefined;
  const { label = "", done = "", total = "", bytes, elapsed, left } = groups;
  const speed = readSpeed(groups["rate"], groups["unit"] ?? "", bytes !== undefined);
  return present({
    done: parseCount(done, 1024),
    total: parseCount(total, 1024),
    ...speed,
    elapsed_s: secondsOf(elapsed),
    eta_s: secondsOf(left),
    label,
    role: speed.unit === "B" || label.startsWith("Class ") ? "aux" : undefined,
  });
}

/** `10.6it/s`, `1.2s/it`, `112.3MB/s`. */
function readSpeed(
  rate: string | undefined,
  printed: string,
  counted: boolean,
): { unit: string; rate?: number; rate_unit?: string } {
  const inverted = printed.startsWith("s/");
  const name = inverted ? printed.slice(2) : printed.replace(/\/s$/, "");
  const inBytes = counted || /^[KMG]?B$/.test(name);
  const unit = inBytes ? "B" : name || "it";
  const number = inBytes ? parseCount(`${rate ?? ""}${name}`, 1024) : Number(rate ?? Number.NaN);
  if (number === undefined || !Number.isFinite(number)) return { unit };
  return { unit, rate: inverted ? 1 / number : number, rate_unit: `${unit}/s` };
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text.endsWith("s")) return Number(text.slice(0, -1));
  return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}
