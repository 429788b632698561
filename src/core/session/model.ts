import type { ConnectFailure } from "../errors";
import type { FailureReading, ProgressReading } from "../log/reading";
import type { GpuSample, HostIdentity, LogWriter, OutputReport, RunRecord } from "../ports";
import type { Cure } from "./cure";
import type { HostDefinition, ServiceDefinition, SessionDefinition, StageDefinition } from "./definition";
import type { Eta } from "./eta";
import type { SeriesSet } from "./series";

/** Whether the host can be seen right now. */
export type ConnectionState =
  | { readonly kind: "not-connected" }
  | { readonly kind: "connecting"; readonly since: number }
  | { readonly kind: "connected"; readonly since: number }
  | {
      readonly kind: "failed";
      readonly since: number;
      readonly reason: ConnectFailure;
      readonly message: string;
      readonly retryAt?: number;
    }
  | { readonly kind: "lost"; readonly since: number; readonly message: string };

/** A GPU as last seen, and what it was. */
export interface Gpu {
  readonly index: number;
  readonly name: string;
  readonly sample: GpuSample;
  /** Members whose stage or service claims it in the session file, as `stage` names. */
  readonly usedBy: readonly string[];
  readonly series: SeriesSet;
}

/** A host of the session as last seen. */
export interface RemoteHost {
  readonly definition: HostDefinition;
  readonly connection: ConnectionState;
  /** Kept while the host cannot be seen. */
  readonly identity?: HostIdentity;
  readonly gpus: readonly Gpu[];
  /** Why there are no GPUs to show. */
  readonly gpusUnavailable?: string;
  /** When the last sample or record came, our clock. */
  readonly seenAt?: number;
  /** When it was last lost or let go, our clock; absent while it is connected. */
  readonly awaySince?: number;
}

/**
 * What a member is doing. `unknown` lies over the others while the host cannot be seen (or the run was recorded by
 * another host) and never turns anything red: `last` is what it was. `since` is 0 for a host that was never seen.
 */
export type StageState =
  | { readonly kind: "waiting"; readonly for: readonly string[] } // never started
  | { readonly kind: "blocked"; readonly by: readonly string[] } // what it needs has failed
  | { readonly kind: "watching" } // a log somebody else's job writes; alive as far as can be told
  | { readonly kind: "launching" }
  | { readonly kind: "running" }
  | { readonly kind: "stalled"; readonly since: number; readonly why: string }
  | { readonly kind: "finished" }
  | { readonly kind: "finished-unchecked" }
  | {
      readonly kind: "failed";
      readonly cause: string;
      readonly remedy: string;
      readonly failure?: FailureReading;
      readonly unfinished?: OutputReport;
      /** Where the stage has `retries`: what comes of them now. */
      readonly again?: Again;
    }
  | { readonly kind: "stopped"; readonly by: string }
  | { readonly kind: "lost"; readonly why: string }
  | { readonly kind: "ended-unknown" } // somebody else's job is no more; how it ended nobody wrote down
  | { readonly kind: "refused"; readonly reason: string } // the last launch started nothing
  | { readonly kind: "unknown"; readonly since: number; readonly why: string; readonly last: SeenState };

/** Whether a failed run is started again by itself, and why not. `at`: our clock, ms since 1970. */
export type Again =
  | { readonly kind: "due"; readonly attempt: number; readonly of: number; readonly at: number }
  | { readonly kind: "spent"; readonly of: number }
  | { readonly kind: "missed"; readonly at: number } // nobody was connected when it was due
  | { readonly kind: "stopped"; readonly by: string }
  | { readonly kind: "held"; readonly why: string };

export type SeenState = Exclude<StageState, { readonly kind: "unknown" }>;

/** The log of a member, as far as it was read. */
export interface LogState {
  readonly path: string;
  readonly state: "not-read" | "missing" | "unreadable" | "catching-up" | "following";
  readonly reason?: string;
  /** Bytes read, as an offset in the file. */
  readonly offset: number;
  /** When it last grew, our clock. */
  readonly grewAt?: number;
  /** Bytes that existed once and could not be read, over all restarts. */
  readonly lost: number;
}

/** One of a stage's processes; most stages have one. */
export interface Member {
  readonly name: string;
  readonly state: StageState;
  /** When the state began, our clock. */
  readonly since: number;
  /** The run the state is about: the newest. */
  readonly run?: RunRecord;
  /** When the run's end was first seen, our clock. */
  readonly endSeenAt?: number;
  readonly log?: LogState;
  readonly progress?: ProgressReading;
  /** When the progress was printed, our clock. */
  readonly progressAt?: number;
  /** Of this run only; older ones are history. */
  readonly failures: readonly FailureReading[];
  readonly outputs?: OutputReport;
  readonly writer?: LogWriter;
  readonly eta?: Eta;
  readonly series: SeriesSet;
  /** What would mend the failure, tried out on the host; the best first. */
  readonly cures: readonly Cure[];
  readonly acknowledged: boolean;
  /** Why a run is not started again by itself though its retries are not used up. */
  readonly retryHeld?: { readonly run: string; readonly why: string };
  /** Run ids in the order they were seen, for marks in charts. */
  readonly marks: readonly Mark[];
}

/** Something to mark on the time axis of the charts. */
export interface Mark {
  readonly at: number;
  readonly kind: "started" | "failed" | "finished" | "stopped" | "gap";
  readonly label: string;
}

/** A step of the pipeline as last seen. Its state is the gravest of its members'. */
export interface Stage {
  readonly definition: StageDefinition;
  readonly state: StageState;
  readonly since: number;
  readonly members: readonly Member[];
  /** The slowest member's. */
  readonly eta?: Eta;
}

/** A service as last seen: alive as far as its log and metrics tell. */
export interface ServiceView {
  readonly definition: ServiceDefinition;
  readonly member: Member;
}

/** When the pipeline will be through. `untimed`: stages that never ran, so that nothing can be said of them. */
export interface SessionEta {
  readonly eta?: Eta;
  readonly untimed: readonly string[];
}

/** All that is known of a session. Immutable: what did not change is the same object as before. */
export interface Session {
  /** Stable for the window: the session file's URI, `watch:…` for a watched log, `demo:…`. */
  readonly id: string;
  readonly definition: SessionDefinition;
  readonly hosts: ReadonlyMap<string, RemoteHost>;
  readonly stages: ReadonlyMap<string, Stage>;
  readonly services: ReadonlyMap<string, ServiceView>;
  readonly eta: SessionEta;
  /** Unacknowledged failures. */
  readonly alerts: readonly Alert[];
}

/** A failure that waits to be seen by a person. */
export interface Alert {
  readonly stage: string;
  readonly member: string;
  readonly at: number;
  readonly cause: string;
  readonly remedy: string;
}
