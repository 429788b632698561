import type * as vscode from "vscode";
import type { Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import type { Session } from "../core/session/model";
import { stageRows } from "../core/session/stageRows";
import type { SessionReader } from "../core/session/store";
import { amount } from "../core/session/words";
import { registerRowTree } from "./shared/rowTree";

/** The Stages view (`mlSession.stages`); its badge counts failures that nobody acknowledged. */
export function registerStagesTree(deps: { readonly sessions: SessionReader; readonly clock: Clock }): Disposable {
  const restricted = "Restricted Mode: nothing is connected to, and nothing is run.";
  return registerRowTree({ ...deps, viewId: "mlSession.stages", build: stageRows, badge: alertBadge, restricted });
}

function alertBadge(sessions: ReadonlyMap<string, Session>): vscode.ViewBadge | undefined {
  const value = [...sessions.values()].reduce((sum, session) => sum + session.alerts.length, 0);
  return value === 0 ? undefined : { value, tooltip: amount(value, "unacknowledged failure") };
}
