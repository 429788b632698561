/**
 * What one pass over a log yields. Lines count from 1 at the first byte that was read and end at `\n`; offsets are
 * bytes from the start of the file, so that a reading can be found again whatever window of the log is shown.
 */

/** Where in the log something stands. */
export interface LogPlace {
  /** 1-based, `\n`-separated, counted from where reading began. */
  readonly line: number;
  /** Index in the line split at `\r`. */
  readonly segment: number;
  /** First byte of the `\n` line. */
  readonly offset: number;
}

/** A state of a counter or of gauges, in base units: bytes, seconds, per cent as 0..100, 1/s. */
export interface ProgressReading extends LogPlace {
  readonly kind: "progress";
  /** Key of the format that read it, for tests and diagnostics: `tqdm`, `seed`. */
  readonly format: string;
  readonly done?: number;
  readonly total?: number;
  readonly unit?: string;
  readonly rate?: number;
  readonly rate_unit?: string;
  readonly elapsed_s?: number;
  readonly eta_s?: number;
  readonly errors?: number;
  /** Names as in the table of metrics in docs/formats.md; `"nan"` where the line says so. */
  readonly metrics?: Readonly<Record<string, number | "nan">>;
  readonly label?: string;
  /** `aux`: set-up, validation and per-file bars, which must not become the job's own progress. */
  readonly role: "main" | "aux";
  /** Prefixes peeled off the line: rank, worker, pid. `""` for none. */
  readonly source: string;
}

/** One failure for one cause, however many lines repeat it. Kinds are stable names, shown to users. */
export interface FailureReading extends LogPlace {
  readonly kind: "failure";
  /** `command-not-found`, `cuda-oom`, … */
  readonly failure: string;
  /** First line that belongs to it (a traceback's head); `line` is the one that says it. */
  readonly startLine: number;
  /** First byte after the line that says it. */
  readonly endOffset: number;
  readonly severity: "error" | "warning";
  /** A retry cannot help. */
  readonly permanent: boolean;
  /** Plain words. */
  readonly cause: string;
  readonly remedy: string;
  /** The line itself, without control codes, at most 500 characters. */
  readonly text: string;
  /** What the rule could name, e.g. `{ program: "hf" }`; what a cure works on. */
  readonly subject: Readonly<Record<string, string>>;
}

/** All that a log can say. */
export type Reading = ProgressReading | FailureReading;

/** What all of a log says about the job that wrote it. */
export type LogVerdict = "healthy" | "warning" | "failed";
