import type { RestartOps } from "./existingWork";
import type { FollowEvent, FollowFrom, LogPosition, LogWriter } from "./following";
import type { Disposable, Event } from "./lifecycle";
import type { PreflightOps } from "./preflight";
import type { SearchOps } from "./programSearch";
import type { TokenOps } from "./tokenCounts";
import type { HostDefinition } from "./session/definition";

/** Time, injected so that back-off, ETA and birth checks are tested without waiting. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The log channel. Never a secret or a whole environment in it. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string, error?: unknown): void;
}

/** How a process or a channel ended. `unknown`: the link broke, or nobody recorded it; never to be read as success. */
export type ExitStatus =
  | { readonly kind: "code"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "unknown" };

/** One command on a host. Both outputs must be read, else the channel stalls. */
export interface Channel {
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the bytes are taken; rejects when the channel is closed. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the command's standard input. */
  end(): void;
  /** Settles when the channel has closed, after the last byte of both outputs. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** Ends the channel now. What the command started must end by itself: scripts watch their standard input. */
  close(): void;
}

/** A way to run commands on one host: ssh2, the system's ssh, or this machine. */
export interface Transport extends Disposable {
  /** For messages: `gpu8`, `me@10.0.0.5:2222`, `this machine`. */
  readonly label: string;
  /**
   * Runs `command` through the login shell of the host. Opening takes at most 10 s, then the whole link is given up.
   * Throws a ConnectError (`untrusted`) where the workspace is not trusted, whoever calls.
   */
  open(command: string, signal?: AbortSignal): Promise<Channel>;
  /** Fires once when the link is gone, with the cause in plain words; not after `dispose`. */
  readonly onDidClose: Event<string>;
}

/** Who a host is, so that records in a shared home are judged only where they were written. */
export interface HostIdentity {
  /** /etc/machine-id, or what stands in for it. */
  readonly machineId: string;
  readonly hostname: string;
  /** /proc/sys/kernel/random/boot_id and the start of PID 1, so that a restarted container counts as a reboot. */
  readonly bootId: string;
  readonly user: string;
  readonly uid: number;
  /** Host clock minus our clock in ms, measured at connect (half a round trip is the error). */
  readonly clockOffsetMs: number;
  readonly home: string;
  /** What is there: `bash`, `setsid`, `nvidia-smi`, `gnu-tail`, `proc`; `login-node`, see `isLoginNode`. */
  readonly has: ReadonlySet<string>;
}

/** A process that can be told from a later one with the same number. */
export interface RemoteProcess {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks after boot. */
  readonly startTicks: string;
  readonly bootId: string;
  readonly uid: number;
}

/**
 * What the host can say about a run right now. `gone`: recorded as running, but its process is not there and no end
 * was written. `rebooted`: the host (or its container) started anew since. `elsewhere`: another host wrote it into a
 * shared home, so it cannot be judged from here. `deleted`: the record itself was removed while the run went on.
 */
export type RunLiveness = "running" | "ended" | "gone" | "rebooted" | "elsewhere" | "deleted";

/**
 * How many processes the kernel ended for lack of memory while a run went on: of its own control group (container, Slurm
 * job, login), and of the whole machine. Absent is what could not be read.
 */
export interface OomKills {
  readonly group?: number;
  readonly host?: number;
}

/** How a run ended. */
export interface RunEnd {
  readonly exit: ExitStatus;
  readonly at: number;
  /** The size of its log then, bytes: what the job has written ends there. Absent in records of older versions. */
  readonly logSize?: number;
  readonly oomKills?: OomKills;
}

