import { ExpectedError } from "./errors";
import type { LaunchRequest } from "./ports";
import type { StageDefinition } from "./session/definition";
import { watchedOutputs } from "./session/outputChecks";

/**
 * What is asked of the host to start a member of a stage, as the session file has it.
 * @throws ExpectedError for a stage that cannot be started
 */
export function requestOf(
  session: string,
  stage: StageDefinition,
  member: string,
  launchedFrom: string,
): LaunchRequest {
  const { command, cwd, log, gpus, env, unsupported } = stage;
  if (command === undefined) throw new ExpectedError(`${stage.name} has no command: it can be watched, not started.`);
  if (unsupported.length > 0) {
    throw new ExpectedError(`${stage.name} cannot be started by this version: ${unsupported.join(" ")}`);
  }
  const outputs = watchedOutputs(stage, 0)?.check;
  return {
    session,
    stage: stage.name,
    member,
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(log === undefined ? {} : { log }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(outputs === undefined ? {} : { outputs }),
    env,
    launchedFrom,
  };
}
