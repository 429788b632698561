import { listedCommands, type ListedCommand, type PlainWord } from "./commandWords";
import { behindRunners } from "./mainProgram";

/** What a command line does that keeps a launch from being supervised. */
export interface CommandHazard {
  /** `detaches`: the stage would count as ended while the work goes on. `hides`: a death would look like success. */
  readonly kind: "detaches" | "hides";
  /** In plain words, with what to do instead. */
  readonly says: string;
}

/**
 * Reads off a command line what would hide how it ends: work that is left in the background or given to another program
 * (`docker run -d`, `sbatch`, `tmux new -d`, `&` at the end), and exit codes that are lost (`|| true`, `; true`, a
 * pipe where the shell has no pipefail). Says nothing where it is not sure.
 */
export function commandHazards(command: string, shell: "bash" | "sh"): readonly CommandHazard[] {
  const commands = listedCommands(command);
  if (commands === undefined) return [];
  const at = commands.findLastIndex((one) => !isSmall(one.words));
  const last = commands[at];
  if (last === undefined) return [];
  const tail = commands.slice(at + 1);
  const detached = detachment(last, tail);
  if (detached !== undefined) return [{ kind: "detaches", says: detached }];
  const options = commands.slice(0, at).map(({ words }) => setOptions(words));
  const hidden = lostCode(
    last,
    tail,
    options.some(({ errexit }) => errexit),
  );
  const pipefail = shell === "bash" || options.some((one) => one.pipefail);
  const piped = pipefail ? undefined : lostInPipe(commands, at);
  return [hidden, piped].filter((says) => says !== undefined).map((says) => ({ kind: "hides", says }));
}

/** The TCP port that a command line names with `--port N` (or `--server-port`, `--api-port`), if one does. */
export function commandPort(command: string): number | undefined {
  const words = (listedCommands(command) ?? []).flatMap((one) => one.words);
  for (const [at, { value, literal }] of words.entries()) {
    const [, joined] = /^--(?:server-|api-)?port(?:=(.*))?$/s.exec(value) ?? [undefined, undefined];
    if (!literal || !/^--(?:server-|api-)?port(?:=|$)/.test(value)) continue;
    const text = joined ?? (words[at + 1]?.literal === true ? words[at + 1]?.value : undefined) ?? "";
    if (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65536) return Number(text);
  }
  return undefined;
}

/** What comes after the work: it tells of it, or tidies up, and mostly ends with 0. */
const small = new Set(["echo", "printf", "disown", "true", ":", "sleep", "exit", "jobs", "date", "}", "fi", "done"]);
const closers = new Set(["}", "fi", "done", "esac"]);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

function isSmall(words: readonly PlainWord[]): boolean {
  const [first] = words.filter(({ value }) => !assignment.test(value));
  return first === undefined || (first.literal && small.has(first.value));
}

function isCloser({ words }: ListedCommand): boolean {
  return words.length === 1 && closers.has(words[0]?.value ?? "");
}

/** Operators behind the last command, those behind the end of its loop or group included. */
function operatorsBehind(last: ListedCommand, tail: readonly ListedCommand[]): readonly string[] {
  const open = tail.findIndex((one) => !isCloser(one));
  return [last, ...(open < 0 ? tail : tail.slice(0, open))].flatMap(({ after }) => after);
}

function detachment(last: ListedCommand, tail: readonly ListedCommand[]): string | undefined {
  const words = withoutSudo(behindRunners(last.words)).map(({ value }) => value);
  const given = detacher(words);
  if (given !== undefined) return given;
  if (!operatorsBehind(last, tail).includes("&")) return undefined;
  return "`&` leaves it in the background, and the stage would end at once. Take the `&` away: a launch outlives the connection by itself, `nohup` is not needed.";
}

function withoutSudo(words: readonly PlainWord[]): readonly PlainWord[] {
  if (words[0]?.value !== "sudo") return words;
  const at = words.findIndex(({ value }, index) => index > 0 && !value.startsWith("-"));
  return at < 0 ? [] : behindRunners(words.slice(at));
}

const containers = new Set(["docker", "podman", "nerdctl"]);

