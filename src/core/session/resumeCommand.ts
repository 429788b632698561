import { argumentsEnd } from "./commandWords";
import type { StageDefinition } from "./definition";

/** Arguments by which programs go on with what is there, where they stand in the command already. */
const resumes = /(?:^|[\s=])--?(?:resume|continue|skip[-_]existing|auto[-_]resume|load[-_]checkpoint)/;
/** Programs that fetch only what is missing, by themselves. */
const fetchesTheRest =
  /\b(?:hf|huggingface-cli) download\b|\brsync\b|\brclone (?:copy|sync)\b|\baws s3 sync\b|\bwget (?:.*\s)?-c\b|\bcurl (?:.*\s)?-C -/;

/**
 * The command that goes on with what is there: `resume.args` behind the words of its last program, or the command as it is
 * where such arguments stand in it already. Undefined: the stage says of no way, or its command is too involved to know
 * where arguments would go.
 */
export function resumeCommand({ command, resume }: Pick<StageDefinition, "command" | "resume">): string | undefined {
  if (command === undefined) return undefined;
  if (resume === undefined) return resumes.test(command) || fetchesTheRest.test(command) ? command : undefined;
  const args = resume.args.trim();
  if (args === "" || ` ${command} `.includes(` ${args} `)) return command;
  const at = argumentsEnd(command);
  return at === undefined ? undefined : `${command.slice(0, at)} ${args}${command.slice(at)}`;
}
