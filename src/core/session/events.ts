import type { FailureReading, ProgressReading, Reading } from "../log/reading";
import type { TimedReading } from "../backlog";
import type { LogWriter } from "../following";
import type { GpuReport, GpuSample, HostIdentity, OutputReport, RunRecord } from "../ports";
import type { ConnectFailure } from "../errors";
import type { Cure } from "./cure";
import type { SessionDefinition } from "./definition";
import type { Pipeline } from "./model";
import type { TokenLengths } from "./tokenLengths";
import type { OutputLook } from "./written";

/** Names one member of a stage (or a service, whose member is `0`). */
export interface MemberRef {
  readonly stage: string;
  readonly member: string;
}

/**
 * Everything that changes the picture of a session. `at` is our clock, ms since 1970; times in records and samples
 * are the host's own. Written by monitor and launcher only.
 */
export type SessionEvent =
  | { readonly type: "defined"; readonly at: number; readonly definition: SessionDefinition }
  | { readonly type: "connecting"; readonly at: number; readonly host: string }
  | { readonly type: "connected"; readonly at: number; readonly host: string; readonly identity: HostIdentity }
  | {
      readonly type: "connection-failed";
      readonly at: number;
      readonly host: string;
      readonly reason: ConnectFailure;
      readonly message: string;
      /** When it is tried again by itself; absent if a person must act. */
      readonly retryAt?: number;
    }
  | {
      readonly type: "disconnected";
      readonly at: number;
      readonly host: string;
      readonly byUser: boolean;
      readonly message: string;
    }
  /** `all`: these are all records that the host has of the session. */
  | {
      readonly type: "records";
      readonly at: number;
      readonly host: string;
      readonly records: readonly RunRecord[];
      readonly all?: true;
    }
  /** What watching costs the host: its share of one core, and what is sent, over the last minute. */
  | {
      readonly type: "cost";
      readonly at: number;
      readonly host: string;
      readonly cpuShare: number;
      readonly bytesPerSecond: number;
    }
  | { readonly type: "gpus"; readonly at: number; readonly host: string; readonly report: GpuReport }
  /** What the host's flight recorder saw while nobody looked, oldest first. */
  | {
      readonly type: "gpu-history";
      readonly at: number;
      readonly host: string;
      readonly samples: readonly GpuSample[];
    }
  /**
   * Some text of the log was read: it is alive. `caughtUp`: what comes now is new. `readings`: what the text says, in its
   * order, so that the picture is made once for all that was read at once.
   */
  | ({
      readonly type: "log";
      readonly at: number;
      readonly offset: number;
      readonly modifiedAt: number;
      readonly caughtUp: boolean;
      readonly readings?: readonly Reading[];
    } & MemberRef)
  | ({ readonly type: "log-missing"; readonly at: number } & MemberRef)
  | ({ readonly type: "log-unreadable"; readonly at: number; readonly reason: string } & MemberRef)
  /** `lostMore`: beside the `lost` bytes others may be gone, and nobody can tell how many. */
  | ({
      readonly type: "log-restarted";
      readonly at: number;
      readonly lost: number;
      readonly lostMore?: true;
    } & MemberRef)
  | ({ readonly type: "progress"; readonly at: number; readonly reading: ProgressReading } & MemberRef)
  /** Progress that was printed before anybody read it, dated; oldest first. */
  | ({ readonly type: "backlog"; readonly at: number; readonly readings: readonly TimedReading[] } & MemberRef)
  | ({ readonly type: "failure"; readonly at: number; readonly reading: FailureReading } & MemberRef)
  /** The run has ended, and all that it wrote to its log was read. */
  | ({ readonly type: "words-read"; readonly at: number; readonly run: string; readonly lastLine?: string } & MemberRef)
  | ({ readonly type: "outputs"; readonly at: number; readonly run: string; readonly report: OutputReport } & MemberRef)
  /** A stage that runs was looked at for what it has written. Without `run` it is somebody else's job. */
  | ({ readonly type: "written"; readonly run?: string } & OutputLook & MemberRef)
  /** What a run had written at moments at which nobody of us looked; oldest first. */
  | ({ readonly type: "written-history"; readonly at: number; readonly run: string } & {
      readonly looks: readonly OutputLook[];
    } & MemberRef)
  /** How long the answers are that it has written so far. Without `run` it is somebody else's job. */
  | ({
      readonly type: "token-lengths";
      readonly at: number;
      readonly run?: string;
      readonly lengths: TokenLengths;
    } & MemberRef)
  | ({ readonly type: "writer"; readonly at: number; readonly writer: LogWriter } & MemberRef)
  | ({ readonly type: "cures"; readonly at: number; readonly cures: readonly Cure[] } & MemberRef)
  | ({ readonly type: "launching"; readonly at: number } & MemberRef)
  /** `newest`: the run that was the newest when it was tried (`""`: none); a later one makes the refusal old news. */
  | ({
      readonly type: "launch-refused";
      readonly at: number;
      readonly reason: string;
      readonly newest?: string;
    } & MemberRef)
  | ({ readonly type: "queued"; readonly at: number; readonly for?: string } & MemberRef)
  | { readonly type: "pipeline"; readonly at: number; readonly pipeline: Pipeline | undefined }
  | ({ readonly type: "acknowledged"; readonly at: number } & MemberRef)
  /** A retry that was due must not be: it would write over something, or nobody approved it. */
  | ({ readonly type: "retry-held"; readonly at: number; readonly run: string; readonly why: string } & MemberRef)
  /** The next try of a run waits for its turn; without `for` it does no longer. */
  | ({ readonly type: "retry-queued"; readonly at: number; readonly run: string; readonly for?: string } & MemberRef)
  /** Time passed; nothing else happened. Stalls, ages and ETAs move on. */
  | { readonly type: "tick"; readonly at: number };
