import type { SecretStore } from "./launchSecrets";
import type { HostOps, LaunchRequest } from "./ports";
import type { PreflightFacts } from "./preflight";
import { commandPort } from "./session/commandHazards";
import { curesOf, namesOf, type Cure } from "./session/cure";
import type { HostDefinition, StageDefinition } from "./session/definition";
import { preflightRows, type PreflightRow } from "./session/preflight";
import { renamedTools } from "./session/renamedTools";

/** A launch that is to be looked at. */
export interface CheckedLaunch {
  readonly definition: StageDefinition;
  readonly host: HostDefinition;
  readonly ops: HostOps;
  readonly request: LaunchRequest;
  /** Whether what the session file runs was approved; see `PreflightQuery.withSetup`. */
  readonly withSetup: boolean;
}

/** Asks the host for all that the launch would meet, and for a cure where its program would not run. */
export async function checkLaunch(launch: CheckedLaunch, secrets: SecretStore): Promise<readonly PreflightRow[]> {
  const { definition, host, ops, request, withSetup } = launch;
  const port = commandPort(request.command);
  const outputs = [...(definition.outputs?.files ?? []), ...(definition.doneWhen?.files ?? [])];
  const facts = await ops.preflight({ request, outputs, withSetup, ...(port === undefined ? {} : { port }) });
  const keptSecrets = new Set<string>();
  for (const name of host.secrets) if ((await secrets.get(host, name)) !== undefined) keptSecrets.add(name);
  const tools = await toolsFor(launch, facts);
  return preflightRows({ stage: definition, host, facts, withSetup, keptSecrets, ...tools });
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
