import * as vscode from "vscode";
import { combine, isAborted, type Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import { notices, type Notice } from "../core/session/notices";
import { pipelineNotice } from "../core/session/pipelineWords";
import type { SessionReader } from "../core/session/store";

/** What notifications need. */
interface NotificationDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  /** The person at this window, as runs say who launched or stopped them. */
  readonly me: string;
  /** The user's setting; asked each time. Failures that happen while it is off are never told later. */
  readonly enabled: () => boolean;
  /** Whether this window may tell of the failure: false where another window has told it already. */
  readonly claim?: (key: string) => boolean;
}

/** One notification for each cause, once: when a stage fails. Progress is never notified. */
export function registerNotifications(deps: NotificationDeps): Disposable {
  const { sessions, enabled, clock, claim = () => true } = deps;
  const told = new Set<string>();
  const ending = new AbortController();
  let waiting = false;
  const look = async (ms: number): Promise<void> => {
    if (waiting) return;
    waiting = true;
    await clock.sleep(ms, ending.signal).catch(() => undefined); // aborted: nobody is told any more
    waiting = false;
    if (!isAborted(ending.signal)) update();
  };
  const update = (): void => {
    const { ready, moreInMs } = notices(sessions.sessions.values(), told, clock.now());
    if (moreInMs !== undefined) void look(moreInMs);
    for (const notice of ready) {
      for (const key of notice.keys) told.add(key);
      const claimed = notice.keys.filter((key) => claim(key));
      if (claimed.length > 0 && enabled()) void show(notice);
    }
  };
  update();
  const end = {
    dispose: (): void => {
      ending.abort();
    },
  };
  return combine(end, sessions.onDidChange(update), sessions.onDidChange(pipelineNews(deps)));
}

/** One notification when a pipeline is through or cannot go on; what it waits for stands in the tree. */
function pipelineNews({ sessions, me, enabled, claim = () => true }: NotificationDeps): () => void {
  const last = new Map<string, string | undefined>();
  return () => {
    for (const session of sessions.sessions.values()) {
      const notice = pipelineNotice(session, me);
      if (last.get(session.id) === notice?.key) continue;
      last.set(session.id, notice?.key);
      if (!notice || !claim(notice.key) || !enabled()) continue;
      if (notice.bad) void vscode.window.showWarningMessage(notice.message);
      else void vscode.window.showInformationMessage(notice.message);
    }
  };
}

const showLog = "Show Log";
const restart = "Restart…";

async function show(notice: Notice): Promise<void> {
  const buttons = notice.restart ? [showLog, restart] : [showLog];
  const choice = await vscode.window.showErrorMessage(notice.message, ...buttons);
  if (choice === showLog) await vscode.commands.executeCommand("mlSession.openLog", notice.node);
  if (choice === restart && notice.restart)
    await vscode.commands.executeCommand(notice.restart.command, notice.restart.node);
}
