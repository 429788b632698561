import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, HostConnector, Logger } from "../../src/core/ports";
import { MemoryOps } from "../../src/demo/memory/memoryOps";
import { MemoryProcesses } from "../../src/demo/memory/processes";

/** What the window of the fleet is told to watch. */
export interface FleetOrder {
  /** The session file. */
  readonly file: string;
  /** Of the SSH client; without it the hosts are in memory. */
  readonly configFile?: string;
  readonly folder: string;
  readonly seconds: number;
}

/** What it was seen to use. */
export interface FleetUse {
  readonly seconds: number;
  /** CPU time of the process, ms. */
  readonly cpuMs: number;
  /**
   * After a collection, MB, in the beginning, after each minute, and at the end: objects, arrays, and what of the arrays
   * are the files of hosts in memory.
   */
  readonly heapMb: readonly number[];
  readonly arraysMb: readonly number[];
  readonly filesMb: readonly number[];
  /** Events of the tree that has the most of them. */
  readonly updates: number;
  readonly items: number;
  /** What each change of the picture took until all views were drawn, ms. */
  readonly updateMs: readonly number[];
  /** Counts that came into the store. */
  readonly lines: number;
}

/** Eight stages on each host. */
export const stageNames: readonly string[] = Array.from({ length: 8 }, (_, n) => `job${n}`);

/** So long the stages have run already when the window opens, seconds: each log begins with as many lines. */
const ranFor = 3600;
const total = 100_000;

/** The line of a log at a second of its run. */
const lineAt = (n: number): string =>
  `Progress: ${n}/${total} (0 errors), 1.0 req/s, avg completion: 412 tokens, elapsed: ${n}s\n`;

const past = Array.from({ length: ranFor }, (_, n) => lineAt(n)).join("");

/** One place of a log that grows. */
export type Append = (text: string) => void;

/** Gives each log its past, and a line each second from now on; not all at the same moment. */
export function writeLogs(logs: readonly Append[]): () => void {
  for (const append of logs) append(past);
  const began = Date.now();
  let written = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((Date.now() - began) / 1000) * logs.length);
    for (; written < due; written++) logs[written % logs.length]?.(lineAt(ranFor + Math.floor(written / logs.length)));
  }, 20);
  return () => {
    clearInterval(timer);
  };
}

/** The session file of a fleet; `folderOf` says where a host's logs are. */
export function fleetFile(hosts: readonly string[], folderOf: (host: string) => string): string {
  const defined = hosts.map((host) => `  ${host}:\n    ssh: ${host}\n    state_dir: ${folderOf(host)}/state\n`);
  const stages = hosts.flatMap((host) =>
    stageNames.map(
      (stage, gpu) =>
        `  ${host}-${stage}:\n    host: ${host}\n    gpus: [${gpu}]\n    log: ${folderOf(host)}/${stage}.log\n`,
    ),
  );
  return `session: fleet\nhosts:\n${defined.join("")}stages:\n${stages.join("")}`;
}

/** Where a host of a fleet keeps its logs. */
export function folderIn(folder: string): (host: string) => string {
  return (host) => join(folder, host);
}

/** Hosts in memory, and what their files take of it. */
interface MemoryHosts extends HostConnector {
  readonly fileBytes: () => number;
}

/** Hosts in memory, with their logs. What their writing costs is paid by whoever makes them. */
export function memoryHosts(hosts: readonly string[], folder: string, clock: Clock, logger: Logger): MemoryHosts {
  const places = { home: folder, data: folder };
  const machines = hosts.map((name) => {
    const processes = new MemoryProcesses({ places, clock, logger, speed: 1, isTrusted: () => true });
    return { name, processes };
  });
  const folderOf = folderIn(folder);
  writeLogs(
    machines.flatMap(({ name, processes }) =>
      stageNames.map((stage) => (text: string) => {
        processes.files.append(`${folderOf(name)}/${stage}.log`, text);
      }),
    ),
  );
  const bytesOf = (host: string, processes: MemoryProcesses): number =>
    stageNames.reduce((sum, stage) => sum + (processes.files.get(`${folderOf(host)}/${stage}.log`)?.heldBytes ?? 0), 0);
  return {
    fileBytes: () => machines.reduce((sum, { name, processes }) => sum + bytesOf(name, processes), 0),
    connect: (definition) => {
      const host = machines.find(({ name }) => name === definition.name)?.processes;
      if (!host) throw new Error(`no host ${definition.name}`);
      return Promise.resolve(new MemoryOps({ host, definition, home: folder, clock, isTrusted: () => true }));
    },
  };
}

/** Makes the folder of each host. */
export function makeFolders(hosts: readonly string[], folder: string): void {
  for (const host of hosts) {
    mkdirSync(folderIn(folder)(host));
    for (const stage of stageNames) writeFileSync(join(folderIn(folder)(host), `${stage}.log`), "");
  }
}
