import type { Event } from "../lifecycle";

/** The text of a remote log as it can be shown, and where it lies in the file. */
export interface RemoteLogText {
  readonly text: string;
  /** Byte of the file at which `text` starts. */
  readonly startOffset: number;
  /** Whether what the host appends comes in by itself. */
  readonly following: boolean;
  /** The 0-based line of `text` that holds the byte of the file; undefined if the text does not reach there. */
  lineAt(offset: number): number | undefined;
  /** The first byte, in the file, of a 0-based line of `text`. */
  offsetOfLine(line: number): number | undefined;
  /** First byte of the current run: lines before it are history. */
  readonly runStart?: number;
}

/** Names the log of one member of a stage, or of a service (whose member is `0`). */
export interface LogRef {
  readonly session: string;
  readonly stage: string;
  readonly member: string;
}

/** The logs that were read, as documents see them. */
export interface RemoteLogs {
  /** Undefined while nothing of it was read. */
  text(session: string, stage: string, member: string): RemoteLogText | undefined;
  readonly onDidChange: Event<LogRef>;
}

/** Scheme of the documents that show remote logs. */
export const remoteLogScheme = "ml-session-log";

/** Path and query of a log's URI. The path ends in `.log`, which is what VS Code colours by. */
export function remoteLogParts(ref: LogRef, label: string): { readonly path: string; readonly query: string } {
  const name =
    label
      .replace(/\.log$/, "")
      .replace(/[^\p{L}\p{N}._ -]+/gu, "-")
      .slice(0, 80) || "remote";
  const query = new URLSearchParams({ session: ref.session, stage: ref.stage, member: ref.member });
  return { path: `/${name}.log`, query: query.toString() };
}

/** The log that a URI's query names; undefined if it names none. */
export function logRefOf(query: string): LogRef | undefined {
  const values = new URLSearchParams(query);
  const [session, stage, member] = ["session", "stage", "member"].map((key) => values.get(key));
  return session && stage && member ? { session, stage, member } : undefined;
}
