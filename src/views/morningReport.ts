import * as vscode from "vscode";
import { combine, isAborted, toDisposable, type Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import { plainMessage } from "../core/session/markdown";
import { morningReport, reportSummary } from "../core/session/morningReport";
import type { Span } from "../core/session/reportFigures";
import type { SessionReader } from "../core/session/store";
import { duration } from "../core/session/words";

/** What reports need. */
interface ReportDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  /** Of the workspace; keeps when somebody last looked. */
  readonly memory: Pick<vscode.Memento, "get" | "update">;
  /** As for notifications: the user's setting, and whether another window has offered already. */
  readonly enabled: () => boolean;
  readonly claim: (key: string) => boolean;
}

const scheme = "ml-session-report";
const lookedKey = "mlSession.lookedAt";
const hourMs = 3_600_000;
/** Who was away for less has seen what happened. */
const absenceMs = 4 * hourMs;
/** What a report is about where nobody was away. */
const usualMs = 12 * hourMs;
const lookEveryMs = 60_000;
/** Hosts need a moment to say what happened: it is looked again after these, ms. */
const offerAfterMs: readonly number[] = [20_000, 40_000, 60_000];

/** The morning report: a document with pictures, offered once after an absence. */
export function registerMorningReport(deps: ReportDeps): Disposable & { show(session: string): Promise<void> } {
  const { sessions, clock } = deps;
  const texts = new Map<string, string>();
  const ending = new AbortController();
  let absence: Span | undefined;

  const show = async (session: string): Promise<void> => {
    const seen = sessions.sessions.get(session);
    if (!seen) return;
    const to = clock.now();
    const from = absence && to - absence.to < usualMs ? absence.from : to - usualMs;
    const uri = vscode.Uri.from({ scheme, path: `/${seen.definition.name} report.md`, query: String(to) });
    texts.set(uri.toString(), morningReport(seen, { from, to }));
    await vscode.workspace.openTextDocument(uri);
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  };

  const parts = combine(
    toDisposable(() => {
      ending.abort();
    }),
    watchAbsences(deps, ending.signal, (span) => {
      absence = span;
      void offer(deps, span, ending.signal, show).catch(() => undefined); // the window is being closed
    }),
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "This report was of a window that is closed.\n",
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      texts.delete(uri.toString());
    }),
  );
  return { dispose: parts.dispose.bind(parts), show };
}

/** One message, for the first session in which something happened. */
async function offer(
  { sessions, clock, enabled, claim }: ReportDeps,
  span: Span,
  signal: AbortSignal,
  show: (session: string) => Promise<void>,
): Promise<void> {
  for (const wait of offerAfterMs) {
    await clock.sleep(wait, signal);
    for (const [id, session] of sessions.sessions) {
      const words = reportSummary(session, span);
      if (words === undefined || !enabled() || !claim(`report ${id} ${String(span.from)}`)) continue;
      const message = `${session.definition.name}, in the last ${duration(span.to - span.from)}: ${words}.`;
      const answer = await vscode.window.showInformationMessage(plainMessage(message), "Morning Report");
      if (answer !== undefined) await show(id);
      return;
    }
  }
}

/** Tells of each time in which nobody looked, once somebody is back; also of one in which no window was open. */
function watchAbsences(
  { clock, memory }: ReportDeps,
  signal: AbortSignal,
  tell: (span: Span) => void,
): vscode.Disposable {
  const look = (): void => {
    const now = clock.now();
    const looked = memory.get<number>(lookedKey) ?? now;
    if (now - looked >= absenceMs) tell({ from: looked, to: now });
    void memory.update(lookedKey, now);
  };
  const goOn = async (): Promise<void> => {
    while (!isAborted(signal)) {
      if (vscode.window.state.focused) look();
      await clock.sleep(lookEveryMs, signal);
    }
  };
  void goOn().catch(() => undefined); // the window is being closed
  return vscode.window.onDidChangeWindowState(({ focused }) => {
    if (focused) look();
  });
}
