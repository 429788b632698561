import { Emitter } from "../../core/lifecycle";
import { messageOf } from "../../core/errors";
import type { ExitStatus, LaunchOutcome, LaunchRequest, RunRecord, StopOutcome, StopRequest } from "../../core/ports";
import type { DemoHostOptions } from "../demoHost";
import { parseCommand, type CommandLine } from "./commandLine";
import { MemoryFiles } from "./files";
import { plainPath, programsIn, type Program } from "./programs";

interface Running {
  readonly killed: AbortController;
  readonly ended: Promise<void>;
}

/** A command whose program was looked for; `""` if there is none. */
interface Resolved extends CommandLine {
  readonly binary: string;
}

/** The host in memory: its files, and its runs as the run records of a real host would tell of them. */
export class MemoryProcesses {
  readonly files: MemoryFiles;
  readonly bootId = "demo-boot";
  readonly #options: DemoHostOptions;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #records = new Map<string, RunRecord>();
  readonly #running = new Map<string, Running>();
  readonly #changed = new Emitter<RunRecord>();
  #pids = 4100;

  /** Fires with each record that changed. */
  readonly onDidChange = this.#changed.event;

  constructor(options: DemoHostOptions) {
    this.#options = options;
    this.files = new MemoryFiles(options.places.home, options.clock);
    this.#programs = programsIn(options.places);
  }

  records(session: string): readonly RunRecord[] {
    return [...this.#records.values()].filter((record) => record.session === session);
  }

  get programs(): ReadonlyMap<string, Program> {
    return this.#programs;
  }

  /** Whether some run keeps the GPUs at work. */
  get busy(): boolean {
    return [...this.#running.keys()].some((run) => this.#records.get(run)?.command.includes("python") === true);
  }

  /** The process that has the log open, if any. */
  writerOf(path: string): RunRecord | undefined {
    return [...this.#records.values()].find((record) => record.end === undefined && record.log.path === path);
  }

  launch(request: LaunchRequest, path: readonly string[]): LaunchOutcome {
    const active = this.records(request.session).find(
      (record) => record.stage === request.stage && record.member === request.member && record.end === undefined,
    );
    if (active !== undefined) return { kind: "already-running", record: active };
    if (request.after !== undefined && !this.#isDue(request, request.after)) return { kind: "superseded" };
    if (request.newest !== undefined && this.#hasLater(request, this.#records.get(request.newest)?.startedAt ?? -1))
      return { kind: "superseded" };
    const line = parseCommand(request.command);
    if (line === undefined)
      return { kind: "refused", reason: "the demo host in memory has no shell: it plays single commands only" };
    const binary = this.#find(line.program, path, request.cwd);
    const record = this.#recordOf(request, line.nohup ? "/usr/bin/nohup" : binary);
    this.#records.set(record.run, record);
    const killed = new AbortController();
    this.#running.set(record.run, { killed, ended: this.#run(record, { ...line, binary }, killed.signal) });
    this.#changed.fire(record);
    return { kind: "launched", record };
  }

  giveUpRetries(run: string, by: string): void {
    const record = this.#records.get(run);
    if (record) this.#update({ ...record, retryStoppedBy: by });
  }

  async stop(session: string, run: string, request: StopRequest): Promise<StopOutcome> {
    const record = this.#records.get(run);
    if (record?.session !== session) return { kind: "refused", reason: "no such run" };
    const running = this.#running.get(run);
    if (running === undefined) return { kind: "not-running" };
    this.#update({ ...record, stopRequestedBy: request.requestedBy });
    running.killed.abort(request.signal);
    await running.ended;
    return { kind: "stopped", forced: false };
  }

  dispose(): void {
    for (const { killed } of this.#running.values()) killed.abort("KILL");
    this.#changed.dispose();
  }

  /** As launch.sh decides: nobody gave the retry up, and nothing was started since. */
  #isDue(request: LaunchRequest, after: string): boolean {
    const failed = this.#records.get(after);
    if (failed === undefined || failed.retryStoppedBy !== undefined) return false;
    return !this.#hasLater(request, failed.startedAt);
  }

  /** Whether a run of the member began after that. */
  #hasLater({ session, stage, member }: LaunchRequest, startedAt: number): boolean {
    return this.records(session).some(
      (one) => one.stage === stage && one.member === member && one.startedAt > startedAt,
    );
  }

  #find(program: string, path: readonly string[], cwd: string | undefined): string {
    const places = program.includes("/")
      ? [this.files.resolve(program, cwd)]
      : [...path.map((folder) => this.files.resolve(folder)), ...plainPath].map((folder) => `${folder}/${program}`);
    return places.find((place) => this.#programs.has(place)) ?? "";
  }

  #recordOf(request: LaunchRequest, binary: string): RunRecord {
    const at = this.#options.clock.now();
    const cwd = this.files.resolve(request.cwd ?? "~");
    this.#pids += 1;
    const run = `${new Date(at).toISOString().replace(/[-:.]/g, "")}-${this.#pids}`;
    const own = `~/.local/state/ml-session/v1/demo/${request.session}/${request.stage}/${request.member}/${run}/log`;
    const path = this.files.resolve(request.log ?? own, cwd);
    const log = this.files.make(path);
    return {
      run,
      session: request.session,
      stage: request.stage,
      member: request.member,
      version: 1,
      recordedOn: { machineId: "demo", hostname: "gpu8" },
      command: request.command,
      cwd,
      shell: "sh",
      binary,
      launchedFrom: request.launchedFrom,
      startedAt: at,
      process: { pid: this.#pids, startTicks: String(this.#pids * 100), bootId: this.bootId, uid: 1000 },
      log: { path, start: { ...log.start, offset: log.size } },
      liveness: "running",
    };
  }

  async #run(record: RunRecord, line: Resolved, signal: AbortSignal): Promise<void> {
    const exit = await this.#play(record, line, signal);
    this.#running.delete(record.run);
    const latest = this.#records.get(record.run) ?? record;
    this.#update({ ...latest, liveness: "ended", end: { exit, at: this.#options.clock.now() } });
  }

  async #play(record: RunRecord, { nohup, program, args, binary }: Resolved, signal: AbortSignal): Promise<ExitStatus> {
    const { clock, speed, logger } = this.#options;
    const write = (text: string): void => {
      this.files.append(record.log.path, text);
    };
    try {
      // A process takes a moment to start; and the launch must have returned before its end is told.
      await clock.sleep(40, signal);
      const play = this.#programs.get(binary);
      if (play === undefined) {
        write(notFound(program, nohup));
        return { kind: "code", code: 127 };
      }
      const call = { args, cwd: record.cwd, files: this.files, clock, speed, write, signal };
      return { kind: "code", code: await play(call) };
    } catch (error) {
      if (signal.aborted) return { kind: "signal", signal: `SIG${String(signal.reason)}` };
      logger.error(`The demo could not play ${record.command}: ${messageOf(error)}`, error);
      return { kind: "unknown" };
    }
  }

  #update(record: RunRecord): void {
    this.#records.set(record.run, record);
    this.#changed.fire(record);
  }
}

function notFound(program: string, nohup: boolean): string {
  if (nohup) return `nohup: failed to run command '${program}': No such file or directory\n`;
  return program.includes("/") ? `sh: 1: ${program}: No such file or directory\n` : `sh: 1: ${program}: not found\n`;
}
