import * as vscode from "vscode";
import type { Disposable } from "../core/lifecycle";
import { notices, type Notice } from "../core/session/alertRows";
import type { SessionReader } from "../core/session/store";

/** What notifications need. */
interface NotificationDeps {
  readonly sessions: SessionReader;
  /** The user's setting; asked each time. Failures that happen while it is off are never told later. */
  readonly enabled: () => boolean;
  /** Whether this window may tell of the failure: false where another window has told it already. */
  readonly claim?: (key: string) => boolean;
}

/** One notification for each cause, once: when a stage fails. Progress is never notified. */
export function registerNotifications(deps: NotificationDeps): Disposable {
  const { sessions, enabled, claim = () => true } = deps;
  const told = new Set<string>();
  const update = (): void => {
    for (const notice of notices(sessions.sessions.values(), told)) {
      for (const key of notice.keys) told.add(key);
      const claimed = notice.keys.filter((key) => claim(key));
      if (claimed.length > 0 && enabled()) void show(notice);
    }
  };
  update();
  return sessions.onDidChange(update);
}

const showLog = "Show Log";
const restart = "Restart…";

async function show(notice: Notice): Promise<void> {
  const buttons = notice.launchable ? [showLog, restart] : [showLog];
  const choice = await vscode.window.showErrorMessage(notice.message, ...buttons);
  if (choice === showLog) await vscode.commands.executeCommand("mlSession.openLog", notice.node);
  if (choice === restart) await vscode.commands.executeCommand("mlSession.restartStage", notice.node);
}
