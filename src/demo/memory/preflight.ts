import type { LogPlace, PreflightFacts, PreflightQuery } from "../../core/preflight";
import { mainProgram } from "../../core/session/mainProgram";
import type { MemoryProcesses } from "./processes";

/** What a launch would meet on the host in memory: everything is there but, maybe, the program. */
export function preflightIn(
  { files, programs }: Pick<MemoryProcesses, "files" | "programs">,
  path: readonly string[],
  { request, port, moreLogs = [] }: PreflightQuery,
): PreflightFacts {
  const cwd = files.resolve(request.cwd ?? "~");
  const word = mainProgram(request.command)?.word;
  const places = word?.includes("/") === true ? [word] : path.map((folder) => `${folder}/${word ?? ""}`);
  const found = places.map((place) => files.resolve(place, cwd)).find((place) => programs.has(place));
  const logAt = (log: string | undefined): LogPlace =>
    log === undefined || log === "" ? { path: "", state: "own" } : { path: files.resolve(log, cwd), state: "ok" };
  return {
    cwd: { path: cwd, state: "ok" },
    log: logAt(request.log),
    moreLogs: moreLogs.map(logAt),
    stateWritable: true,
    shell: "bash",
    shellStarts: true,
    ...(word === undefined ? {} : { program: { word, ...(found === undefined ? {} : { path: found }) } }),
    space: [{ holds: ["log", "outputs"], folder: cwd, freeBytes: 2e12, freeInodes: 1e8 }],
    quotas: [],
    ...(port === undefined ? {} : { port: { number: port, taken: false } }),
    envFile: { kind: "none" },
  };
}
