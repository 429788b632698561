import type {
  DiskQuota,
  FreeSpace,
  GpuInUse,
  GpuMemoryHolder,
  LogPlace,
  PreflightFacts,
  PreflightQuery,
} from "../core/preflight";
import envFileScript from "../host/envFile.sh";
import ownersScript from "../host/owners.sh";
import preflightScript from "../host/preflight.sh";
import preflightJobScript from "../host/preflightJob.sh";
import programScript from "../host/program.sh";
import setupScript from "../host/setup.sh";
import type { HostSession } from "./hostSession";
import { environmentText, pathPrefix, wrongVariable } from "./jobEnvironment";
import { programLines } from "./launchRun";
import { assignmentsOf, compact, quoted, type ScriptVariables } from "./scriptChannel";

/** See `PreflightOps.preflight`. */
export async function preflight(session: HostSession, query: PreflightQuery): Promise<PreflightFacts> {
  const answer = await session.control.ask([envFileScript, ownersScript, preflightScript], variablesOf(session, query));
  return factsOf(answer, query);
}

function variablesOf(session: HostSession, query: PreflightQuery): ScriptVariables {
  const { definition, identity } = session;
  const { request, outputs, port, withSetup } = query;
  const logs = [request.log ?? "", ...(query.moreLogs ?? [])];
  const setup = withSetup ? definition.setup : [];
  const [word = "", through = ""] = programLines(request.command).split("\n");
  const job = {
    ml_session_word: word,
    ml_session_through: through,
    ml_session_setup_count: setup.length,
    ...Object.fromEntries(setup.map((line, index) => [`ml_session_setup_${index}`, line])),
  };
  // The shell says the same of these names as the launch does, which refuses them.
  const named = ([name]: readonly [string, string]): boolean => wrongVariable(name) === undefined;
  const own = { ...definition, env: Object.fromEntries(Object.entries(definition.env).filter(named)) };
  const env = Object.fromEntries(Object.entries(request.env).filter(named));
  const prefix = pathPrefix(definition, identity.home);
  return {
    ...session.variables,
    cwd: request.cwd ?? "",
    log_count: logs.length,
    ...Object.fromEntries(logs.map((log, index) => [`log_${index}`, log])),
    shell: definition.shell,
    env_file: definition.envFile ?? "",
    with_setup: withSetup ? 1 : 0,
    environment: withSetup
      ? environmentText(own, identity.home, { ...request, env })
      : prefix === ""
        ? ""
        : `export PATH=${quoted(`${prefix}:`)}"$PATH"`,
    job_text: [compact(setupScript), compact(programScript), ...assignmentsOf(job), compact(preflightJobScript)].join(
      "\n",
    ),
    port: port ?? "",
    pattern_count: outputs.length,
    ...Object.fromEntries(outputs.map((pattern, index) => [`pattern_${index}`, pattern])),
  };
}

interface Told {
  readonly word: string;
  readonly text: string;
}

function factsOf(answer: readonly string[], query: PreflightQuery): PreflightFacts {
  const told = answer.flatMap((line): readonly Told[] => {
    const [, word, text = ""] = /^@ (\S+) ?(.*)$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word, text }];
  });
  const all = (word: string): readonly string[] => told.flatMap((one) => (one.word === word ? [one.text] : []));
  const one = (word: string): string | undefined => all(word)[0];
  const cwd = stateAndPath(one("cwd"), ["ok", "missing"], "closed");
  const [log = logOf(undefined), ...moreLogs] = all("log").map(logOf);
  const shell = one("shell");
  const program = programOf(query, one);
  const setupFailed = setupOf(one("setup"), one("timeout") === undefined ? undefined : all("trying").at(-1));
  const gpus = gpusOf(all("gpu"), all("holder"));
  const port = one("port");
  return {
    cwd,
    log,
    ...(moreLogs.length === 0 ? {} : { moreLogs }),
    stateWritable: one("state") === "ok",
    shell: shell === "bash" || shell === "no-bash" ? shell : "sh",
    // The first that is told either way: a line of setup that is tried, or that all of them are through.
    shellStarts: one("ready") !== undefined || one("trying") !== undefined,
    ...(setupFailed === undefined ? {} : { setupFailed }),
    ...(program === undefined ? {} : { program }),
    space: spaceOf(all("space")),
    quotas: all("quota").flatMap(quotaOf),
    ...(gpus.length === 0 ? {} : { gpus }),
    ...(port === undefined || query.port === undefined ? {} : { port: portOf(query.port, port) }),
    envFile: envFileOf(one("env-file"), one("env-refused"), all("name")),
  };
}

function logOf(text: string | undefined): LogPlace {
  return stateAndPath(text, ["ok", "own", "no-folder", "no-file"], "closed");
}

