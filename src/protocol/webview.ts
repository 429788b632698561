/** What the extension and the charts page say to each other. */

/** How the numbers of a chart are said. */
export type ChartUnit =
  | { readonly kind: "number" | "percent" | "mib" | "watt" | "celsius" }
  | { readonly kind: "rate"; readonly unit: string };

/** One line of a chart; `key` is unique on the page. */
export interface ChartLineInfo {
  readonly key: string;
  readonly label: string;
  /** `thin`: beside the line it belongs to. `low` and `high` have the room between them filled. */
  readonly look: "line" | "thin" | "low" | "high";
  /** Lines that belong together share one: a number from 0. */
  readonly color: number;
}

/** One chart. */
export interface ChartInfo {
  readonly id: string;
  readonly title: string;
  /** What it shows, for screen readers and as a hint. */
  readonly about: string;
  readonly unit: ChartUnit;
  /** Ends of the value axis, where they are known beforehand. */
  readonly min?: number;
  readonly max?: number;
  /** Digits behind the point that the value axis may have: 0 for what is counted. */
  readonly precision?: number;
  readonly lines: readonly ChartLineInfo[];
}

/** How long the answers of a stage are, as bars of one width from 0: answers of `from` up to, but not with, `to` tokens. */
export interface LengthInfo {
  readonly id: string;
  readonly title: string;
  readonly bins: readonly { readonly from: number; readonly to: number; readonly answers: number }[];
  /** Tokens that an answer may have at most. */
  readonly limit?: number;
  /** Share that was cut off there, 0 to 1. */
  readonly cutShare?: number;
  /** What it shows in words, and of when. */
  readonly about: string;
}

/** Something with metrics that a person may leave out: a member of a stage, a service, a GPU. */
export interface ChartSourceInfo {
  readonly key: string;
  readonly label: string;
  readonly group: string;
}

/** Samples of lines, thinned, one line after the other: ms since 1970 and values. A time of NaN is a gap. */
export interface PackedSamples {
  readonly lines: readonly { readonly key: string; readonly count: number }[];
  readonly times: Float64Array;
  readonly values: Float32Array;
}

/** A moment to mark on all charts. */
export interface ChartMark {
  readonly at: number;
  readonly kind: "started" | "restarted" | "failed" | "finished" | "stopped" | "alert" | "gap";
  readonly label: string;
}

/** A span of time, ms since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Which span is shown. All but a fixed one follow what is new. */
export type ChartRange =
  { readonly kind: "all" } | { readonly kind: "last"; readonly ms: number } | ({ readonly kind: "fixed" } & Span);

/** What a person chose to see. It is kept with the page, and goes along where the page moves. */
export interface ChartLook {
  readonly range: ChartRange;
  /** Keys of sources that are left out. */
  readonly hidden: readonly string[];
  /** Keys of lines that are switched off. */
  readonly off: readonly string[];
  /** Ids of charts with a logarithmic axis. */
  readonly log: readonly string[];
  readonly table: boolean;
}

/** A page that nobody has touched. */
export const firstLook: ChartLook = { range: { kind: "all" }, hidden: [], off: [], log: [], table: false };

/** What goes along with samples. */
export interface ChartFrame {
  /** The span that is shown now. */
  readonly span: Span;
  /** From the first to the last moment of which anything is known. */
  readonly extent: Span;
  /** What is to be said of how old the picture is; empty while all is live. */
  readonly standing: string;
  readonly marks: readonly ChartMark[];
}

/**
 * To the page. A snapshot replaces all, and says which charts there are; the page answers with its look, which brings
 * their samples. Samples replace those of their lines; a delta adds to the ends of lines.
 */
export type ToPage =
  | {
      readonly type: "snapshot";
      readonly title: string;
      /** Kept by the page, so that it can be restored after a restart of the editor. */
      readonly target: unknown;
      readonly look: ChartLook;
      /** Why there is nothing to draw. */
      readonly empty?: string;
      readonly charts: readonly ChartInfo[];
      readonly lengths: readonly LengthInfo[];
      readonly sources: readonly ChartSourceInfo[];
      readonly frame: ChartFrame;
    }
  /** `serial`: of the look that this answers. */
  | { readonly type: "samples"; readonly serial: number; readonly samples: PackedSamples; readonly frame: ChartFrame }
  /** Histograms that stand there already have changed. */
  | { readonly type: "lengths"; readonly lengths: readonly LengthInfo[] }
  | { readonly type: "delta"; readonly samples: PackedSamples; readonly frame: ChartFrame };

/** From the page. */
export type FromPage =
  /** It listens and knows nothing yet but the look that it kept. */
  | { readonly type: "ready"; readonly look?: ChartLook }
  /** What it shows: which charts are in sight, and how many pixels wide. */
  | {
      readonly type: "look";
      readonly serial: number;
      readonly look: ChartLook;
      readonly columns: number;
      readonly sight: readonly string[];
      /** Send all samples of the charts in sight anew, not only of those that came into sight. */
      readonly anew: boolean;
    }
  | { readonly type: "save-csv" }
  | { readonly type: "save-png"; readonly png: Uint8Array };

/** Whether something that came from the page is a message; it is not trusted to be one. */
export function isFromPage(value: unknown): value is FromPage {
  if (!isRecord(value)) return false;
  switch (value["type"]) {
    case "ready":
      return value["look"] === undefined || isChartLook(value["look"]);
    case "look":
      return (
        isNumber(value["serial"]) &&
        isNumber(value["columns"]) &&
        typeof value["anew"] === "boolean" &&
        isTexts(value["sight"]) &&
        isChartLook(value["look"])
      );
    case "save-csv":
      return true;
    case "save-png":
      return value["png"] instanceof Uint8Array;
    default:
      return false;
  }
}

/** Whether something is a look: what a page kept may be of another version. */
export function isChartLook(value: unknown): value is ChartLook {
  if (!isRecord(value) || !isRange(value["range"])) return false;
  return ["hidden", "off", "log"].every((name) => isTexts(value[name])) && typeof value["table"] === "boolean";
}

/** Whether something that came to the page is a message of ours. */
export function isToPage(value: unknown): value is ToPage {
  return isRecord(value) && ["snapshot", "samples", "lengths", "delta"].some((type) => value["type"] === type);
}

function isRange(value: unknown): value is ChartRange {
  if (!isRecord(value)) return false;
  if (value["kind"] === "last") return isNumber(value["ms"]) && value["ms"] > 0;
  if (value["kind"] === "fixed") return isNumber(value["from"]) && isNumber(value["to"]) && value["from"] < value["to"];
  return value["kind"] === "all";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
