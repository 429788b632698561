import type { AskedRules } from "./failures/finder";
import { exceptionRules, lineRules } from "./failures/rules";
import { attemptNeedles, tracebackNeedles } from "./failures/tracebacks";
import { requestNeedle, trendNeedles } from "./failures/trends";
import { progressFormats } from "./formats/all";
import type { ProgressFormat } from "./formats/format";
import type { Lane } from "./lanes/lane";
import { seedLane } from "./lanes/seedLane";
import { tqdmLane } from "./lanes/tqdmLane";
import { trainerLane } from "./lanes/trainerLane";
import { vllmLane } from "./lanes/vllmLane";
import { canBeNeedle, NeedleIndex } from "./needles";
import type { SoughtNeedles } from "./scanner";

/** Bits that say who wants a needle. */
export const kinds = { progress: 1, failure: 2, request: 4 } as const;

/** Lines before which lm-evaluation-harness prepares its requests under bars without a label. */
export const evaluatorNeedles: readonly string[] = [
  "[evaluator:",
  "[evaluator.py:",
  "[lm_eval.",
  "] Building contexts for ",
];

/** The quick ways, by the key of their format; the number of a lane is its place here, from 1. */
const lanes: readonly { readonly key: string; readonly read: Lane }[] = [
  { key: "seed", read: seedLane },
  { key: "vllm-stats", read: vllmLane },
  { key: "tqdm", read: tqdmLane },
  { key: "hf-trainer", read: trainerLane },
];

/** Who is asked about a line, in the order of the tables. */
export interface Asked extends AskedRules {
  readonly formats: readonly ProgressFormat[];
}

/** Everybody: for tests, and for lines in which a session file's own patterns are looked for. */
export const everybody: Asked = { formats: progressFormats, rules: lineRules, bareException: true };

interface Wanted {
  kinds: number;
  lane: number;
  readonly formats: Set<number>;
  readonly rules: Set<number>;
  bareException: boolean;
}

/** Collects who wants which needle. */
class Wants {
  readonly texts = new Map<string, Wanted>();
  readonly marks = { meter: nobody(), share: nobody(), tag: nobody() };

  /** False when one of its needles cannot be one. */
  format(format: ProgressFormat, at: number): boolean {
    const { marks = [] } = format;
    const lane = 1 + lanes.findIndex(({ key }) => key === format.key);
    const needles = format.needles ?? (marks.length === 0 ? [format.trigger] : []);
    const fit = needles.filter(canBeNeedle);
    for (const wanted of [...fit.map((text) => this.#want(text)), ...marks.map((mark) => this.marks[mark])]) {
      wanted.lane = wanted.formats.size === 0 || wanted.lane === lane ? lane : 0;
      wanted.formats.add(at);
      wanted.kinds |= kinds.progress;
    }
    return fit.length === needles.length;
  }

  /** Who is interested in failures needs more than a lane can tell. */
  failure(needles: readonly string[], kind: number = kinds.failure): Wanted[] {
    return needles.filter(canBeNeedle).map((text) => {
      const wanted = this.#want(text);
      wanted.kinds |= kind;
      wanted.lane = 0;
      return wanted;
    });
  }

  #want(text: string): Wanted {
    const known = this.texts.get(text) ?? nobody();
    this.texts.set(text, known);
    return known;
  }
}

/** What is looked for in a log on behalf of all formats and rules, and whom to ask when it is found. */
export class Questions {
  readonly sought: SoughtNeedles;
  readonly #wanted: readonly Wanted[];
  /** Asked about whatever is looked at; so is what has a needle that cannot be one, a mistake that a test finds. */
  readonly #always = new Set(progressFormats.flatMap((format, at) => (format.always === true ? [at] : [])));
  readonly #alwaysRules = new Set<number>();
  readonly #single = new Map<number, Asked>();

  constructor() {
    const wants = new Wants();
    for (const [at, format] of progressFormats.entries()) if (!wants.format(format, at)) this.#always.add(at);
    for (const [at, rule] of lineRules.entries()) {
      if (!rule.needles.every(canBeNeedle)) this.#alwaysRules.add(at);
      for (const wanted of wants.failure(rule.needles)) wanted.rules.add(at);
    }
    for (const rule of exceptionRules) {
      if (rule.weight < 2) continue;
      for (const wanted of wants.failure(rule.needles)) wanted.bareException = true;
    }
    wants.failure([...tracebackNeedles, ...attemptNeedles, ...trendNeedles, ...evaluatorNeedles]);
    wants.failure([requestNeedle], kinds.request);
    const { texts, marks } = wants;
    this.#wanted = [...texts.values(), marks.meter, marks.share, marks.tag];
    // In the order of `NeedleIndex`.
    const all = Uint8Array.from(this.#wanted, (wanted) => wanted.kinds);
    this.sought = {
      index: new NeedleIndex([...texts.keys()], all),
      kinds: all,
      lanes: Uint8Array.from(this.#wanted, (wanted) => wanted.lane),
    };
  }

  /** Whom to ask about a line with these needles: the first `count` of `seen`. */
  asked(seen: Int16Array, count: number): Asked {
    const first = seen[0] ?? -1;
    if (count > 1) return this.#join([...seen.subarray(0, count)]);
    const known = this.#single.get(count === 0 ? -1 : first) ?? this.#join([...seen.subarray(0, count)]);
    this.#single.set(count === 0 ? -1 : first, known);
    return known;
  }

  #join(seen: readonly number[]): Asked {
    const wanted = seen.flatMap((needle) => this.#wanted[needle] ?? []);
    const formats = new Set([...this.#always, ...wanted.flatMap((one) => [...one.formats])]);
    const rules = new Set([...this.#alwaysRules, ...wanted.flatMap((one) => [...one.rules])]);
    return {
      formats: inOrder(formats, progressFormats),
      rules: inOrder(rules, lineRules),
      bareException: wanted.some((one) => one.bareException),
    };
  }
}

/** The quick way with this number; undefined for 0. */
export function laneOf(number: number): Lane | undefined {
  return lanes[number - 1]?.read;
}

let shared: Questions | undefined;

/** One for all logs, made when the first is read: the tables never change. */
export function questions(): Questions {
  shared ??= new Questions();
  return shared;
}

function nobody(): Wanted {
  return { kinds: 0, lane: 0, formats: new Set(), rules: new Set(), bareException: false };
}

function inOrder<T>(places: ReadonlySet<number>, table: readonly T[]): T[] {
  return [...places].sort((a, b) => a - b).flatMap((at) => table[at] ?? []);
}