function stateAndPath<S extends string, E extends string>(
  text: string | undefined,
  states: readonly S[],
  otherwise: E,
): { readonly path: string; readonly state: S | E } {
  const [, word = "", path = ""] = /^(\S+) (.*)$/.exec(text ?? "") ?? [];
  return { path, state: states.find((state) => state === word) ?? otherwise };
}

function programOf(
  { request }: PreflightQuery,
  one: (word: string) => string | undefined,
): PreflightFacts["program"] | undefined {
  const [word = ""] = programLines(request.command).split("\n");
  const path = one("program");
  if (word === "" || (path === undefined && one("no-program") === undefined)) return undefined;
  const missingInterpreter = one("interpreter");
  return {
    word,
    ...(path === undefined ? {} : { path }),
    ...(missingInterpreter === undefined ? {} : { missingInterpreter }),
  };
}

/** `NUMBER CODE`, or the number of the line that took too long. */
function setupOf(failed: string | undefined, late: string | undefined): PreflightFacts["setupFailed"] | undefined {
  const [line, code] = (failed ?? "").split(" ");
  if (code !== undefined) return { line: Number(line), code: Number(code) };
  return late === undefined ? undefined : { line: Number(late), code: "timeout" };
}

/** What is on one file system becomes one. */
function spaceOf(lines: readonly string[]): readonly FreeSpace[] {
  const found = new Map<string, FreeSpace>();
  for (const { id, space } of lines.flatMap(oneSpace)) {
    const known = found.get(id);
    const holds = [...new Set([...(known?.holds ?? []), ...space.holds])];
    // Outputs are the most of it: they say which folder is meant.
    const folder = known && !space.holds.includes("outputs") ? known.folder : space.folder;
    found.set(id, { ...space, holds, folder });
  }
  return [...found.values()];
}

/** `log|outputs FREE-BLOCKS SIZE FREE-INODES INODES ID FOLDER` */
function oneSpace(line: string): readonly { readonly id: string; readonly space: FreeSpace }[] {
  const [, what, blocks, size, freeInodes, inodes, id = "", folder = ""] =
    /^(log|outputs) (\d+) (\d+) (\d+) (\d+) (\S+) (.*)$/.exec(line) ?? [];
  if (what === undefined) return [];
  // btrfs, and most network file systems, count none.
  const counted = inodes === "0" ? {} : { freeInodes: Number(freeInodes) };
  const freeBytes = Number(blocks) * Number(size);
  const holds = [what === "log" ? ("log" as const) : ("outputs" as const)];
  return [{ id: `${id} ${size ?? ""} ${inodes ?? ""}`, space: { holds, folder, freeBytes, ...counted } }];
}

/** `KIB LIMIT FILES LIMIT FILE-SYSTEM`; a limit of 0 is none. */
function quotaOf(line: string): readonly DiskQuota[] {
  const [, used, limit, files, fileLimit, fileSystem] = /^(\d+) (\d+) (\d+) (\d+) (.*)$/.exec(line) ?? [];
  if (fileSystem === undefined) return [];
  return [
    {
      fileSystem,
      usedBytes: Number(used) * 1024,
      ...(limit === "0" ? {} : { limitBytes: Number(limit) * 1024 }),
      usedFiles: Number(files),
      ...(fileLimit === "0" ? {} : { limitFiles: Number(fileLimit) }),
    },
  ];
}

/** `INDEX UUID USED TOTAL` and `PID UUID MIB USER NAME`. */
function gpusOf(gpus: readonly string[], holders: readonly string[]): readonly GpuInUse[] {
  return gpus.flatMap((line) => {
    const [, index, uuid = "", used, total] = /^(\d+) (\S+) (\d+) (\d+)$/.exec(line) ?? [];
    if (index === undefined) return [];
    const own = holders.flatMap((one) => (one.split(" ")[1] === uuid ? holderOf(one) : []));
    return [{ index: Number(index), usedMib: Number(used), totalMib: Number(total), holders: own }];
  });
}

function holderOf(line: string): readonly GpuMemoryHolder[] {
  const [, pid, mib, user, name = ""] = /^(\d+) \S+ (\d+|-) (\S+) ?(.*)$/.exec(line) ?? [];
  if (pid === undefined) return [];
  const seen = user === undefined || user === "-" ? {} : { user, name };
  return [{ pid: Number(pid), ...(mib === "-" ? {} : { mib: Number(mib) }), ...seen }];
}

function portOf(number: number, text: string): NonNullable<PreflightFacts["port"]> {
  const [, by = ""] = /^taken ?(.*)$/.exec(text) ?? [];
  return { number, taken: text.startsWith("taken"), ...(by === "" ? {} : { by }) };
}

function envFileOf(
  read: string | undefined,
  refused: string | undefined,
  names: readonly string[],
): PreflightFacts["envFile"] {
  if (refused !== undefined) return { kind: "refused", reason: refused };
  return read === undefined ? { kind: "none" } : { kind: "read", names };
}
