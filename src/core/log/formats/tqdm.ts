import { parseCount, parseDuration } from "../quantities";
import { present, type FormatMemory, type FormatReading, type ProgressFormat } from "./format";
import { readMetrics } from "./metricNames";

/**
 * tqdm 4.x: `desc: PPP%|bar| n/N [E<R, RATE, postfix]`, drawn with `\r` first. Seen too: no bar (`ncols=0`), no total
 * (`8190it [01:40, 81.90it/s]`), vLLM's `NN% Completed | a/b [..]`, a bar of another process glued behind the `]`.
 * The percent is rounded, so counts come from n/N. Scaled counts have three digits; k, M, G mean 1000, in `iB` 1024.
 */
const meter = new RegExp(
  [
    String.raw`(?<done>\d[\d.]{0,20}[kKMGTP]?)`,
    String.raw`(?:\/(?<total>\d[\d.]{0,20}[kKMGTP]?|\?))?`,
    String.raw`(?<glued> ?[A-Za-z][\w ]{0,15})? `,
    String.raw`\[(?<elapsed>(?:\d{1,5} days?, )?\d{1,6}:\d\d(?::\d\d)?)`,
    String.raw`(?:<(?<left>(?:\d{1,5} days?, )?\d{1,6}:\d\d(?::\d\d)?|\?))?,`,
    String.raw` {1,9}(?<rate>\?|\d[\d.]{0,20}(?:e[+-]?\d{1,3})?)(?<scale>[kKMGTP]?)(?<unit> ?[^\s,\]\d/][^\s,\]/]{0,19})\/(?<per> ?[^\s,\]]{1,20})`,
    String.raw`(?:, (?<postfix>(?:[^[\]]|\[[^[\]]{0,200}\]){0,2000}))?\]`,
  ].join(""),
);

