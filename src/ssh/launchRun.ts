import { createHash, randomBytes } from "node:crypto";
import type { LaunchOutcome, LaunchRequest, RunRecord } from "../core/ports";
import { ExpectedError } from "../core/errors";
import type { HostDefinition } from "../core/session/definition";
import launchScript from "../host/launch.sh";
import wrapperScript from "../host/wrapper.sh";
import jobScript from "../host/job.sh";
import recordList from "../host/recordList.sh";
import { compact, quoted, type ScriptVariables } from "./scriptChannel";
import { isName, nameFolder, RecordReader } from "./records";
import type { HostSession } from "./hostSession";

/** Starts a run; see `HostOps.launch`. */
export async function launchRun(session: HostSession, request: LaunchRequest): Promise<LaunchOutcome> {
  const { definition, clock } = session;
  for (const name of [request.session, request.stage, request.member]) {
    if (!isName(name))
      return { kind: "refused", reason: `"${name}" cannot be a name: use letters, digits, ".", "_" and "-".` };
  }
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const run = `${stamp}-${randomBytes(4).toString("hex")}`;
  const env = { ...definition.env, ...request.env };
  const wrong = Object.keys(env).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined)
    return { kind: "refused", reason: `"${wrong}" cannot be the name of an environment variable.` };
  const variables: ScriptVariables = {
    ...session.variables,
    session: nameFolder(request.session),
    stage: nameFolder(request.stage),
    member: nameFolder(request.member),
    run,
    command: request.command,
    cwd: request.cwd ?? "",
    log: request.log ?? "",
    shell: definition.shell,
    from: request.launchedFrom,
    path_prefix: pathPrefix(definition, session.identity.home),
    environment: exportsOf(env, request),
    env_names: hashedEnvironment(env),
    machine: session.identity.machineId,
    hostname: session.identity.hostname,
    wrapper_text: compact(wrapperScript),
    job_text: compact(jobScript),
    setup_count: definition.setup.length,
    ...Object.fromEntries(definition.setup.map((line, index) => [`setup_${index}`, line])),
  };
  return outcomeOf(await session.control.launch([recordList, launchScript], variables), session);
}

function outcomeOf(answer: readonly string[], session: HostSession): LaunchOutcome {
  const reader = new RecordReader(session.identity, session.logger);
  let kind: "launched" | "already-running" | undefined;
  for (const line of answer) {
    if (line.startsWith("@ refused ")) return { kind: "refused", reason: line.slice("@ refused ".length) };
    if (line.startsWith("@ launched ")) kind = "launched";
    else if (line.startsWith("@ running ")) kind = "already-running";
    else reader.line(line);
  }
  const record: RunRecord | undefined = reader.take().at(-1);
  if (kind === undefined || record === undefined)
    throw new ExpectedError("The launch gave no record that can be read.");
  return { kind, record };
}

/** The folders before PATH, `~/` made the home folder. */
export function pathPrefix(definition: HostDefinition, home: string): string {
  return definition.path.map((folder) => folder.replace(/^~(?=\/|$)/, home)).join(":");
}

function exportsOf(env: Readonly<Record<string, string>>, request: LaunchRequest): string {
  const lines = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  // Without it Python holds back what it prints, and a log that is followed says nothing for minutes.
  if (!("PYTHONUNBUFFERED" in env)) lines.push("export PYTHONUNBUFFERED=1");
  // CUDA counts the fastest first by default; nvidia-smi counts by bus.
  if (request.gpus !== undefined) lines.push("export CUDA_DEVICE_ORDER=PCI_BUS_ID");
  if (request.gpus === "all") lines.push("unset CUDA_VISIBLE_DEVICES");
  else if (request.gpus !== undefined) lines.push(`export CUDA_VISIBLE_DEVICES=${quoted(request.gpus.join(","))}`);
  return lines.join("\n");
}

/** Names, each with a salted hash of its value: two runs can be compared by who knows the salt, no value can be read. */
function hashedEnvironment(env: Readonly<Record<string, string>>): string {
  const salt = randomBytes(8).toString("hex");
  const hash = (value: string): string => createHash("sha256").update(`${salt}:${value}`).digest("hex").slice(0, 16);
  return [`salt ${salt}`, ...Object.entries(env).map(([name, value]) => `${name} ${hash(value)}`)].join("\n");
}
