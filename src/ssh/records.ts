import { ExpectedError } from "../core/errors";
import type { LogPosition } from "../core/following";
import type { HostIdentity, Logger, OomKills, RemoteProcess, RunEnd, RunLiveness, RunRecord } from "../core/ports";

/** The folder of a host's records: machine-id and host name, since homes are shared and machine-ids are cloned. */
export function hostFolder(identity: Pick<HostIdentity, "machineId" | "hostname">): string {
  return `${identity.machineId}-${identity.hostname}`.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 120);
}

/** Whether a name may be part of a path: 1 to 64 of letters, digits, dot, underscore and dash; not `.` or `..`. */
export function isName(name: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(name) && name !== "." && name !== "..";
}

/** The folder of a name. Those with a dot in front would be missed by the shell's globs; `%` is in no name. */
export function nameFolder(name: string): string {
  return name.startsWith(".") ? `%${name}` : name;
}

/** Fields of one record as the host printed them, by file name. */
type Fields = Map<string, string>;

/** Twenty runs of each of some hundred members, with commands of some kilobytes, are less, characters. */
const maxBatch = 32 << 20;

/** What one batch of `print_all` or `print_run` said. Feed it line by line; `take` gives the records and starts anew. */
export class RecordReader {
  readonly #identity: HostIdentity;
  readonly #logger: Logger;
  #host = "";
  #fields = new Map<string, Fields>();
  #hosts = new Map<string, string>();
  #live = new Map<string, boolean>();
  /** What was said of each run of this host, by its path, for when its folder is deleted. */
  readonly #known = new Map<string, RunRecord>();
  #deleted: RunRecord[] = [];
  #size = 0;

  constructor(identity: HostIdentity, logger: Logger) {
    this.#identity = identity;
    this.#logger = logger;
  }

  /** @throws ExpectedError when the records of one batch are larger than any could be */
  line(line: string): void {
    this.#size += line.length;
    if (this.#size > maxBatch) throw new ExpectedError("The run records on the host are too large to be read.");
    if (line.startsWith("@ ")) this.#mark(line.split(" "));
    else this.#field(line);
  }

  #mark([, word, path, value]: readonly string[]): void {
    if (word === "host") this.#host = path ?? "";
    if (word === "live" && path !== undefined) this.#live.set(path, value === "1");
    const deleted = word === "deleted" && path !== undefined ? this.#known.get(path) : undefined;
    if (deleted) this.#deleted.push({ ...deleted, liveness: "deleted" });
  }

  #field(line: string): void {
    // Files of a stage or member lie above the folders of runs and are no fields.
    const match = /^(?:\.\/)*(?!\.\/)([^/:]+\/[^/:]+\/[^/:]+)\/([^/:]+):(.*)$/s.exec(line);
    const [, path, field, text] = match ?? [];
    if (path === undefined || field === undefined || text === undefined) return;
    const key = `${this.#host}/${path}`;
    const fields: Fields = this.#fields.get(key) ?? new Map<string, string>();
    this.#fields.set(key, fields);
    this.#hosts.set(key, this.#host);
    const before = fields.get(field);
    fields.set(field, before === undefined ? text : `${before}\n${text}`);
  }

  /** The records of the batch, the newest last. A record that cannot be understood is left out with a warning. */
  take(): RunRecord[] {
    const records = this.#deleted;
    this.#deleted = [];
    for (const [key, fields] of this.#fields) {
      const here = this.#hosts.get(key) === hostFolder(this.#identity);
      const path = key.slice(key.indexOf("/") + 1);
      const live = this.#live.get(path) ?? false;
      const record = recordOf(fields, this.#identity, { here, live });
      if (record === undefined) this.#logger.warn(`The run record ${key} is damaged or half written; it is left out.`);
      else records.push(record);
      if (record && here) this.#known.set(path, record);
    }
    this.#size = 0;
    this.#fields = new Map();
    this.#hosts = new Map();
    this.#live = new Map();
    return records.sort((a, b) => a.startedAt - b.startedAt || (a.run < b.run ? -1 : 1));
  }
}

function recordOf(
  fields: Fields,
  identity: HostIdentity,
  seen: { readonly here: boolean; readonly live: boolean },
): RunRecord | undefined {
  const text = (name: string): string => fields.get(name) ?? "";
  const names = [text("session"), text("stage"), text("member"), text("run")];
  const version = wholeNumber(text("version"));
  const startedAt = wholeNumber(text("started"));
  const log = fields.get("log");
  const start = positionOf(text("log-start"));
  if (!names.every(isName) || version === undefined || startedAt === undefined) return undefined;
  if (log === undefined || start === undefined || !fields.has("command")) return undefined;
  const process = processOf(text("process"));
  const end = endOf(text("end"), startedAt);
  const [session = "", stage = "", member = "", run = ""] = names;
  return {
    run,
    session,
    stage,
    member,
    version,
    recordedOn: { machineId: text("machine"), hostname: text("hostname") },
    command: text("command"),
    cwd: text("cwd"),
    shell: text("shell"),
    binary: text("binary"),
    launchedFrom: text("from"),
    startedAt,
    ...(process === undefined ? {} : { process }),
    log: { path: log, start },
    ...(end === undefined ? {} : { end }),
    ...stopsOf(fields),
    ...setupOf(text("setup-failed")),
    ...circumstancesOf(fields),
    liveness: livenessOf(end !== undefined, seen, process, identity),
  };
}

