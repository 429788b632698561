import { ConnectError, ExpectedError } from "../../core/errors";
import type { ExistingQuery, ExistingWork, SetAside } from "../../core/existingWork";
import { Emitter, type Disposable, type Event } from "../../core/lifecycle";
import type { FollowEvent, FollowFrom, LogWriter } from "../../core/following";
import type {
  Clock,
  EnvFileReport,
  GpuReport,
  HostIdentity,
  HostOps,
  LaunchOutcome,
  LaunchRequest,
  OutputCheck,
  OutputReport,
  RunRecord,
  StopOutcome,
  StopRequest,
  ToolCandidate,
  HostHistory,
} from "../../core/ports";
import type { PreflightFacts, PreflightQuery } from "../../core/preflight";
import type { ProgramPlaces, ProgramQuery } from "../../core/programSearch";
import type { HostDefinition } from "../../core/session/definition";
import type { TokenReport } from "../../core/tokenCounts";
import { existingFiles, setFilesAside } from "./existing";
import { followFile } from "./followFile";
import { gpuSamples } from "./gpus";
import { preflightIn } from "./preflight";
import type { MemoryProcesses } from "./processes";
import { plainPath } from "./programs";
import { waiter } from "./waiter";

/** What a connection to the host in memory needs. */
export interface MemoryOpsOptions {
  readonly host: MemoryProcesses;
  readonly definition: HostDefinition;
  readonly home: string;
  readonly clock: Clock;
  readonly isTrusted: () => boolean;
}

/** The contract of a connected host, kept by the host in memory. */
export class MemoryOps implements HostOps {
  readonly identity: HostIdentity;
  readonly #options: MemoryOpsOptions;
  #definition: HostDefinition;
  readonly #closed = new AbortController();
  readonly #closing = new Emitter<string>();
  readonly onDidClose: Event<string> = this.#closing.event;

  constructor(options: MemoryOpsOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.identity = {
      machineId: "demo",
      hostname: "gpu8",
      bootId: options.host.bootId,
      user: "demo",
      uid: 1000,
      clockOffsetMs: 0,
      home: options.home,
      has: new Set(["nvidia-smi", "proc", "setsid"]),
    };
  }

  redefine(definition: HostDefinition): void {
    this.#definition = definition;
  }

  records(session: string): Promise<readonly RunRecord[]> {
    return this.#answer(() => this.#options.host.records(session));
  }

