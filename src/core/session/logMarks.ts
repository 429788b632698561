import type { FailureReading } from "../log/reading";
import type { Session } from "./model";
import type { LogRef, RemoteLogText } from "./remoteLogs";

/** A line of a shown log that tells a failure. */
interface LogMark {
  /** 0-based line of the shown text. */
  readonly line: number;
  readonly failure: FailureReading;
}

/** What to mark in a shown log. */
export interface LogMarks {
  readonly failures: readonly LogMark[];
  /** So many lines at the top belong to older runs. */
  readonly historyLines: number;
}

/** Where failures lie in the text that is shown, by their bytes in the file; those outside of it are left out. */
export function logMarks(text: RemoteLogText, failures: readonly FailureReading[]): LogMarks {
  const marks = failures.flatMap((failure) => {
    const line = text.lineAt(failure.offset);
    return line === undefined ? [] : { line, failure };
  });
  const { runStart } = text;
  const historyLines = runStart === undefined || runStart <= text.startOffset ? 0 : (text.lineAt(runStart) ?? 0);
  return { failures: marks.sort((a, b) => a.line - b.line), historyLines };
}

const none: readonly FailureReading[] = [];

/** The failures that the store knows of a log's current run. */
export function failuresOf(sessions: ReadonlyMap<string, Session>, ref: LogRef): readonly FailureReading[] {
  const session = sessions.get(ref.session);
  const members = session?.stages.get(ref.stage)?.members;
  const member = members?.find(({ name }) => name === ref.member) ?? session?.services.get(ref.stage)?.member;
  return member?.failures ?? none;
}
