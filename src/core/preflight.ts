/** The parts of a `LaunchRequest` that a launch looks at before it starts anything. */
export interface PreflightLaunch {
  readonly command: string;
  readonly cwd?: string;
  readonly log?: string;
  readonly gpus?: readonly number[] | "all";
  readonly env: Readonly<Record<string, string>>;
}

/** What is to be looked at before a launch. */
export interface PreflightQuery {
  /** The launch, as it would be sent. */
  readonly request: PreflightLaunch;
  /** Logs of other members of the stage whose launch meets the same but for its log. */
  readonly moreLogs?: readonly string[];
  /** Paths or globs of what the stage writes, for the space there. */
  readonly outputs: readonly string[];
  /** A TCP port that the command would listen on. */
  readonly port?: number;
  /**
   * Whether `setup`, `env` and `env_file` may take part. They run what the session file says, so only where that was
   * approved; else the program is looked for with `path` alone.
   */
  readonly withSetup: boolean;
}

/** Free space of one file system, as this user may use it. */
export interface FreeSpace {
  /** What of the stage is there. */
  readonly holds: readonly ("log" | "outputs")[];
  /** A folder on it. */
  readonly folder: string;
  readonly freeBytes: number;
  /** Absent where the file system does not count inodes. */
  readonly freeInodes?: number;
}

/** A disk quota of this user, by the `quota` tool. Only the limits that are set. */
export interface DiskQuota {
  readonly fileSystem: string;
  readonly usedBytes: number;
  readonly limitBytes?: number;
  readonly usedFiles: number;
  readonly limitFiles?: number;
}

/** One GPU of the host, with who holds its memory, in words: `python (pid 12 of ann, 40.0 GB)`. */
export interface GpuInUse {
  readonly index: number;
  readonly usedMib: number;
  readonly totalMib: number;
  readonly holders: readonly GpuMemoryHolder[];
}

/** A process that holds memory of a GPU. `user` and `name` are absent where the process cannot be seen. */
export interface GpuMemoryHolder {
  readonly pid: number;
  readonly mib?: number;
  readonly user?: string;
  readonly name?: string;
}

/** A log and whether it can be written. `own`: no `log` is named, so it is in the run's own folder. */
export interface LogPlace {
  readonly path: string;
  readonly state: "ok" | "own" | "no-folder" | "no-file" | "closed";
}

/** What the host found, in the environment that the launch would have. */
export interface PreflightFacts {
  readonly cwd: { readonly path: string; readonly state: "ok" | "missing" | "closed" };
  readonly log: LogPlace;
  /** Of the logs of other members, in the order in which they were asked for; absent where none were. */
  readonly moreLogs?: readonly LogPlace[];
  /** Whether runs can be recorded. */
  readonly stateWritable: boolean;
  readonly shell: "bash" | "sh" | "no-bash";
  /** Whether that shell is found with the PATH and environment that the job would have. */
  readonly shellStarts: boolean;
  /** Which line of `setup` failed, and how; `timeout` after 30 s. */
  readonly setupFailed?: { readonly line: number; readonly code: number | "timeout" };
  /** The program of the command. Absent where it cannot be read off, or `setup` failed. */
  readonly program?: {
    readonly word: string;
    /** Undefined where there is none. */
    readonly path?: string;
    /** Its first line names this interpreter, which is not there. */
    readonly missingInterpreter?: string;
  };
  readonly space: readonly FreeSpace[];
  readonly quotas: readonly DiskQuota[];
  /** Undefined where there is no nvidia-smi, or it does not answer. */
  readonly gpus?: readonly GpuInUse[];
  /** Whether somebody listens on the port, and which process where that can be seen. */
  readonly port?: { readonly number: number; readonly taken: boolean; readonly by?: string };
  readonly envFile:
    | { readonly kind: "none" }
    | { readonly kind: "read"; readonly names: readonly string[] }
    | { readonly kind: "refused"; readonly reason: string };
}

/** The part of `HostOps` that looks before a launch. */
export interface PreflightOps {
  /** Looks at all that a launch would meet; starts nothing and writes nothing. Takes seconds, 40 at most. */
  preflight(query: PreflightQuery): Promise<PreflightFacts>;
}