/** One start of one member of a stage, as the host remembers it. Times are the host's own clock, ms since 1970. */
export interface RunRecord {
  readonly run: string;
  readonly session: string;
  readonly stage: string;
  readonly member: string;
  /** Version of the record's layout; a newer one than ours is shown and never written to. */
  readonly version: number;
  readonly recordedOn: { readonly machineId: string; readonly hostname: string };
  readonly command: string;
  readonly cwd: string;
  readonly shell: string;
  /** The binary that the first word of the command meant, resolved in the job's own environment; `""` if none. */
  readonly binary: string;
  readonly launchedFrom: string;
  readonly startedAt: number;
  readonly process?: RemoteProcess;
  readonly log: { readonly path: string; readonly start: LogPosition };
  readonly end?: RunEnd;
  readonly stopRequestedBy?: string;
  /** Who said that it is not to be started again by itself. */
  readonly retryStoppedBy?: string;
  /** The line of the host's `setup` that failed, so that the command never ran. */
  readonly setupFailed?: string;
  /** The lines of `setup` that were asked for. */
  readonly setup?: readonly string[];
  /**
   * What the job got after `setup`: each variable's name and a hash of its value, secrets included. Absent until `setup`
   * is through, and in records of older versions. Hashes of one `environmentSalt` can be compared; `""` could not be made.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** The salt of `environment`: one a stage and host, so that its runs can be compared. */
  readonly environmentSalt?: string;
  /** PATH as the job got it. */
  readonly effectivePath?: string;
  /** The commit of the working folder at the start, if it is a git repository. `dirty` is absent where it took too long to find out. */
  readonly git?: { readonly commit: string; readonly dirty?: boolean };
  readonly liveness: RunLiveness;
}

/** All that is needed to start a stage's member. Every text is used as it is: placeholders are filled in before. */
export interface LaunchRequest {
  readonly session: string;
  readonly stage: string;
  readonly member: string;
  readonly command: string;
  /** Where to run; the home folder when absent. */
  readonly cwd?: string;
  /** Appended to; the run's own folder when absent. Relative to `cwd`. */
  readonly log?: string;
  /** Indices as nvidia-smi counts them. Absent: the environment is left alone. */
  readonly gpus?: readonly number[] | "all";
  readonly env: Readonly<Record<string, string>>;
  /** Who asks, for the record: `user@laptop`; and why, as `launchNote.ts` words it. */
  readonly launchedFrom: string;
  /** The failed run that this is a retry of: nothing starts if its retries were given up or a later run began. */
  readonly after?: string;
  /** The member's newest run as the asker knows it, `""` for none: nothing starts if there is a later one. */
  readonly newest?: string;
  /** What the host's flight recorder counts of what the run writes, with `watching`. */
  readonly outputs?: OutputCheck;
}

/** Values of secrets by variable name. A map, since those do not show what they hold where an object is written out. */
export type SecretValues = ReadonlyMap<string, string>;

/** What the `env_file` of a host gives. Names only: values never leave the host. */
export type EnvFileReport =
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly names: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string };

/** What came of a launch. `refused` means that nothing was started. */
export type LaunchOutcome =
  | { readonly kind: "launched"; readonly record: RunRecord }
  | { readonly kind: "already-running"; readonly record: RunRecord }
  /** A retry that is no longer due, or a later run than was known; see `LaunchRequest.after` and `newest`. */
  | { readonly kind: "superseded" }
  | { readonly kind: "refused"; readonly reason: string };

/** How to end a run: the signal, and how long to wait before KILL. */
export interface StopRequest {
  readonly signal: "TERM" | "INT" | "HUP" | "QUIT" | "USR1" | "USR2";
  readonly graceSeconds: number;
  readonly requestedBy: string;
}

/**
 * `survivors`: processes of the run that are still there (or hold GPU memory), each in words; then it is not stopped.
 * `others`: what was left alone though it is near, in words: other users' processes with the run's mark, or on its GPUs.
 */
export type StopOutcome =
  | { readonly kind: "stopped"; readonly forced: boolean; readonly others?: readonly string[] }
  | { readonly kind: "not-running" }
  | { readonly kind: "not-stopped"; readonly survivors: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string };