const barStart = /(?:(?:\d{1,3}%(?:\|[^|]{0,400}\|| Completed \|)?|\|[^|]{0,400}\|) {1,3})?$/u;
/** Who speaks in a transcript: the bar is quoted. */
const speaker =
  /^(?:[->*#] |(?:user|assistant|human|system|prompt|response|answer|output|text|content|completion|question|bot|model|example)$)/i;

/** Set-up, validation and clean-up: never the job's own work. */
const auxiliary = new RegExp(
  [
    "^(?:Loading|Adding requests|Capturing|Sanity Check|Valid(?:at(?:e|ion|ing))?\\b|Evaluat(?:ing|ion)\\b|\\[?(?:Eval|Val)\\b|Finaliz",
    "Saving (?:checkpoint|model|weights|optimizer)|Writing (?:model|checkpoint) shards|Uploading checkpoint",
    "(?:\\w{1,20} )?Warm(?:ing)?[ -]?up|Multi-thread loading|Class {2,9}Images|Compiling|Profiling(?! iterations)|Initializing",
    "Autotun|Prefetching|Materializing|Resolving data files|Calculating loss|Bootstrapping for stddev",
    "Rendering prompts|Running tokenizer|Rendering conversations|Pre-?processing prompts|Tokenizing Prompts",
    // TRL and Axolotl get their data ready.
    "(?:Tokenizing|Truncating|Packing|Converting|Applying chat template to|Adding EOS to|Extracting prompt (?:in|from)) .{0,20}dataset",
    "Drop(?:ping)? (?:Long |Short |Samples? )|Add position_id)",
    // Composer: `Epoch 1 (val)`.
    "[[(](?:val|valid|validation|eval)[\\])]$",
  ].join("|"),
  "i",
);
const fileName = /-\d{5}-of-\d{5}|(?:^|[^\s.])\.[A-Za-z]\w{0,15}(?:\(…\))?$|^\.\w+$|^(?:LICENSE|NOTICE|USE_POLICY)\b/;

export const tqdmFormats: readonly ProgressFormat[] = [
  {
    key: "tqdm",
    trigger: " [",
    marks: ["meter"],
    read: ({ body }, memory) => readBar(body, memory),
  },
];

function readBar(body: string, memory: FormatMemory): FormatReading | undefined {
  if (!body.includes(" [")) return undefined;
  const match = meter.exec(body);
  if (match?.groups === undefined) return undefined;
  const label = labelOf(body.slice(0, match.index));
  const rest = body.slice(match.index + match[0].length);
  if (label === undefined || /^["'`]/.test(rest)) return undefined;
  const counted = readCounts(match.groups);
  if (counted === undefined) return undefined;
  if (label.startsWith("Fetching ")) memory.fetching = true;
  return present({
    ...counted,
    ...readPostfix(match.groups["postfix"] ?? ""),
    label: label === "" ? undefined : label,
    role: isAuxiliary(label, counted, memory) ? "aux" : undefined,
    rest: rest.trim() === "" ? undefined : rest,
  });
}

/** The description, or undefined when the meter is quoted by a sentence, a JSON string or a chat. */
export function labelOf(before: string): string | undefined {
  const match = barStart.exec(before);
  const description = before.slice(0, match?.index ?? before.length);
  if (description.length > 300 || /["`{}\\]/.test(description)) return undefined;
  const trimmed = description.trim();
  if (trimmed === "") return "";
  const label = trimmed.endsWith(":") ? trimmed.replace(/[: ]{1,9}$/, "") : undefined;
  return label === undefined || speaker.test(label) ? undefined : label;
}

/** Whether a bar is only set-up, validation, or a detail of another one; remembers what later bars are judged by. */
export function isAuxiliary(
  label: string,
  { done, total, unit }: { readonly done?: number; readonly total?: number; readonly unit?: string },
  memory: FormatMemory,
): boolean {
  if (label !== "") return auxiliary.test(label) || (memory.fetching && unit === "B" && fileName.test(label));
  memory.bar = total === undefined || total === done ? 0 : total;
  return memory.evaluating || isEvaluation(done, total, memory);
}

/** A bar beside the one of the trainer's steps; once these are done, a longer one is of another program. */
function isEvaluation(done: number | undefined, total: number | undefined, memory: FormatMemory): boolean {
  const { steps } = memory;
  if (steps === 0 || total === undefined) return false;
  if (total === steps) {
    memory.stepping = true;
    memory.stepped = done === total;
    return false;
  }
  if (!memory.stepped || total < steps) return true;
  memory.steps = 0;
  return false;
}

type Groups = Readonly<Record<string, string | undefined>>;

function readCounts(groups: Groups): FormatReading | undefined {
  const { done = "", total, left, elapsed = "", unit: unitText = "", per: perText = "" } = groups;
  const time = unitText.trim();
  const per = perText.trim();
  const inverted = /^[mu]?s$/.test(time);
  if (!inverted && per !== "s") return undefined;
  const printed = inverted ? per : time;
  const base = printed.endsWith("iB") ? 1024 : 1000;
  const unit = unitName(printed);
  const rate = readRate(groups, inverted ? time : "", base);
  return present({
    done: parseCount(done, base),
    total: known(total, (text) => parseCount(text, base)),
    unit,
    rate,
    rate_unit: rate === undefined ? undefined : `${unit}/s`,
    elapsed_s: parseDuration(elapsed),
    eta_s: known(left, parseDuration),
  });
}

/** Reads what is printed; `?` is not known yet. */
function known(text: string | undefined, read: (text: string) => number | undefined): number | undefined {
  return text === undefined || text === "?" ? undefined : read(text);
}

/** The rate in units a second; `time` is set when it is printed as time for a unit. */
function readRate({ rate, scale = "" }: Groups, time: string, base: number): number | undefined {
  const number = known(rate, (text) => parseCount(`${text}${scale}`, base));
  return number === undefined || time === "" ? number : invert(number, time);
}

function invert(value: number, unit: string): number | undefined {
  const seconds = unit === "ms" ? value / 1e3 : unit === "us" ? value / 1e6 : value;
  return seconds > 0 ? 1 / seconds : undefined;
}

function unitName(printed: string): string {
  if (/^(?:iB|[Bb]ytes?)$/.test(printed)) return "B";
  if (/^(?:example|sample)s?$/.test(printed)) return "sample";
  return /(?:[sc]h|x|ss)es$/.test(printed) ? printed.slice(0, -2) : printed.replace(/(?<=[a-z]{3})s$/, "");
}

/** `loss=3.4, bs=4/8, err=3`; vLLM: `est. speed input: 2719.50 toks/s, output: 2701.24 toks/s`. */
function readPostfix(postfix: string): FormatReading {
  if (postfix === "") return {};
  const speeds = /est\. speed input: ([\d.]+) toks\/s, output: ([\d.]+) toks\/s/.exec(postfix);
  if (speeds !== null) return { metrics: { prompt_tok_s: Number(speeds[1]), gen_tok_s: Number(speeds[2]) } };
  const pairs = postfix.split(", ").flatMap((part): (readonly [string, string])[] => {
    const cut = part.indexOf("=");
    return cut > 0 ? [[part.slice(0, cut), part.slice(cut + 1)]] : [];
  });
  const errors = pairs.find(([name]) => /^(?:err|errors|failed)$/.test(name))?.[1];
  return present({
    metrics: readMetrics(pairs.filter(([name]) => !/^(?:v_num|err|errors|failed)$/.test(name))),
    errors: errors !== undefined && /^\d+$/.test(errors) ? Number(errors) : undefined,
  });
}
