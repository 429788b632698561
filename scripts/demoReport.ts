// What the extension writes while it plays the demo (ML_SESSION_DEMO_REPORT): one JSON line a change.
import { existsSync, readFileSync } from "node:fs";

export interface StageLine {
  readonly type: "stage";
  readonly mode: string;
  readonly session: string;
  readonly stage: string;
  readonly state: string;
  readonly cause: string | null;
  /** The kind of the failure. */
  readonly failure: string | null;
  readonly remedy: string | null;
  /** The cure that a restart suggests. */
  readonly cure: string | null;
  readonly done: number | null;
  readonly total: number | null;
  /** Times of the finish, ms since 1970. */
  readonly eta: { readonly eta: number; readonly lo: number; readonly hi: number } | null;
  /** When the product saw it, and when the run was launched: ms since 1970, this machine's clock. */
  readonly at: number;
  readonly launchedAt: number | null;
}

export interface GpuLine {
  readonly type: "gpu";
  readonly mode: string;
  readonly host: string;
  readonly index: number;
}

type Line = StageLine | GpuLine;

/** All lines that are complete. */
export function readReport(file: string): Line[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

export function stageLines(file: string, stage: string): StageLine[] {
  return readReport(file).filter((line): line is StageLine => line.type === "stage" && line.stage === stage);
}

/** The newest line of each stage and each GPU. */
export function newestLines(file: string): Line[] {
  const newest = new Map<string, Line>();
  for (const line of readReport(file)) {
    newest.set(line.type === "stage" ? `${line.session}/${line.stage}` : `${line.host}#${line.index}`, line);
  }
  return [...newest.values()];
}