/** Who ended the run, and who said that it is not to be started again by itself. */
function stopsOf(fields: Fields): Pick<RunRecord, "stopRequestedBy" | "retryStoppedBy"> {
  const stopRequestedBy = fields.get("stop");
  const retryStoppedBy = fields.get("retry-stopped");
  return {
    ...(stopRequestedBy === undefined ? {} : { stopRequestedBy }),
    ...(retryStoppedBy === undefined ? {} : { retryStoppedBy }),
  };
}

/** What the job got, as far as the record says it: older versions wrote less. */
function circumstancesOf(
  fields: Fields,
): Pick<RunRecord, "setup" | "environment" | "environmentSalt" | "effectivePath" | "git"> {
  const setup: string[] = [];
  for (let line = fields.get("setup.0"); line !== undefined; line = fields.get(`setup.${setup.length}`))
    setup.push(line);
  const environment = fields.get("environment");
  const salt = fields.get("salt");
  const path = fields.get("effective-path");
  const [, commit, tree] = /^([0-9a-f]{40,64}) (clean|dirty|unknown)$/.exec(fields.get("git") ?? "") ?? [];
  return {
    ...(setup.length === 0 ? {} : { setup }),
    ...(environment === undefined || salt === undefined
      ? {}
      : { environment: hashesOf(environment), environmentSalt: salt }),
    ...(path === undefined ? {} : { effectivePath: path }),
    ...(commit === undefined ? {} : { git: { commit, ...(tree === "unknown" ? {} : { dirty: tree === "dirty" }) } }),
  };
}

/** `NAME HASH` a line; `-` where the host could make none. */
function hashesOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split("\n").flatMap((line) => {
    const [, name, hash] = /^(\w+) ([0-9a-f]{16}|-)$/.exec(line) ?? [];
    return name === undefined || hash === undefined ? [] : [[name, hash === "-" ? "" : hash] as const];
  });
  return Object.fromEntries(pairs);
}

/** `CODE LINE`, as job.sh writes it. */
function setupOf(text: string): Pick<RunRecord, "setupFailed"> {
  const [, setupFailed] = /^\d+ (.+)$/s.exec(text) ?? [];
  return setupFailed === undefined ? {} : { setupFailed };
}

function livenessOf(
  ended: boolean,
  seen: { readonly here: boolean; readonly live: boolean },
  process: RemoteProcess | undefined,
  identity: HostIdentity,
): RunLiveness {
  if (ended) return "ended";
  if (!seen.here) return "elsewhere";
  if (seen.live) return "running";
  return process !== undefined && process.bootId !== identity.bootId ? "rebooted" : "gone";
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function positionOf(text: string): LogPosition | undefined {
  const [, device, inode, offset] = /^(\d+) (\d+) (\d{1,15})$/.exec(text) ?? [];
  if (device === undefined || inode === undefined || offset === undefined) return undefined;
  return { device, inode, offset: Number(offset) };
}

function processOf(text: string): RemoteProcess | undefined {
  const [, pid, startTicks, bootId, uid] = /^(\d{1,10}) (\d+) (\S+) (\d{1,10})$/.exec(text) ?? [];
  if (pid === undefined || startTicks === undefined || bootId === undefined || uid === undefined) return undefined;
  return { pid: Number(pid), startTicks, bootId, uid: Number(uid) };
}

/**
 * `code 0 1733091234567 4096`: time, then the log's size; `signal SIGKILL 1733091234567 4096 0 3`, with how many processes
 * the kernel ended for lack of memory meanwhile, of the control group and of the machine. `-`: not known; records of older
 * versions end after the time. Filled up with blanks; all blank while the run goes on.
 */
function endOf(text: string, startedAt: number): RunEnd | undefined {
  const [kind, what, at, size, group, host] = text.trim().split(" ");
  const logSize = wholeNumber(size ?? "");
  const common = { at: wholeNumber(at ?? "") ?? startedAt, ...(logSize === undefined ? {} : { logSize }) };
  const code = wholeNumber(what ?? "");
  if (kind === "code" && code !== undefined && code <= 255) return { exit: { kind: "code", code }, ...common };
  if (kind === "signal" && what !== undefined && /^SIG[A-Z0-9+-]+$/.test(what)) {
    const oomKills = oomKillsOf(group, host);
    return { exit: { kind: "signal", signal: what }, ...common, ...(oomKills && { oomKills }) };
  }
  return undefined;
}

function oomKillsOf(inGroup = "", onHost = ""): OomKills | undefined {
  const group = wholeNumber(inGroup);
  const host = wholeNumber(onHost);
  if (group === undefined && host === undefined) return undefined;
  return { ...(group === undefined ? {} : { group }), ...(host === undefined ? {} : { host }) };
}
