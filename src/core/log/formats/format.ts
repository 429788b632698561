import type { PeeledLine } from "../prefixes";
import type { ProgressReading } from "../reading";

type Field = "done" | "total" | "unit" | "rate" | "rate_unit" | "elapsed_s" | "eta_s" | "errors" | "metrics" | "label";

/** What a format could read from a line: base units, only what is printed. */
export type FormatReading = Partial<Pick<ProgressReading, Field>> & {
  readonly role?: "aux";
  /** Text of another writer that follows on the same line, as warnings do after a bar. */
  readonly rest?: string;
};

/** What a format may remember from earlier lines of the same log. */
export interface FormatMemory {
  /** `Fetching N files` was seen: bars of single files are details of it. */
  fetching: boolean;
  /** lm-evaluation-harness was seen: its unlabelled bars prepare requests. */
  evaluating: boolean;
  /** A row of values was seen that rich wraps at 80 columns. */
  wrapping: boolean;
  /** `pv -n` was called: bare numbers are per cent. */
  counting: boolean;
  /** aria2 loads several files at once: so many lines of one of them can follow, as details. */
  files: number;
  /** Total of the last unfinished bar without a label; 0 for none. */
  bar: number;
  /** Steps of the trainer that prints dictionaries: other bars without a label are its evaluations. 0 while not known. */
  steps: number;
  /** A bar of that many steps was seen since the last dictionary. */
  stepping: boolean;
  /** That bar is full. */
  stepped: boolean;
  /** nvidia-smi's header of columns. */
  gpuColumns: readonly string[];
  /** Header of nvidia-smi dmon. */
  dmonColumns: readonly string[];
}

/** One way in which a tool states its progress. */
export interface ProgressFormat {
  /** Stands in the readings. */
  readonly key: string;
  /** The line must hold this text, unless `needles` or `marks` say otherwise. */
  readonly trigger: string;
  /**
   * The line must hold one of these: it is not looked at without. Six bytes or more each, `\d` for any digit, and rare in
   * lines that say nothing.
   */
  readonly needles?: readonly string[];
  /** Or a bracket: `meter` is ` [` with a time in it, `share` is `%[`, `tag` is `[#` or `[D`. */
  readonly marks?: readonly ("meter" | "share" | "tag")[];
  /** It is asked about every line that is looked at for any reason: its lines hold nothing of their own. */
  readonly always?: boolean;
  /** Undefined when the line is not of this format. `body` is the line without prefixes. */
  readonly read: (line: PeeledLine, memory: FormatMemory) => FormatReading | undefined;
}

/** Leaves out what is undefined, so that an absent field is absent. */
export function present(fields: { readonly [K in keyof FormatReading]?: FormatReading[K] | undefined }): FormatReading {
  const kept: Record<string, unknown> = {};
  let key: keyof typeof fields;
  // Each reading passes here several times: no lists in between.
  for (key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept;
}

/** A counter of steps, `done` as printed. */
export function stepReading(done: string | undefined, more: Parameters<typeof present>[0] = {}): FormatReading {
  return present({ done: Number((done ?? "").replaceAll(",", "")), unit: "step", ...more });
}
