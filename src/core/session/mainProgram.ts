import { simpleCommands, type PlainWord } from "./commandWords";

/**
 * The program that a command line is about, and how its name is looked up: along PATH, in the environment that
 * `uv run` takes, in a conda environment by its name (for `conda`, `mamba` or `micromamba`), or in one by its folder.
 */
export interface MainProgram {
  readonly word: string;
  readonly through:
    | { readonly kind: "path" }
    | { readonly kind: "uv" }
    | { readonly kind: "conda"; readonly tool: string; readonly environment: string }
    | { readonly kind: "prefix"; readonly folder: string };
}

/** A program that runs the one after it: which of its options take a word of their own, and what else comes between. */
interface Runner {
  readonly valued: readonly string[];
  /** Words before the program that are no options: a time limit, a mask. */
  readonly positional?: number;
}

const runners: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ["env", { valued: ["-u", "--unset", "-C", "--chdir"] }],
  ["nohup", { valued: [] }],
  ["exec", { valued: ["-a"] }],
  ["command", { valued: [] }],
  ["time", { valued: ["-f", "-o", "--format", "--output"] }],
  ["nice", { valued: ["-n", "--adjustment"] }],
  ["ionice", { valued: ["-c", "-n", "--class", "--classdata"] }],
  ["setsid", { valued: [] }],
  ["stdbuf", { valued: ["-i", "-o", "-e", "--input", "--output", "--error"] }],
  ["timeout", { valued: ["-s", "-k", "--signal", "--kill-after"], positional: 1 }],
  ["taskset", { valued: [], positional: 1 }],
  ["numactl", { valued: ["-C", "-m", "-N", "-i", "-p", "--physcpubind", "--membind", "--cpunodebind"] }],
  ["chrt", { valued: [], positional: 1 }],
  ["caffeinate", { valued: ["-t", "-w"] }],
  ["unbuffer", { valued: [] }],
]);

/** Options of `uv run` that take a word (docs.astral.sh/uv/reference/cli, 0.9). */
const uvValued = [
  "--extra --no-extra --group --no-group --only-group --env-file --with --with-editable --with-requirements --package",
  "-p --python --index --default-index -i --index-url --extra-index-url -f --find-links --index-strategy",
  "-P --upgrade-package --reinstall-package --resolution --prerelease --link-mode -C --config-setting --no-build-package",
  "--no-binary-package --refresh-package --cache-dir --directory --project --config-file --color --exclude-newer",
].flatMap((options) => options.split(" "));

const condas = new Set(["conda", "mamba", "micromamba"]);
const condaValued = ["-n", "--name", "-p", "--prefix", "--cwd", "-a", "--attach", "-r", "--root-prefix", "-e", "--env"];

/** What shells do themselves, and small steps before the program that a stage is about. */
const preludes = new Set(
  [
    ". : [ [[ alias break cd continue declare echo eval exit export false hash local mkdir printf pwd read readonly",
    "return rm set shift shopt sleep source test times touch trap true type typeset ulimit umask unset wait",
  ].flatMap((words) => words.split(" ")),
);
const openers = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done"]);
/** What they run cannot be read off. */
const opaque = new Set(["case", "function"]);
const loops = new Set(["for", "select"]);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/**
 * The program that a stage's command line is about: the first that is no builtin of the shell, behind assignments,
 * `env`, `nohup`, `time` and the like, and behind `uv run` and `conda run`. `python -m x` is about that python.
 * Undefined where it cannot be read off: it is expanded by the shell, or there is none.
 */
export function mainProgram(command: string): MainProgram | undefined {
  for (const words of simpleCommands(command)) {
    if (opaque.has(words[0]?.value ?? "")) return undefined;
    const rest = loops.has(words[0]?.value ?? "") ? [] : behindRunners(words);
    const [first] = rest;
    if (first === undefined || (first.literal && preludes.has(first.value))) continue;
    return first.literal && first.value !== "" ? programOf(first.value, rest) : undefined;
  }
  return undefined;
}

/** The words behind assignments, `env`, `nohup`, `time` and other programs that only run the one after them. */
export function behindRunners(words: readonly PlainWord[]): readonly PlainWord[] {
  let rest = words;
  for (;;) {
    const start = rest.findIndex(({ value }) => !assignment.test(value) && !openers.has(value));
    if (start < 0) return [];
    rest = rest.slice(start);
    const runner = runners.get(rest[0]?.value ?? "");
    if (!runner) return rest;
    const after = afterOptions(rest.slice(1), runner.valued).rest;
    rest = after.slice(runner.positional ?? 0);
  }
}

/** `uv run X`, `conda run -n E X`: the program is X as that environment has it. */
function programOf(name: string, words: readonly PlainWord[]): MainProgram {
  const behind = name === "uv" ? behindUv(words) : condas.has(name) ? behindConda(name, words) : undefined;
  return behind ?? { word: name, through: { kind: "path" } };
}

function behindUv(words: readonly PlainWord[]): MainProgram | undefined {
  const [verb, ...more] = afterOptions(words.slice(1), uvValued).rest;
  if (verb?.value !== "run") return undefined;
  const { options, rest } = afterOptions(more, uvValued);
  const word = options.has("-m") || options.has("--module") ? "python" : wordAfter(rest);
  if (word === undefined) return undefined;
  // A script is run by the environment's Python.
  return { word: word.endsWith(".py") || word === "-" ? "python" : word, through: { kind: "uv" } };
}

function behindConda(tool: string, words: readonly PlainWord[]): MainProgram | undefined {
  if (words[1]?.value !== "run") return undefined;
  const { options, rest } = afterOptions(words.slice(2), condaValued);
  const word = wordAfter(rest);
  if (word === undefined) return undefined;
  const folder = options.get("-p") ?? options.get("--prefix");
  if (folder !== undefined) return { word, through: { kind: "prefix", folder } };
  return { word, through: { kind: "conda", tool, environment: options.get("-n") ?? options.get("--name") ?? "base" } };
}

function wordAfter(words: readonly PlainWord[]): string | undefined {
  const [first] = behindRunners(words);
  return first?.literal === true && first.value !== "" ? first.value : undefined;
}

/** Options in front, with the words they take; `--` ends them. */
function afterOptions(
  words: readonly PlainWord[],
  valued: readonly string[],
): { readonly options: ReadonlyMap<string, string>; readonly rest: readonly PlainWord[] } {
  const options = new Map<string, string>();
  let before: string | undefined;
  for (const [at, { value }] of words.entries()) {
    if (before !== undefined) {
      options.set(before, value);
      before = undefined;
    } else if (value === "--") {
      return { options, rest: words.slice(at + 1) };
    } else if (!/^-./s.test(value)) {
      return { options, rest: words.slice(at) };
    } else if (valued.includes(value)) {
      before = value;
    } else {
      const [, name, text] = /^(--[^=]+)=(.*)$/s.exec(value) ?? [];
      options.set(name ?? value, text ?? "");
    }
  }
  return { options, rest: [] };
}