/** One reading of one GPU. A number the driver does not give is absent, never 0. */
export interface GpuSample {
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  /** Host clock, ms since 1970. */
  readonly at: number;
  readonly utilisation?: number; // per cent
  readonly memoryUsedMib?: number;
  readonly memoryTotalMib?: number;
  readonly temperatureC?: number;
  readonly powerW?: number;
  readonly powerLimitW?: number;
}

/** What watching has cost the host since this connection began: CPU time of our processes, and bytes they have sent. */
export interface HostCost {
  readonly cpuMs: number;
  readonly bytes: number;
}

/** GPU samples come in rounds: all GPUs of one moment. `unavailable` says why there are none; it is a state, not an error. */
export type GpuReport =
  | { readonly kind: "samples"; readonly samples: readonly GpuSample[] }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * What is looked at of a stage's result. All given parts must hold for it to be `ok`. Relative paths begin at the folder
 * that is given beside it; `~/` is the home folder.
 */
export interface OutputCheck {
  /** Paths or shell globs, all of which must match something. */
  readonly files: readonly string[];
  /** Least sum of the sizes of `files` (of the snapshot where there are none), bytes; folders count what is in them. */
  readonly minBytes?: number;
  /** A folder with a Hugging Face snapshot: local, of the hub's cache (`models--…`), or one revision of that. */
  readonly hubSnapshot?: string;
  /** What the stage writes, counted into `count` of the report. */
  readonly outputs?: { readonly files: readonly string[]; readonly count: "lines" | "files" | "bytes" };
  /** Least count of `outputs`. */
  readonly outputsAtLeast?: number;
  /** A command line that must exit with 0 within a minute. */
  readonly command?: string;
  /** Environment of `command`, over the host's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** An extended regular expression that a line of `log` must fit. */
  readonly logLine?: string;
  /** A log, and where the part begins that counts. */
  readonly log?: { readonly path: string; readonly start: LogPosition };
  /**
   * The stage still writes: what is not whole yet counts as well (`*.incomplete`, `*.part`), lines are counted only in
   * what was added, and an answer that is at most so old will do. The command and the log are left alone.
   */
  readonly watching?: { readonly maxAgeSeconds: number };
  /** No answer of a few seconds ago will do: somebody may have mended something since. */
  readonly fresh?: true;
  /** No answer will do that was looked for before this (host clock, ms since 1970). */
  readonly since?: number;
}

/** Result of an OutputCheck. A file that is found twice counts once; sizes are what `ls -l` shows. */
export interface OutputReport {
  readonly ok: boolean;
  /** Of `files` and the snapshot, or of `outputs` where neither is looked at. */
  readonly bytes: number;
  readonly files: number;
  /** What is missing, or what is there, in words that go on after "but ". */
  readonly detail: string;
  /** Of `outputs`, in its own unit. */
  readonly count?: number;
  /** Bytes that there will be, where the snapshot's index says so. */
  readonly totalBytes?: number;
  /** When the newest file was last written, host clock, ms since 1970; full seconds. */
  readonly newestAt?: number;
  /** How long the host looked, ms. */
  readonly tookMs?: number;
  /** Why it could not be looked at; then `ok` is false and says nothing. */
  readonly unchecked?: string;
}

/** A place where a program was found. `onPath`: in the very PATH a launch would have. */
export interface ToolCandidate {
  readonly name: string;
  readonly path: string;
  readonly onPath: boolean;
  /** Whether asking it for help succeeded (within 10 s): a stub that only says it was renamed does not. */
  readonly works: boolean;
  /** Its last words when it does not. */
  readonly says: string;
}

/** How large a log was at a moment. Between two marks of a file it has not been smaller than at the first. */
export interface LogMark {
  /** ms since 1970, full seconds. */
  readonly at: number;
  readonly inode: string;
  readonly size: number;
}

/** What a run had written at a moment. */
export interface OutputMark {
  /** ms since 1970, full seconds. */
  readonly at: number;
  readonly kind: "lines" | "files" | "bytes";
  /** Of `kind`. */
  readonly count: number;
  readonly bytes: number;
  /** When the newest of it was written, ms since 1970; absent where there is nothing. */
  readonly newestAt?: number;
  /** How many bytes there will be, where the outputs themselves tell. */
  readonly totalBytes?: number;
}

