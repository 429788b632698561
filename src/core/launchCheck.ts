import { messageOf } from "./errors";
import type { SecretStore } from "./launchSecrets";
import type { HostOps, LaunchRequest } from "./ports";
import type { PreflightFacts } from "./preflight";
import { commandPort } from "./session/commandHazards";
import { curesOf, namesOf, type Cure } from "./session/cure";
import { ofMember, type HostDefinition, type StageDefinition } from "./session/definition";
import type { MemberRef } from "./session/events";
import { mainProgram } from "./session/mainProgram";
import type { Session, Stage } from "./session/model";
import { preflightRows, type PreflightRow } from "./session/preflight";
import { inputCheck, inputRow, type NeededInput } from "./session/preflightInputs";
import type { CheckedMember } from "./session/preflightSections";
import { renamedTools } from "./session/renamedTools";

/** A launch that is to be looked at. */
export interface CheckedLaunch {
  readonly ref: MemberRef;
  readonly definition: StageDefinition;
  readonly host: HostDefinition;
  readonly ops: Pick<HostOps, "preflight" | "findTools">;
  readonly request: LaunchRequest;
  /** Whether what the session file runs was approved; see `PreflightQuery.withSetup`. */
  readonly withSetup: boolean;
}

/** What a check needs besides the launches. */
export interface LaunchCheckContext {
  readonly session: Session;
  readonly secrets: SecretStore;
  /** A connected host of the session, if it is. */
  readonly opsOf: (host: string) => Pick<HostOps, "checkOutputs"> | undefined;
}

/** Each look takes seconds, set-up included; of a launch of hundreds of environments the others are not looked at. */
const mostLooks = 32;

/**
 * Asks the hosts for all that the launches would meet: once for members that differ in nothing but their arguments, log
 * and GPUs. What they need of stages that are not among the launches must be there.
 */
export async function checkLaunches(
  launches: readonly CheckedLaunch[],
  context: LaunchCheckContext,
): Promise<readonly CheckedMember[]> {
  const looks = [...grouped(launches, lookKey).values()];
  const byHost = grouped(looks.slice(0, mostLooks), ([first]) => first?.host.name ?? "");
  const found = new Map<CheckedLaunch, readonly PreflightRow[]>();
  const looked = [...byHost.values()].map(async (ofHost) => {
    // One after the other: the host has other things to do.
    for (const look of ofHost) for (const [launch, rows] of await lookAt(look, context)) found.set(launch, rows);
  });
  const [inputs] = await Promise.all([inputsOf(launches, context), Promise.all(looked)]);
  return launches.map((launch) => {
    const rows = found.get(launch) ?? [notLooked];
    return {
      ref: launch.ref,
      host: launch.host.name,
      rows: [...rows, ...(inputs.get(launch.ref.stage) ?? [])],
    };
  });
}

const notLooked: PreflightRow = {
  group: "command",
  name: "Not looked at",
  level: "warning",
  says: `has an environment of its own; only the first ${String(mostLooks)} are looked at`,
};

function grouped<T>(all: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}

/** What decides what a look finds. GPUs are all seen at once, and logs are told apart within a look. */
function lookKey({ ref, host, request, withSetup }: CheckedLaunch): string {
  const { command, cwd, env } = request;
  return JSON.stringify([ref.stage, host.name, cwd, mainProgram(command), commandPort(command), env, withSetup]);
}

type Looked = readonly (readonly [CheckedLaunch, readonly PreflightRow[]])[];

async function lookAt(look: readonly CheckedLaunch[], { secrets }: LaunchCheckContext): Promise<Looked> {
  const [first, ...others] = look;
  if (!first) return [];
  const { host, ops, request, withSetup } = first;
  const port = commandPort(request.command);
  const moreLogs = others.map((other) => other.request.log ?? "");
  const facts = await ops.preflight({
    request,
    outputs: [...new Set(look.flatMap(({ definition }) => spacePatterns(definition)))],
    withSetup,
    ...(moreLogs.length === 0 ? {} : { moreLogs }),
    ...(port === undefined ? {} : { port }),
  });
  const keptSecrets = new Set<string>();
  for (const name of host.secrets) if ((await secrets.get(host, name)) !== undefined) keptSecrets.add(name);
  const tools = await toolsFor(first, facts);
  return look.map((launch, index) => {
    const log = index === 0 ? facts.log : (facts.moreLogs?.[index - 1] ?? facts.log);
    const picture = { stage: launch.definition, host, facts: { ...facts, log }, withSetup, keptSecrets, ...tools };
    return [launch, preflightRows(picture)] as const;
  });
}

function spacePatterns({ outputs, doneWhen }: StageDefinition): readonly string[] {
  return [...(outputs?.files ?? []), ...(doneWhen?.files ?? [])];
}

/** Programs are asked only where the command's own is missing or may be a stub. */
async function toolsFor(
  { ops, request, withSetup }: CheckedLaunch,
  { program }: PreflightFacts,
): Promise<{ readonly cures: readonly Cure[]; readonly stub?: string }> {
  // The search runs the lines of setup.
  if (!program || !withSetup) return { cures: [] };
  const names = namesOf(program.word);
  const runs = program.path !== undefined && program.missingInterpreter === undefined;
  const [name] = names;
  if (name === undefined || (runs && !renamedTools.has(name))) return { cures: [] };
  const found = await ops.findTools(names, request.cwd);
  const stub = found.find(({ path, works }) => path === program.path && !works)?.says;
  const cures = curesOf(program.word, names, found);
  return { cures, ...(stub === undefined ? {} : { stub }) };
}

/** Rows of what each stage needs from outside the launches, by stage. */
async function inputsOf(
  launches: readonly CheckedLaunch[],
  context: LaunchCheckContext,
): Promise<ReadonlyMap<string, readonly PreflightRow[]>> {
  const launched = new Set(launches.map(({ ref }) => ref.stage));
  const looked = new Map<string, Promise<PreflightRow>>();
  const rows = new Map<string, readonly PreflightRow[]>();
  for (const name of launched) {
    const needs = context.session.definition.stages.get(name)?.needs ?? [];
    const wanted = needs.flatMap((need) => {
      const stage = context.session.stages.get(need);
      if (!stage || launched.has(need)) return [];
      const row = looked.get(need) ?? neededInput(stage, context).then(inputRow);
      looked.set(need, row);
      return [row];
    });
    rows.set(name, await Promise.all(wanted));
  }
  return rows;
}

async function neededInput({ definition, members, state }: Stage, context: LaunchCheckContext): Promise<NeededInput> {
  const { name: need, host, command } = definition;
  const input = { need, host, state, launchable: command !== undefined, reports: [] };
  const ops = context.opsOf(host);
  if (!ops) return { ...input, unseen: `${host} is not connected` };
  const reports: NeededInput["reports"][number][] = [];
  try {
    for (const { name } of members.slice(0, mostLooks)) {
      const own = ofMember(definition, name);
      const check = inputCheck(own);
      if (check) reports.push(await ops.checkOutputs({ ...check, fresh: true }, own.cwd));
    }
  } catch (error) {
    return { ...input, unseen: messageOf(error) };
  }
  return { ...input, reports };
}
