/** What the extension and the charts page say to each other. */

/** How the numbers of a chart are said. */
export type ChartUnit =
  | { readonly kind: "number" }
  | { readonly kind: "rate"; readonly unit: string }
  | { readonly kind: "percent" }
  | { readonly kind: "mib" }
  | { readonly kind: "watt" }
  | { readonly kind: "celsius" };

/** One line of a chart; `key` is unique on the page. */
interface ChartLineInfo {
  readonly key: string;
  readonly label: string;
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
  readonly lines: readonly ChartLineInfo[];
}

/** Samples of a line, thinned: ms since 1970 and values; NaN breaks the line. */
export interface LineSamples {
  readonly key: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** A moment to mark on all charts. */
export interface ChartMark {
  readonly at: number;
  readonly kind: "started" | "failed" | "finished" | "stopped" | "gap";
  readonly label: string;
}

/** To the page. A snapshot replaces all; a delta adds samples at the end of lines and replaces the marks. */
export type ToPage =
  | {
      readonly type: "snapshot";
      readonly title: string;
      /** Kept by the page, so that the panel can be restored after a restart of the editor. */
      readonly target: unknown;
      /** Why there is nothing to draw. */
      readonly empty?: string;
      readonly charts: readonly ChartInfo[];
      readonly samples: readonly LineSamples[];
      readonly marks: readonly ChartMark[];
    }
  | { readonly type: "delta"; readonly samples: readonly LineSamples[]; readonly marks: readonly ChartMark[] };

/** From the page. `ready`: it listens, and knows nothing yet. */
export interface FromPage {
  readonly type: "ready";
}

/** Whether something that came from the page is a message; it is not trusted to be one. */
export function isFromPage(value: unknown): value is FromPage {
  return typeof value === "object" && value !== null && "type" in value && value.type === "ready";
}

/** Whether something that came to the page is a message of ours. */
export function isToPage(value: unknown): value is ToPage {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  return value.type === "snapshot" || value.type === "delta";
}
