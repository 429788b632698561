import type { FollowedLogs } from "./followedLogs";
import type { Clock, Logger } from "./ports";
import type { SessionStore } from "./session/store";

/** What every monitor of a window shares. */
export interface MonitorContext {
  readonly store: SessionStore;
  readonly logs: FollowedLogs;
  readonly clock: Clock;
  readonly logger: Logger;
}
