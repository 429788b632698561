import type { Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import { alertRows } from "../core/session/alertRows";
import type { SessionReader } from "../core/session/store";
import { registerRowTree } from "./shared/rowTree";

/** The Alerts view (`mlSession.alerts`): failures that wait to be acknowledged; a click opens the log at the line. */
export function registerAlertsTree(deps: { readonly sessions: SessionReader; readonly clock: Clock }): Disposable {
  return registerRowTree({ ...deps, viewId: "mlSession.alerts", build: alertRows });
}
