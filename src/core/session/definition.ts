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
  /** Names of variables whose values are in no file of the workspace: the product's own safe store or `envFile`. */
  readonly secrets: readonly string[];
  /** A file on the host with lines `NAME=value`, readable by its owner alone. May begin with `~/`. */
  readonly envFile?: string;
  /** May begin with `~/`. */
  readonly stateDir: string;
  /** Whether many people share it, so that it is watched gently. Absent: it is found out there. */
  readonly loginNode?: boolean;
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

/**
 * What must be there for a stage to be finished, all of it; without it exit 0 reads "finished, unchecked". Looked at
 * on the host. Relative paths begin at the stage's `cwd`.
 */
export interface DoneWhen {
  /** Paths or globs that must exist. */
  readonly files: readonly string[];
  /** Sum of the sizes of `files`, or of the snapshot where there are none, bytes. */
  readonly minBytes?: number;
  /** A folder that must hold a whole Hugging Face snapshot: all shards of its index, no `*.incomplete`. */
  readonly hubSnapshot?: string;
  /** How many outputs there must be at least, counted as `outputs` of the stage says. */
  readonly outputsAtLeast?: number;
  /** A command line that must exit with 0, run as the stage's own command would be. */
  readonly command?: string;
  /** An extended regular expression (`grep -E`) that a line of the run's part of the log must fit. */
  readonly logLine?: string;
}

/** What a stage writes: counted for its progress, for `done_when`, and before anything is written over. */
export interface StageOutputs {
  /** Paths or globs. */
  readonly files: readonly string[];
  readonly count: "lines" | "files" | "bytes";
  /** Where the number of tokens stands in the JSON of a line, as `usage.completion_tokens`. */
  readonly tokenField?: string;
}

/** How often a failed stage is started again by itself. `max` 0: never. */
export interface Retries {
  readonly max: number;
  readonly on: "transient" | "any";
  /** Before the first retry; doubled each time. */
  readonly backoffSeconds: number;
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
  readonly outputs?: StageOutputs;
  /** Arguments that let the command go on with what is there; without them a restart over outputs asks first. */
  readonly resume?: { readonly args: string };
  readonly retries: Retries;
  /** What a launch of the pipeline does where the stage's GPUs are held by somebody else. */
  readonly whenBusy: "wait" | "start" | "refuse";
  readonly stop: { readonly signal: "TERM" | "INT" | "HUP" | "QUIT" | "USR1" | "USR2"; readonly graceSeconds: number };
  /** Names of the members: one, `0`, or one for each combination of the values of `matrix`. */
  readonly members: readonly string[];
  /** What members have of their own where there is a `matrix`; read by `ofMember`. */
  readonly memberParts?: ReadonlyMap<string, MemberParts>;
  /** Parts of the file that this version cannot do, in plain words; a launch is refused with them. */
  readonly unsupported: readonly string[];
  /** The stage's key in the session file. */
  readonly range: TextRange;
  /** The text of `command` in the session file, for edits. */
  readonly commandRange?: TextRange;
}

/** The parts of a stage that may hold the values of its `matrix`. */
export type MemberParts = Pick<
  StageDefinition,
  "command" | "cwd" | "log" | "env" | "gpus" | "progress" | "doneWhen" | "outputs" | "resume"
>;

/** The stage as one of its members runs it: its parts with the member's values filled in. */
export function ofMember(stage: StageDefinition, member: string): StageDefinition {
  const parts = stage.memberParts?.get(member);
  return parts ? { ...stage, ...parts } : stage;
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
