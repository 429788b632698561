import type { FollowedLogs } from "./followedLogs";
import type { Clock, HostOps, Logger } from "./ports";
import type { SessionStore } from "./session/store";

/** What every monitor of a window shares. */
export interface MonitorContext {
  readonly store: SessionStore;
  readonly logs: FollowedLogs;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Brings what watches a connected host, with all that reads logs: half of the product, needed by no closed host. */
  readonly loadWatch: () => Promise<{ readonly HostWatch: new (...of: WatchedHost) => Watch }>;
}

/** The host of a session that is watched. */
export type WatchedHost = readonly [context: MonitorContext, session: string, host: string];

/** What watches one host of a session, over all its connections. */
export interface Watch {
  /** Watches over one connection, until aborted. */
  run(ops: HostOps, signal: AbortSignal): Promise<void>;
}