  async *watchRecords(session: string, signal: AbortSignal): AsyncIterable<readonly RunRecord[]> {
    let changed: RunRecord[] = [];
    const wait = waiter(this.#both(signal));
    const listening = this.#options.host.onDidChange((record) => {
      if (record.session === session) changed.push(record);
      wait.wake();
    });
    try {
      yield await this.records(session);
      while (!signal.aborted) {
        this.#checkOpen();
        const batch = changed;
        changed = [];
        if (batch.length > 0) yield batch;
        else await wait.next();
      }
    } finally {
      listening.dispose();
      wait.dispose();
    }
  }

  launch(request: LaunchRequest): Promise<LaunchOutcome> {
    return this.#answer(() => {
      if (!this.#options.isTrusted())
        throw new ConnectError("untrusted", "Nothing is started in Restricted Mode. Trust this workspace first.");
      return this.#options.host.launch(request, this.#definition.path);
    });
  }

  envFileNames(): Promise<EnvFileReport> {
    return this.#answer(() => ({ kind: "none" }));
  }

  async stop(session: string, run: string, request: StopRequest): Promise<StopOutcome> {
    this.#checkOpen();
    return this.#options.host.stop(session, run, request);
  }

  async *follow(path: string, from: FollowFrom, signal: AbortSignal): AsyncIterable<FollowEvent> {
    const { files } = this.#options.host;
    yield* followFile(files, files.resolve(path), from, this.#both(signal));
    if (!signal.aborted) this.#checkOpen();
  }

  read(path: string, offset: number, length: number): Promise<Uint8Array> {
    return this.#answer(() => {
      const { files } = this.#options.host;
      const file = files.get(files.resolve(path));
      if (file === undefined) throw new ExpectedError(`${path}: No such file or directory`);
      return file.read(offset, length);
    });
  }

  /** Nobody is ever away from a host in memory. */
  history(): Promise<HostHistory> {
    return this.#answer(() => ({ gpus: [], runs: [] }));
  }

  async *gpus(everySeconds: number, signal: AbortSignal): AsyncIterable<GpuReport> {
    const either = this.#both(signal);
    while (!signal.aborted) {
      this.#checkOpen();
      yield { kind: "samples", samples: gpuSamples(this.#options.clock.now(), this.#options.host.busy) };
      try {
        await this.#options.clock.sleep(everySeconds * 1000, either);
      } catch (error) {
        if (!either.aborted) throw error;
      }
    }
  }

  checkOutputs(check: OutputCheck, cwd: string | undefined): Promise<OutputReport> {
    return this.#answer(() => this.#options.host.files.check(check, cwd));
  }

  /** What the demo's stages write has no numbers of tokens in it. */
  tokenCounts(): Promise<TokenReport> {
    const none = { read: new Map(), counts: new Map(), lines: 0, without: 0, ended: 0 };
    return this.#answer(() => ({ ...none, restBytes: 0, shorter: false, tookMs: 0 }));
  }

  async findTools(names: readonly string[], cwd: string | undefined): Promise<readonly ToolCandidate[]> {
    this.#checkOpen();
    const { host, clock } = this.#options;
    const onPath = new Set([...plainPath, ...this.#definition.path.map((folder) => host.files.resolve(folder))]);
    const found: ToolCandidate[] = [];
    for (const [path, program] of host.programs) {
      const slash = path.lastIndexOf("/");
      const name = path.slice(slash + 1);
      if (!names.includes(name)) continue;
      let said = "";
      const write = (text: string): void => {
        said += text;
      };
      const folder = host.files.resolve(cwd ?? "~");
      const call = {
        args: ["--help"],
        cwd: folder,
        files: host.files,
        clock,
        speed: 1,
        write,
        signal: this.#closed.signal,
      };
      const works = (await program(call)) === 0;
      found.push({ name, path, onPath: onPath.has(path.slice(0, slash)), works, says: works ? "" : said });
    }
    return found;
  }

  logWriter(path: string): Promise<LogWriter> {
    return this.#answer(() => {
      const { host } = this.#options;
      const pid = host.writerOf(host.files.resolve(path))?.process?.pid;
      return pid === undefined ? { open: false } : { open: true, pid };
    });
  }

  existing(query: ExistingQuery): Promise<ExistingWork> {
    return this.#answer(() => existingFiles(this.#options.host.files, query, this.#options.clock.now()));
  }

  setAside(query: ExistingQuery, how: "move" | "copy"): Promise<readonly SetAside[]> {
    return this.#answer(() => setFilesAside(this.#options.host.files, query, how, this.#options.clock.now()));
  }

  giveUpRetries(_session: string, run: string, by: string): Promise<void> {
    return this.#answer(() => {
      this.#options.host.giveUpRetries(run, by);
    });
  }

  preflight(query: PreflightQuery): Promise<PreflightFacts> {
    const { host } = this.#options;
    return this.#answer(() => preflightIn(host, [...this.#definition.path, ...plainPath], query));
  }

  async findProgram({ names, cwd }: ProgramQuery): Promise<ProgramPlaces> {
    const tools = await this.findTools(names, cwd);
    const found = tools.find(({ onPath, name }) => onPath && name === names[0])?.path;
    const shell = { kind: "ssh", late: false, path: plainPath, ...(found === undefined ? {} : { found }) } as const;
    return { loginShell: "/bin/bash", shells: [shell], tools, startup: [], activated: [] };
  }

  /** The link breaks, as when a network goes away. */
  cut(cause: string): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#closing.fire(cause);
  }

  dispose(): void {
    this.#closing.dispose();
    this.#closed.abort();
  }

  #both(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closed.signal]);
  }

  #checkOpen(): void {
    if (this.#closed.signal.aborted) throw new ExpectedError("The connection to the demo host is closed.");
  }

  async #answer<T>(answer: () => T): Promise<T> {
    // As over a network, an answer never comes before the caller goes on.
    await Promise.resolve();
    this.#checkOpen();
    return answer();
  }
}

/** Keeps the connections of the demo, so that all of them end with it. */
export class MemoryConnections implements Disposable {
  readonly #open = new Set<MemoryOps>();

  add(ops: MemoryOps): MemoryOps {
    this.#open.add(ops);
    return ops;
  }

  dispose(): void {
    for (const ops of this.#open) ops.cut("the demo has ended");
    this.#open.clear();
  }
}
