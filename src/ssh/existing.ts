import { randomBytes } from "node:crypto";
import { ExpectedError } from "../core/errors";
import type {
  ExistingOutput,
  ExistingQuery,
  ExistingWork,
  FoundFile,
  GpuHolder,
  MarkedProcess,
  SetAside,
} from "../core/existingWork";
import existingScript from "../host/existing.sh";
import giveUpScript from "../host/giveUpRetries.sh";
import matches from "../host/matches.sh";
import setAsideScript from "../host/setAside.sh";
import owners from "../host/owners.sh";
import type { HostSession } from "./hostSession";
import { isName, nameFolder } from "./records";
import type { ScriptVariables } from "./scriptChannel";

/** See `RestartOps.existing`. */
export async function existingWork(session: HostSession, query: ExistingQuery): Promise<ExistingWork> {
  const answer = await session.control.ask([matches, owners, existingScript], {
    ...placeOf(session, query),
    count_lines: query.countLines ? 1 : 0,
    checkpoints_in_cwd: query.checkpointsInCwd ? 1 : 0,
  });
  return workOf(answer, query, session.identity.uid);
}

/** See `RestartOps.setAside`. */
export async function setAside(
  session: HostSession,
  query: ExistingQuery,
  how: "move" | "copy",
): Promise<readonly SetAside[]> {
  // The form of a run's name, so that both sort by time.
  const time = new Date(session.clock.now() + session.identity.clockOffsetMs);
  const stamp = `${time.toISOString().replaceAll(/[-:]|\.\d+/g, "")}-${randomBytes(2).toString("hex")}`;
  const answer = await session.control.ask([matches, setAsideScript], { ...placeOf(session, query), stamp, how });
  const moved: SetAside[] = [];
  let from = "";
  for (const line of answer) {
    const [, word, text = ""] = /^@ (\S+) (.*)$/.exec(line) ?? [];
    if (word === "from") from = text;
    else if (word === "to") moved.push({ from, to: text });
    else if (word === "refused") {
      const verb = how === "move" ? "is now" : "is kept as";
      const before = moved.map((one) => ` ${one.from} ${verb} ${one.to}.`).join("");
      throw new ExpectedError(`${text}${before}`);
    }
  }
  return moved;
}

/** See `RestartOps.giveUpRetries`. */
export async function giveUpRetries(session: HostSession, name: string, run: string, by: string): Promise<void> {
  if (!isName(name) || !isName(run)) throw new ExpectedError(`"${run}" cannot be the name of a run.`);
  const variables = { ...session.variables, session: nameFolder(name), run, by };
  const [answer = ""] = await session.control.ask([giveUpScript], variables);
  if (answer !== "@ done") throw new ExpectedError(answer.replace(/^@ refused /, ""));
}

function placeOf(session: HostSession, query: ExistingQuery): ScriptVariables {
  const wrong = [query.session, query.stage, query.member].find((name) => !isName(name));
  if (wrong !== undefined) throw new ExpectedError(`"${wrong}" cannot be a name.`);
  return {
    ...session.variables,
    session: nameFolder(query.session),
    stage: nameFolder(query.stage),
    member: nameFolder(query.member),
    cwd: query.cwd ?? "",
    pattern_count: query.outputs.length,
    ...Object.fromEntries(query.outputs.map((pattern, index) => [`pattern_${index}`, pattern])),
  };
}

function workOf(answer: readonly string[], query: ExistingQuery, uid: number): ExistingWork {
  const outputs: ExistingOutput[] = [];
  const processes: MarkedProcess[] = [];
  const gpuHolders: GpuHolder[] = [];
  const gpus = new Map<string, number>();
  let checkpoint: FoundFile | undefined;
  let now = 0;
  for (const line of answer) {
    const [, word, text = ""] = /^@ (\S+) (.*)$/.exec(line) ?? [];
    if (word === "output") outputs.push(...outputOf(text, query));
    else if (word === "checkpoint") checkpoint = fileOf(text);
    else if (word === "process") processes.push(...processOf(text));
    else if (word === "gpu") gpus.set(text.split(" ")[1] ?? "", Number(text.split(" ")[0]));
    else if (word === "holder") gpuHolders.push(...holderOf(text, gpus, uid));
    else if (word === "now") now = Number(text);
  }
  return { now, outputs, ...(checkpoint === undefined ? {} : { checkpoint }), processes, gpuHolders };
}

/** `NUMBER LINES FILES BYTES TIME NAME`. */
function outputOf(text: string, { outputs }: ExistingQuery): readonly ExistingOutput[] {
  const [, number, lines, files, bytes, file] = /^(\d+) (\d+|-) (\d+) (\d+) (\d+ .*)$/.exec(text) ?? [];
  const pattern = outputs[Number(number)];
  if (file === undefined || pattern === undefined) return [];
  const newest = fileOf(file);
  const counted = lines === "-" ? {} : { lines: Number(lines) };
  return [{ pattern, files: Number(files), bytes: Number(bytes), ...counted, ...(newest ? { newest } : {}) }];
}

/** `SECONDS NAME`. */
function fileOf(text: string): FoundFile | undefined {
  const [, seconds, path] = /^(\d+) (.+)$/.exec(text) ?? [];
  return path === undefined ? undefined : { path, at: Number(seconds) * 1000 };
}

/** `PID RUN LIVE NAME`. */
function processOf(text: string): readonly MarkedProcess[] {
  const [, pid, run, live, name] = /^(\d+) (\S+) ([01]) (.*)$/.exec(text) ?? [];
  return run === undefined || name === undefined ? [] : [{ pid: Number(pid), run, name, live: live === "1" }];
}

/** `PID UUID MIB OWNER USER RUN NAME`; `-` for what is not known. */
function holderOf(text: string, gpus: ReadonlyMap<string, number>, uid: number): readonly GpuHolder[] {
  const [, pid, uuid = "", mib, owner, user, run, name] =
    /^(\d+) (\S+) (\d+|-) (\d+) (\S+) (\S+) (.*)$/.exec(text) ?? [];
  const gpu = gpus.get(uuid);
  if (gpu === undefined || user === undefined || name === undefined) return [];
  return [
    {
      pid: Number(pid),
      name,
      user,
      own: Number(owner) === uid,
      gpu,
      ...(mib === "-" ? {} : { memoryMib: Number(mib) }),
      ...(run === "-" || run === undefined ? {} : { run }),
    },
  ];
}