function detacher([path = "", ...args]: readonly string[]): string | undefined {
  const program = path.slice(path.lastIndexOf("/") + 1);
  if (containers.has(program)) return detachedContainer(program, args);
  const goesOn = "the stage would end at once while the work goes on elsewhere.";
  switch (program) {
    case "sbatch":
      return args.some((arg) => arg === "--wait" || arg === "-W")
        ? undefined
        : `sbatch hands the job over and returns: ${goesOn} Add \`--wait\`.`;
    case "qsub":
      return args.includes("-sync") ? undefined : `qsub hands the job over and returns: ${goesOn} Add \`-sync y\`.`;
    case "bsub":
      return args.includes("-K") ? undefined : `bsub hands the job over and returns: ${goesOn} Add \`-K\`.`;
    case "screen":
      return args.some((arg) => /^-[dD]m/.test(arg)) || (args.includes("-d") && args.includes("-m"))
        ? `screen is started detached: ${goesOn} Run the command itself; a launch outlives the connection.`
        : undefined;
    case "tmux":
      return detachedTmux(args)
        ? `tmux is started detached: ${goesOn} Run the command itself; a launch outlives the connection.`
        : undefined;
    default:
      return undefined;
  }
}

function detachedTmux(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => /^new(-session)?$/.test(arg));
  return at >= 0 && args.slice(at + 1).some((arg) => /^-[A-Za-z]*d/.test(arg));
}

function detachedContainer(program: string, args: readonly string[]): string | undefined {
  const verb = args.findIndex((arg) => arg === "run" || arg === "up");
  if (verb < 0) return undefined;
  // What comes behind the image is for the container; options with a word of their own are few enough to guess wrong.
  const options = args.slice(verb + 1);
  const end = options.findIndex((arg, at) => !arg.startsWith("-") && !(options[at - 1] ?? "").startsWith("-"));
  const own = end < 0 ? options : options.slice(0, end);
  const detached = own.some((arg) => arg === "--detach" || arg === "--detach=true" || /^-[it]*d[it]*$/.test(arg));
  if (!detached) return undefined;
  return `\`${program} ${args[verb] ?? ""} -d\` leaves the container in the background, and the stage would end at once. Take the \`-d\` away.`;
}

function setOptions(words: readonly PlainWord[]): { readonly errexit: boolean; readonly pipefail: boolean } {
  const [first, ...rest] = words.map(({ value }) => value);
  if (first !== "set") return { errexit: false, pipefail: false };
  return {
    errexit: rest.some((word) => /^-[a-z]*e/.test(word)) || rest.includes("errexit"),
    pipefail: rest.includes("pipefail"),
  };
}

/** The way from the work to the end of the line: whether its exit code is the line's own. */
function lostCode(last: ListedCommand, tail: readonly ListedCommand[], errexit: boolean): string | undefined {
  const rest = tail.filter((one) => !isCloser(one));
  const end = rest.at(-1);
  // A code that was kept is passed on: `rc=$?; …; exit $rc`.
  if (end === undefined || rest.some(keepsCode)) return undefined;
  const joint = operatorsBehind(last, tail).find((operator) => !/^[()]$/.test(operator));
  const word = end.words.map(({ value }) => value).join(" ");
  if (joint === "||" && !failsOn(rest))
    return `\`|| ${word}\` hides a failure: whatever happens, the stage would end with exit code 0.`;
  const goesOn = joint === ";" || joint === "\n" || joint === "\r\n";
  if (!goesOn || errexit || failsOn(rest)) return undefined;
  return `\`; ${word}\` hides a failure: the stage's exit code is that of \`${end.words[0]?.value ?? ""}\`. Join them with \`&&\`.`;
}

function keepsCode({ words }: ListedCommand): boolean {
  const [first, second] = words;
  if (first?.value === "exit") return !second?.literal;
  return words.some(({ value, literal }) => assignment.test(value) && !literal);
}

/** Whether what comes last ends with a failure of its own: `|| { echo no; exit 1; }`. */
function failsOn(rest: readonly ListedCommand[]): boolean {
  return rest.some(({ words: [first, second] }) => first?.value === "exit" && second?.value !== "0");
}

function lostInPipe(commands: readonly ListedCommand[], at: number): string | undefined {
  const before = commands[at - 1];
  const joint = before?.after.at(-1);
  if (before === undefined || (joint !== "|" && joint !== "|&")) return undefined;
  const name = commands[at]?.words.find(({ value }) => !assignment.test(value))?.value ?? "";
  return `\`| ${name}\` hides a failure: this shell has no pipefail, so the exit code is that of \`${name}\`. Leave it out (the output goes to the stage's \`log\`), or set \`shell: bash\`.`;
}
