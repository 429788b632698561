import type { ConnectFailure } from "../errors";
import type { FailureReading, ProgressReading } from "../log/reading";
import type { LogWriter } from "../following";
import type { GpuSample, HostIdentity, OutputReport, RunRecord } from "../ports";
import type { Cure } from "./cure";
import type { HostDefinition, ServiceDefinition, SessionDefinition, StageDefinition } from "./definition";
import type { Eta } from "./eta";
import type { SeriesSet } from "./series";
import type { TokenLengths } from "./tokenLengths";
import type { Written } from "./written";

/** Whether the host can be seen right now. */
export type ConnectionState =
  | { readonly kind: "not-connected" }
  /** `again`: it could not be reached before. */
  | { readonly kind: "connecting"; readonly since: number; readonly again?: true }
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
  /** Who claims it in the session file: services, stages, or members of them as `stage member`. */
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
  /** What was seen of GPUs by the host alone, by UUID, until one of them is seen by us. */
  readonly pastGpus?: ReadonlyMap<string, SeriesSet>;
  /** Why there are no GPUs to show. */
  readonly gpusUnavailable?: string;
  /** When the last sample or record came, our clock. */
  readonly seenAt?: number;
  /** When it was last lost or let go, our clock; absent while it is connected. */
  readonly awaySince?: number;
  /** When all its run records were read on this connection; before that nobody knows what has run there. */
  readonly recordsAt?: number;
  /** What watching it costs it, over the last minute: share of one core, and bytes a second that it sends. */
  readonly cost?: { readonly cpuShare: number; readonly bytesPerSecond: number };
}

/**
 * What a member is doing. `unknown` lies over the others while the host cannot be seen (or the run was recorded by
 * another host) and never turns anything red: `last` is what it was. `since` is 0 for a host that was never seen.
 */
export type StageState =
  | { readonly kind: "waiting"; readonly for: readonly string[] } // never started
  /** What it needs has failed. `why` says how each of them is: `download: failed`. */
  | { readonly kind: "blocked"; readonly by: readonly string[]; readonly why: string }
  | { readonly kind: "watching" } // a log somebody else's job writes; alive as far as can be told
  | { readonly kind: "launching" }
  /** `checking`: its process has ended with 0, and what it wrote is being looked at. */
  | { readonly kind: "running"; readonly checking?: true }
  | { readonly kind: "stalled"; readonly since: number; readonly why: string }
  | { readonly kind: "finished" }
  /** `tooSoon`: exit 0 so soon after the start that it may have done nothing, and nothing says that it did. */
  | { readonly kind: "finished-unchecked"; readonly tooSoon?: true }
  | {
      readonly kind: "failed";
      readonly cause: string;
      readonly remedy: string;
      readonly failure?: FailureReading;
      /** The last line of its log, where nothing in the log is known to be the cause. */
      readonly lastLine?: string;
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
  /** `waitsFor`: its time has come, but not its turn: `GPU 3 (12.1 GB in use)`. */
  | {
      readonly kind: "due";
      readonly attempt: number;
      readonly of: number;
      readonly at: number;
      readonly waitsFor?: string;
    }
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
  /** The longest time that it was quiet between two lines while it was followed, ms. */
  readonly longestGapMs?: number;
  /** Bytes that are known to have been there and that could not be read, over all restarts. */
  readonly lost: number;
  /** There may have been others, and nobody can tell how many: the log was cut or replaced while nobody read it. */
  readonly lostMore?: true;
}

/** One of a stage's processes; most stages have one. */
export interface Member {
  readonly name: string;
  readonly state: StageState;
  /** When the state began, our clock. */
  readonly since: number;
  /** The run the state is about: the newest. */
  readonly run?: RunRecord;
  /** The run before it, to compare. */
  readonly runBefore?: RunRecord;
  /** When the run's end was first seen, our clock. */
  readonly endSeenAt?: number;
  /** The run that has ended, and whose log was read to the end that it had then. */
  readonly wordsReadOf?: string;
  /** The last line of that log, where it says anything. */
  readonly lastLine?: string;
  readonly log?: LogState;
  readonly progress?: ProgressReading;
  /** When the progress was printed, our clock. */
  readonly progressAt?: number;
  /** Of this run only; older ones are history. */
  readonly failures: readonly FailureReading[];
  /** What was found of its outputs when it had ended. */
  readonly outputs?: OutputReport;
  /** What it has written so far, where that is counted while it runs. */
  readonly written?: Written;
  /** How long the answers are that it has written, where the session file says where to read it. */
  readonly tokenLengths?: TokenLengths;
  /** When they were read, our clock. */
  readonly tokensReadAt?: number;
  readonly writer?: LogWriter;
  /** What besides its needs a pipeline's launch of it waits for: `GPU 3 (12.1 GB in use)`. */
  readonly queuedFor?: string;
  readonly eta?: Eta;
  readonly series: SeriesSet;
  /** What would mend the failure, tried out on the host; the best first. */
  readonly cures: readonly Cure[];
  readonly acknowledged: boolean;
  /** Why a run is not started again by itself though its retries are not used up. */
  readonly retryHeld?: { readonly run: string; readonly why: string };
  /** What the next try of a failed run waits for besides its time. */
  readonly retryQueued?: { readonly run: string; readonly for: string };
  /** How its state changed and what showed it, over all runs, oldest first. */
  readonly transitions: readonly Transition[];
  /** Run ids in the order they were seen, for marks in charts. */
  readonly marks: readonly Mark[];
}

/** A change of a member's state, with what showed it. */
export interface Transition {
  /** When it was seen, our clock, ms since 1970. */
  readonly at: number;
  /** Absent for the first one. */
  readonly from?: StageState["kind"];
  readonly to: StageState["kind"];
  /** What the state was judged from, in plain words; may quote a host. */
  readonly evidence: string;
}

/** Something to mark on the time axis of the charts. */
export interface Mark {
  readonly at: number;
  readonly kind: "started" | "restarted" | "failed" | "finished" | "stopped" | "alert" | "gap";
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

/** Stages that are launched one after the other. Names only, so that it can be kept with the workspace. */
export interface PipelinePlan {
  readonly stages: readonly string[];
  /**
   * Runs that are to be repeated since they ended without success before it began: member as `stage/member` → run. A
   * member with any other run was started meanwhile, by whomever, and is not started again.
   */
  readonly again: Readonly<Record<string, string>>;
  /** Members as `stage/member` of its stages that nobody asked for. */
  readonly leftOut: readonly string[];
  /** Members that it gave up: their GPUs were in use, and `when_busy` is `refuse`. */
  readonly givenUp: readonly string[];
  /** Stages that a person launched whatever they need. */
  readonly regardless: readonly string[];
  /** What a person chose to do with what is there already, by stage; see `restartPlan.ts`. */
  readonly ways: Readonly<Record<string, "resume" | "over" | "copy" | "aside">>;
}

/** A pipeline of this window, and how it is doing. */
export interface Pipeline {
  readonly plan: PipelinePlan;
  /** `stuck`: nothing of it can go on until somebody mends, restarts or starts something. */
  readonly standing: "going" | "stuck" | "through";
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
  readonly pipeline?: Pipeline;
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
  /** See the failed state. */
  readonly lastLine?: string;
}
