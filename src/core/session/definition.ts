/**
 * The session file as the rest of the product sees it: placeholders filled in, defaults applied, everything checked.
 * The file's own shape, its schema and its errors live in `sessionFile.ts`.
 */

/** Decides which palette command restarts a stage ("Restart Download") and its icon. */
export type StageKind = "download" | "inference" | "extraction" | "training" | "other";

/** Where a host is. `alias` goes through the user's SSH configuration. */
export type HostAddress =
  | { readonly kind: "alias"; readonly alias: string }
  | { readonly kind: "direct"; readonly user?: string; readonly host: string; readonly port?: number }
  | { readonly kind: "local" };

/** A host of a session. */
export interface HostDefinition {
  readonly name: string;
  readonly address: HostAddress;
  /** Folders that go before PATH of all that is started there. */
  readonly path: readonly string[];
  /** Lines run before each command. */
  readonly setup: readonly string[];
  readonly shell: "auto" | "bash" | "sh";
  readonly env: Readonly<Record<string, string>>;
  /** May begin with `~/`. */
  readonly stateDir: string;
}

/** How a stage's progress is read from its log where the formats we know are not enough. */
export interface ProgressHint {
  readonly total?: number;
  /** A regular expression with the named groups `done` and `total` (and `rate`). */
  readonly pattern?: string;
}

/** What lines of a log mean that only the writer of the session file knows. Goes before the product's own rules. */
export type LogRule =
  | {
      /** A regular expression; it is searched for in the first 300 characters of a line without its prefixes. */
      readonly pattern: string;
      /** Lines that fit are harmless, whatever the product's own rules say. */
      readonly ignore: true;
    }
  | {
      readonly pattern: string;
      readonly ignore: false;
      /** Name of the kind of failure: small letters, digits and `-`. */
      readonly kind: string;
      readonly severity: "error" | "warning";
      /** A retry cannot help. */
      readonly permanent: boolean;
      /** `{name}` stands for what the pattern's group of this name took. */
      readonly cause: string;
      readonly remedy: string;
    };

/** What must be there for a stage to be finished; without it exit 0 reads "finished, unchecked". */
export interface DoneWhen {
  /** Paths or globs that must exist. */
  readonly files: readonly string[];
  /** Sum of their sizes, bytes. */
  readonly minBytes?: number;
}

/** A half-open range of UTF-16 offsets in the session file's text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A step of the pipeline. */
export interface StageDefinition {
  readonly name: string;
  readonly kind: StageKind;
  /** A key of the session's `hosts`. */
  readonly host: string;
  /** Absent: the stage is only watched (its log), never launched. */
  readonly command?: string;
  readonly cwd?: string;
  readonly log?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names of stages and services. */
  readonly needs: readonly string[];
  readonly gpus?: "all" | readonly number[];
  readonly progress?: ProgressHint;
  /** The stage's own rules, then those of `defaults`. */
  readonly rules?: readonly LogRule[];
  readonly stalledAfterSeconds?: number;
  readonly doneWhen?: DoneWhen;
  readonly stop: { readonly signal: "TERM" | "INT" | "HUP" | "QUIT" | "USR1" | "USR2"; readonly graceSeconds: number };
  /** Names of the members; one, `0`, until `matrix` is supported. */
  readonly members: readonly string[];
  /** Parts of the file that this version cannot do, in plain words; a launch is refused with them. */
  readonly unsupported: readonly string[];
  /** The stage's key in the session file. */
  readonly range: TextRange;
  /** The text of `command` in the session file, for edits. */
  readonly commandRange?: TextRange;
}

/** Something that serves the stages and has no end of its own (a vLLM server). Watched; not started or stopped yet. */
export interface ServiceDefinition {
  readonly name: string;
  readonly host: string;
  readonly log?: string;
  readonly gpus?: "all" | readonly number[];
  readonly unsupported: readonly string[];
  readonly range: TextRange;
}

/** Everything a session file says. */
export interface SessionDefinition {
  readonly name: string;
  readonly hosts: ReadonlyMap<string, HostDefinition>;
  readonly services: ReadonlyMap<string, ServiceDefinition>;
  readonly stages: ReadonlyMap<string, StageDefinition>;
}

/** Something to say about a session file, at a place in its text. */
export interface SessionFileProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly range: TextRange;
  /** `unsupported`: valid, and refused until it is built. */
  readonly code: "syntax" | "schema" | "unknown-key" | "reference" | "placeholder" | "cycle" | "unsupported" | "unsafe";
}

/** A session file that was read. With errors the definition holds what could be understood, the rest still works. */
export interface ParsedSessionFile {
  readonly definition: SessionDefinition | undefined;
  readonly problems: readonly SessionFileProblem[];
}
