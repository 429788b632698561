/** A program that is searched for on a host. */
export interface ProgramQuery {
  /** The name that was asked for, then those it goes by today. */
  readonly names: readonly string[];
  readonly cwd?: string;
  /** Whether `setup` and `env` of the host may be run, since what the session file says was approved. */
  readonly withSetup: boolean;
}

/**
 * PATH of one kind of shell. `ssh`: what a command over SSH gets, and with `path` before it a launch; `systemd`: units of
 * the user.
 */
export type ShellPath =
  | {
      readonly kind: "ssh" | "login" | "interactive" | "systemd";
      readonly late: false;
      readonly path: readonly string[];
      /** The file that the program's name means there. */
      readonly found?: string;
    }
  /** Its start-up took longer than 5 s. */
  | { readonly kind: "ssh" | "login" | "interactive" | "systemd"; readonly late: true };

/** A line of a start-up file that names a folder. */
export interface StartupLine {
  readonly folder: string;
  readonly file: string;
  readonly line: number;
}

/** Where a program is, and which shells look there. */
export interface ProgramPlaces {
  readonly loginShell: string;
  /** Those that there are; no systemd where it does not run. */
  readonly shells: readonly ShellPath[];
  readonly tools: readonly FoundTool[];
  readonly startup: readonly StartupLine[];
  /** Folders of `tools` that have an `activate` of their own. */
  readonly activated: readonly string[];
}

/** A place where the program is; the same as `ToolCandidate`. */
export interface FoundTool {
  readonly name: string;
  readonly path: string;
  readonly onPath: boolean;
  readonly works: boolean;
  readonly says: string;
}

/** The part of `HostOps` that searches for programs. */
export interface SearchOps {
  /** Where a program is, over kinds of shells and environments. Looks only; takes 30 s at most. */
  findProgram(query: ProgramQuery): Promise<ProgramPlaces>;
}
