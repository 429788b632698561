// What the extension writes while it plays the demo (ML_SESSION_DEMO_REPORT): one JSON line a change.
import { existsSync, readFileSync } from "node:fs";

/** Fields that the product has nothing to say about are left out. Times are ms since 1970, of this machine's clock. */
export interface StageLine {
  readonly type: "stage";
  readonly mode: string;
  readonly session: string;
  readonly stage: string;
  readonly state: string;
  readonly cause?: string;
  readonly remedy?: string;
  /** The kind of the failure. */
  readonly failure?: string;
  /** Titles of what a restart offers to mend. */
  readonly cures?: readonly string[];
  readonly run?: string;
  readonly launchedAt?: number;
  readonly done?: number;
  readonly total?: number;
  /** When it will be through, and the range of that. */
  readonly eta: { readonly eta: number; readonly lo: number; readonly hi: number } | null;
  /** When the product saw this. */
  readonly at: number;
}

export interface GpuLine {
  readonly type: "gpu";
  readonly mode: string;
  readonly session: string;
  readonly host: string;
  readonly index: number;
  readonly name: string;
}

interface ServiceLine {
  readonly type: "service";
  readonly session: string;
  readonly service: string;
}

type Line = StageLine | GpuLine | ServiceLine;

function keyOf(line: Line): string {
  switch (line.type) {
    case "stage":
      return `${line.session} stage ${line.stage}`;
    case "service":
      return `${line.session} service ${line.service}`;
    case "gpu":
      return `${line.session} ${line.host} gpu ${line.index}`;
  }
}

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

/** The newest line of each stage, service and GPU. */
export function newestLines(file: string): Line[] {
  const newest = new Map<string, Line>();
  for (const line of readReport(file)) newest.set(keyOf(line), line);
  return [...newest.values()];
}
