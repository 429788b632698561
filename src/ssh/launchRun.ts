import { randomBytes } from "node:crypto";
import type { LaunchOutcome, LaunchRequest, RunRecord, SecretValues } from "../core/ports";
import { ExpectedError } from "../core/errors";
import { isLoginNode } from "../core/session/loginNode";
import { mainProgram } from "../core/session/mainProgram";
import launchScript from "../host/launch.sh";
import wrapperScript from "../host/wrapper.sh";
import jobScript from "../host/job.sh";
import prelude from "../host/prelude.sh";
import recorderScript from "../host/recorder.sh";
import recordList from "../host/recordList.sh";
import envFileScript from "../host/envFile.sh";
import programScript from "../host/program.sh";
import setupScript from "../host/setup.sh";
import { fieldLists } from "./gpus";
import { environmentText, pathPrefix, wrongVariable } from "./jobEnvironment";
import { countingText, countingVariables } from "./outputs";
import { compact, type ScriptVariables } from "./scriptChannel";
import { isName, nameFolder, RecordReader } from "./records";
import type { HostSession } from "./hostSession";

/** How often the flight recorder looks, seconds: lines of a log are dated by it. */
const recorderSeconds = 10;
/** It keeps eight segments of this size at most. */
const recorderBytes = 1_000_000;

/** Starts a run; see `HostOps.launch`. */
export async function launchRun(
  session: HostSession,
  request: LaunchRequest,
  secrets: SecretValues = new Map(),
): Promise<LaunchOutcome> {
  const { definition, clock } = session;
  for (const name of [request.session, request.stage, request.member]) {
    if (!isName(name))
      return { kind: "refused", reason: `"${name}" cannot be a name: use letters, digits, ".", "_" and "-".` };
  }
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const run = `${stamp}-${randomBytes(4).toString("hex")}`;
  const given = [...Object.keys({ ...definition.env, ...request.env }), ...secrets.keys()];
  const wrong = given.map(wrongVariable).find((reason) => reason !== undefined);
  if (wrong !== undefined) return { kind: "refused", reason: wrong };
  const [fields_1, fields_2, fields_3] = fieldLists;
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
    after: request.after ?? "",
    newest: request.newest === "" ? "-" : (request.newest ?? ""),
    path_prefix: pathPrefix(definition, session.identity.home),
    environment: environmentText(definition, session.identity.home, request, secrets),
    given_names: given.join(" "),
    secret_names: definition.secrets.join(" "),
    env_file: definition.envFile ?? "",
    program: programLines(request.command),
    salt: randomBytes(8).toString("hex"),
    machine: session.identity.machineId,
    hostname: session.identity.hostname,
    wrapper_text: compact(wrapperScript),
    recorder_text: isLoginNode(session.identity) ? "" : [prelude, recorderScript].map(compact).join(""),
    recorder_seconds: session.recorderSeconds ?? recorderSeconds,
    recorder_bytes: recorderBytes,
    ...countsOf(session, request),
    fields_1,
    fields_2,
    fields_3,
    job_text: [setupScript, programScript, jobScript].map(compact).join(""),
    setup_count: definition.setup.length,
    ...Object.fromEntries(definition.setup.map((line, index) => [`setup_${index}`, line])),
  };
  return outcomeOf(await session.control.launch([recordList, envFileScript, launchScript], variables), session);
}

/** What the flight recorder counts of what the run writes. */
function countsOf(session: HostSession, { outputs, cwd }: LaunchRequest): ScriptVariables {
  if (outputs === undefined) return { counts: "", counts_text: "" };
  return { counts: countingVariables(session, outputs, cwd), counts_text: countingText };
}

function outcomeOf(answer: readonly string[], session: HostSession): LaunchOutcome {
  const reader = new RecordReader(session.identity, session.logger);
  let kind: "launched" | "already-running" | undefined;
  for (const line of answer) {
    if (line.startsWith("@ refused ")) return { kind: "refused", reason: line.slice("@ refused ".length) };
    if (line === "@ superseded") return { kind: "superseded" };
    if (line.startsWith("@ launched ")) kind = "launched";
    else if (line.startsWith("@ running ")) kind = "already-running";
    else reader.line(line);
  }
  const record: RunRecord | undefined = reader.take().at(-1);
  if (kind === undefined || record === undefined)
    throw new ExpectedError("The launch gave no record that can be read.");
  return { kind, record };
}

/** What program.sh looks for: the program's word, and through what it is reached. Empty where that is not known. */
export function programLines(command: string): string {
  const program = mainProgram(command);
  if (program === undefined || program.word.includes("\n")) return "";
  const { word, through } = program;
  if (through.kind === "conda") return `${word}\n${through.tool} ${through.environment}`;
  if (through.kind === "prefix") return `${word}\nprefix ${through.folder}`;
  return `${word}\n${through.kind === "uv" ? "uv" : ""}`;
}
