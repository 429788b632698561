/** A single command, as the host in memory understands it. */
export interface CommandLine {
  readonly nohup: boolean;
  readonly program: string;
  readonly args: readonly string[];
}

const word = /'([^']*)'|"([^"$`\\]*)"|([^\s'"$`\\|&;<>()]+)|(\s+)|(.)/gsu;

/**
 * Splits a command into words: quotes, leading assignments, `exec` and `nohup`. Everything that needs a real shell
 * (pipes, redirections, variables) gives undefined: it is better refused than played wrongly.
 */
export function parseCommand(command: string): CommandLine | undefined {
  const words = splitWords(command.trim());
  if (words === undefined) return undefined;
  while (/^\w+=/.test(words[0] ?? "") || words[0] === "exec") words.shift();
  const nohup = words[0] === "nohup";
  if (nohup) words.shift();
  const [program, ...args] = words;
  return program === undefined ? undefined : { nohup, program, args };
}

function splitWords(command: string): string[] | undefined {
  const words: string[] = [];
  let current: string | undefined;
  for (const [, single, double, plain, space, other] of command.matchAll(word)) {
    if (other !== undefined) return undefined;
    if (space === undefined) current = `${current ?? ""}${single ?? double ?? plain ?? ""}`;
    else if (current !== undefined) words.push(current);
    if (space !== undefined) current = undefined;
  }
  return current === undefined ? words : [...words, current];
}