/** What was kept of one run. */
export interface RunHistory {
  readonly run: string;
  /** Of what the launch named as `outputs`; oldest first. */
  readonly outputs: readonly OutputMark[];
  /** Oldest first; before each growth there is a mark of the last moment at which it had not yet grown. */
  readonly marks: readonly LogMark[];
}

/** What the flight recorder of a host has kept. Times are the host's clock. */
export interface HostHistory {
  /** Oldest first. */
  readonly gpus: readonly GpuSample[];
  readonly runs: readonly RunHistory[];
}

/**
 * What the product can do on a connected host. Made from the host scripts over any Transport, or in memory for the
 * demo. Every method throws ExpectedError with plain words when the host refuses, and any error when the link breaks.
 */
export interface HostOps extends Disposable, RestartOps, PreflightOps, SearchOps, TokenOps {
  readonly identity: HostIdentity;
  /** Fires once when the link is gone, with the cause; not after `dispose`. */
  readonly onDidClose: Event<string>;
  /** Resolves when the host has answered; absent where there is no link that could be gone. */
  ping?(): Promise<void>;
  /** What is started and asked from now on goes by this; but its address and state folder, by the next connection. */
  redefine(definition: HostDefinition): void;
  /** All records of a session that can be read, the newest run of each member last. */
  records(session: string): Promise<readonly RunRecord[]>;
  /** The records once, then again each record that changes (started, ended, gone), within 1 s of the change. */
  watchRecords(session: string, signal: AbortSignal): AsyncIterable<readonly RunRecord[]>;
  /** @param secrets values for `secrets` of the host that its `env_file` does not give; a launch that lacks one is refused. */
  launch(request: LaunchRequest, secrets?: SecretValues): Promise<LaunchOutcome>;
  /** Which variables the host's `env_file` gives, as a launch would read it now. */
  envFileNames(): Promise<EnvFileReport>;
  stop(session: string, run: string, request: StopRequest): Promise<StopOutcome>;
  /** Ends only when aborted or when the link breaks (then it throws). `~/` is the home folder. */
  follow(path: string, from: FollowFrom, signal: AbortSignal): AsyncIterable<FollowEvent>;
  /** A part of a file. Fewer bytes than asked for mean its end. */
  read(path: string, offset: number, length: number): Promise<Uint8Array>;
  /**
   * What its flight recorder (docs/host.md) has kept since a moment; nothing where none ever ran. At most 4 MB cross the
   * wire, packed: of a longer time each second (third …) moment.
   * @param since host clock, ms since 1970
   */
  history(since: number): Promise<HostHistory>;
  gpus(everySeconds: number, signal: AbortSignal): AsyncIterable<GpuReport>;
  /**
   * Looks at what a stage wrote. Those who ask for the same at the same time get the same answer: the host looks once,
   * and never twice at the same time.
   */
  checkOutputs(check: OutputCheck, cwd: string | undefined): Promise<OutputReport>;
  /** Looks for programs by these names: PATH of a launch, login and interactive shells, virtualenvs, conda, uv. */
  findTools(names: readonly string[], cwd: string | undefined): Promise<readonly ToolCandidate[]>;
  /** What this connection has cost so far; undefined where the host cannot tell. */
  cost?(): Promise<HostCost | undefined>;
  /** @param known a process that had it open when it was last asked; looked at first, since a search over all is dear */
  logWriter(path: string, known?: number): Promise<LogWriter>;
}

/** Makes connections. Injected into the monitor, so that the demo and the tests bring their own. */
export interface HostConnector {
  /**
   * @param interactive whether a person may be asked (host key, password); an automatic reconnect never asks.
   * @throws ConnectError
   */
  connect(host: HostDefinition, interactive: boolean, signal: AbortSignal): Promise<HostOps>;
}
