/** What is on the host already when a stage is to be started again; see `RestartOps`. Times are the host's clock. */

/** What a stage writes, and where to look for it. */
export interface ExistingQuery {
  readonly session: string;
  readonly stage: string;
  readonly member: string;
  /** The home folder when absent. */
  readonly cwd?: string;
  /** Paths or globs, relative to `cwd`. */
  readonly outputs: readonly string[];
  /** Whether the outputs are texts whose lines are worth counting. */
  readonly countLines: boolean;
  /** Whether `cwd` may hold checkpoints, besides the folders of the outputs. */
  readonly checkpointsInCwd: boolean;
}

/** A file or folder, with the time of its last change, ms since 1970. */
export interface FoundFile {
  readonly path: string;
  readonly at: number;
}

/** What one pattern of the outputs matches: something. */
export interface ExistingOutput {
  readonly pattern: string;
  readonly files: number;
  readonly bytes: number;
  /** Whole lines; absent where they were not asked for or were too many to count in a few seconds. */
  readonly lines?: number;
  /** The file that changed last; absent where only empty folders match. */
  readonly newest?: FoundFile;
}

/** A living process that carries the mark of a run of the member. */
export interface MarkedProcess {
  readonly run: string;
  readonly pid: number;
  readonly name: string;
  /** Whether the run goes on; else the process is left over from it. */
  readonly live: boolean;
}

/** A process that holds GPU memory, as far as the driver tells and the process can be seen. */
export interface GpuHolder {
  readonly pid: number;
  readonly name: string;
  readonly user: string;
  /** Whether the user is the one of the connection. */
  readonly own: boolean;
  /** Index as nvidia-smi counts them. */
  readonly gpu: number;
  readonly memoryMib?: number;
  /** The run whose mark it carries. */
  readonly run?: string;
}

/** What a restart of a member would meet. */
export interface ExistingWork {
  /** The host's clock when it looked. */
  readonly now: number;
  /** Of the asked patterns those that match something. */
  readonly outputs: readonly ExistingOutput[];
  /** The newest thing that looks like a checkpoint, below the folders of the outputs (or of `cwd`, since the member's first run). */
  readonly checkpoint?: FoundFile;
  readonly processes: readonly MarkedProcess[];
  readonly gpuHolders: readonly GpuHolder[];
}

/** One thing that was renamed to make room, or copied so that it is kept. */
export interface SetAside {
  readonly from: string;
  readonly to: string;
}

/** The part of `HostOps` that starting again needs. */
export interface RestartOps {
  /** What a restart of a member would meet: outputs, checkpoints, processes. Takes seconds at most; changes nothing. */
  existing(query: ExistingQuery): Promise<ExistingWork>;
  /**
   * Renames or copies all that the outputs match to `NAME.before-TIME` in the same folder, never over anything. Throws
   * ExpectedError, with what was done before, when it cannot be or a run of the member is alive.
   */
  setAside(query: ExistingQuery, how: "move" | "copy"): Promise<readonly SetAside[]>;
  /** Writes into a run's record that it is not to be started again by itself. */
  giveUpRetries(session: string, run: string, by: string): Promise<void>;
}
