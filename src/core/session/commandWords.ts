import type { TextRange } from "./definition";

/** A word of a command line that names a program. */
export interface CommandWord {
  /** Without its quotes. */
  readonly value: string;
  /** Its place in the command, quotes included. */
  readonly range: TextRange;
}

type Token =
  | { readonly kind: "word"; readonly value: string; readonly literal: boolean; readonly range: TextRange }
  | { readonly kind: "end"; readonly operator: string }
  | { readonly kind: "redirect" };

/**
 * The programs that a POSIX shell command line starts, in order: at its beginning and after `&&`, `||`, `|`, `;`, `&`
 * and line breaks, behind assignments, redirections, and prefixes such as `env X=1` or `nohup`. What is inside `$(…)`
 * and backquotes is not looked at, and what follows a here-document or `case` neither: there a wrong guess is worse
 * than none.
 */
export function commandWords(command: string): readonly CommandWord[] {
  const words: CommandWord[] = [];
  let state: State = { kind: "start" };
  for (const token of tokens(command)) {
    const step = advance(state, token);
    state = step.state;
    if (step.program && token.kind === "word" && token.literal) words.push({ value: token.value, range: token.range });
    if (step.over) break;
  }
  return words;
}

/**
 * Where arguments go that are meant for the last program of a command line: behind its words, before the pipe that its
 * output goes through. Undefined where that cannot be said: loops, subshells, here-documents.
 */
export function argumentsEnd(command: string): number | undefined {
  if (/<<(?!<)/.test(command)) return undefined;
  let found: number | undefined;
  let end: number | undefined;
  let piped = false;
  let first = true;
  for (const token of tokens(command)) {
    if (isInvolved(token, first)) return undefined;
    if (token.kind === "redirect") continue;
    first = token.kind === "end";
    if (token.kind === "word") end = piped ? end : token.range.to;
    else {
      piped = token.operator === "|" || token.operator === "|&";
      found = piped ? found : (end ?? found);
      end = piped ? end : undefined;
    }
  }
  return end ?? found;
}

function isInvolved(token: Token, first: boolean): boolean {
  if (token.kind === "word") return first && openers.has(token.value);
  return token.kind === "end" && /^(?:[()]|;;)$/.test(token.operator);
}

/** A word as it stands in a command. */
export interface PlainWord {
  /** Without its quotes. */
  readonly value: string;
  /** Whether it is what it says: nothing in it is expanded by the shell. */
  readonly literal: boolean;
}

/** The simple commands of a command line, in order, each as its words; redirections and their files are left out. */
export function simpleCommands(command: string): readonly (readonly PlainWord[])[] {
  const commands: PlainWord[][] = [[]];
  let isFile = false;
  for (const token of tokens(command)) {
    if (token.kind === "end") commands.push([]);
    else if (token.kind === "word" && !isFile) {
      commands.at(-1)?.push({ value: token.value, literal: token.literal });
    }
    isFile = token.kind === "redirect";
  }
  return commands.filter((words) => words.length > 0);
}

/** A simple command with the operators between it and the next one: `;`, `&`, `|`, `||`, a bracket, a line break. */
export interface ListedCommand {
  readonly words: readonly PlainWord[];
  readonly after: readonly string[];
}

/**
 * The simple commands of a command line with what joins them. Undefined where they cannot be read off to the end
 * (here-documents).
 */
export function listedCommands(command: string): readonly ListedCommand[] | undefined {
  if (/<<(?!<)/.test(command)) return undefined;
  const commands: { words: PlainWord[]; after: string[] }[] = [];
  let isFile = false;
  for (const token of tokens(command)) {
    const last = commands.at(-1);
    if (token.kind === "end") last?.after.push(token.operator);
    else if (token.kind === "word" && !isFile) {
      const word: PlainWord = { value: token.value, literal: token.literal };
      if (last?.after.length === 0) last.words.push(word);
      else commands.push({ words: [word], after: [] });
    }
    isFile = token.kind === "redirect";
  }
  return commands;
}

type State =
  | { readonly kind: "start" }
  | { readonly kind: "arguments" }
  | { readonly kind: "file"; readonly then: State }
  | { readonly kind: "prefix"; readonly prefix: Prefix; readonly positional: number; readonly takesValue: boolean };

interface Step {
  readonly state: State;
  readonly program?: boolean;
  readonly over?: boolean;
}

interface Prefix {
  /** Options whose value is a word of its own. */
  readonly valued: readonly string[];
  /** Words before the program that are neither options nor assignments. */
  readonly positional: number;
}

const prefixes: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ["env", { valued: ["-u", "-C", "--unset", "--chdir"], positional: 0 }],
  ["nohup", { valued: [], positional: 0 }],
  ["exec", { valued: ["-a"], positional: 0 }],
  ["command", { valued: [], positional: 0 }],
  ["time", { valued: ["-f", "-o"], positional: 0 }],
  ["nice", { valued: ["-n"], positional: 0 }],
  ["ionice", { valued: ["-c", "-n"], positional: 0 }],
  ["setsid", { valued: [], positional: 0 }],
  ["stdbuf", { valued: ["-i", "-o", "-e"], positional: 0 }],
  ["timeout", { valued: ["-s", "-k"], positional: 1 }],
  ["taskset", { valued: [], positional: 1 }],
  ["numactl", { valued: ["-C", "-m", "-N", "-i", "-p"], positional: 0 }],
  ["sudo", { valued: ["-u", "-g", "-h", "-p", "-C"], positional: 0 }],
]);

/** Words after which a command begins. */
const openers = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done"]);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

function advance(state: State, token: Token): Step {
  if (token.kind === "end") return { state: { kind: "start" } };
  if (token.kind === "redirect") return { state: { kind: "file", then: state } };
  switch (state.kind) {
    case "file":
      return { state: state.then };
    case "arguments":
      return { state };
    case "start":
      return atStart(token.value);
    case "prefix":
      return afterPrefix(state, token.value);
  }
}

function atStart(word: string): Step {
  if (assignment.test(word) || openers.has(word)) return { state: { kind: "start" } };
  if (word === "case" || word === "function") return { state: { kind: "arguments" }, over: true };
  if (word === "for" || word === "select") return { state: { kind: "arguments" } };
  const prefix = prefixes.get(word);
  if (!prefix) return { state: { kind: "arguments" }, program: true };
  return { state: { kind: "prefix", prefix, positional: prefix.positional, takesValue: false }, program: true };
}

function afterPrefix(state: Extract<State, { kind: "prefix" }>, word: string): Step {
  if (state.takesValue) return { state: { ...state, takesValue: false } };
  if (word.startsWith("-")) return { state: { ...state, takesValue: state.prefix.valued.includes(word) } };
  if (assignment.test(word)) return { state };
  if (state.positional > 0) return { state: { ...state, positional: state.positional - 1 } };
  return atStart(word);
}

function* tokens(command: string): Generator<Token> {
  let at = 0;
  while (at < command.length) {
    const rest = command.slice(at, at + 4);
    const blank = /^(?:[ \t]+|\\\r?\n)/.exec(command.slice(at))?.[0];
    if (blank !== undefined) at += blank.length;
    else if (rest.startsWith("#")) at = lineEnd(command, at);
    else if (rest.startsWith("<<") && !rest.startsWith("<<<")) return;
    else {
      const operator = /^(?:\d*(?:>>|>\||>&|<&|<<<|<>|>|<)|&>>?|&&|\|\||\|&|;;|[\n\r;|&()])/.exec(
        command.slice(at),
      )?.[0];
      if (operator === undefined) {
        const word = readWord(command, at);
        yield word;
        at = word.range.to;
      } else {
        yield /[<>]/.test(operator) ? { kind: "redirect" } : { kind: "end", operator };
        at += operator.length;
      }
    }
  }
}

function lineEnd(command: string, at: number): number {
  const end = command.indexOf("\n", at);
  return end < 0 ? command.length : end;
}

/** A word from `start` on, at least one character long. `literal`: what it names stands there, nothing is expanded. */
function readWord(command: string, start: number): Extract<Token, { kind: "word" }> {
  let at = start;
  let value = "";
  let literal = true;
  while (at < command.length && (at === start || !/[\s;|&()<>]/.test(command.charAt(at)))) {
    const part = readPart(command, at);
    value += part.value;
    literal &&= part.literal;
    at = part.to;
  }
  return { kind: "word", value, literal, range: { from: start, to: at } };
}

interface Part {
  readonly value: string;
  readonly literal: boolean;
  readonly to: number;
}

function readPart(command: string, at: number): Part {
  const rest = command.slice(at);
  const single = /^'([^']*)'/.exec(rest);
  if (single) return { value: single[1] ?? "", literal: true, to: at + single[0].length };
  const double = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(rest);
  if (double) {
    const inner = double[1] ?? "";
    return {
      value: inner.replace(/\\([$`"\\])/g, "$1"),
      literal: !/[$`]/.test(inner.replace(/\\./g, "")),
      to: at + double[0].length,
    };
  }
  if (rest.startsWith("\\") && rest.length > 1) return { value: rest.charAt(1), literal: true, to: at + 2 };
  if (rest.startsWith("`")) {
    const end = command.indexOf("`", at + 1);
    return { value: "", literal: false, to: end < 0 ? command.length : end + 1 };
  }
  if (rest.startsWith("$(") || rest.startsWith("${"))
    return { value: "", literal: false, to: closing(command, at + 1) };
  return { value: rest.charAt(0), literal: !/[$'"*?[]/.test(rest.charAt(0)), to: at + 1 };
}

/** The place after the bracket that closes the one at `open`, quotes heeded; the end if nothing does. */
function closing(command: string, open: number): number {
  const pairs: Readonly<Record<string, string>> = { "(": ")", "{": "}" };
  const stack: string[] = [];
  for (let at = open; at < command.length; at++) {
    const char = command.charAt(at);
    if (char === "\\") at++;
    else if (char === "'" || char === '"') {
      const end = command.indexOf(char, at + 1);
      if (end < 0) return command.length;
      at = end;
    } else if (pairs[char] !== undefined) stack.push(pairs[char]);
    else if (char === stack.at(-1)) stack.pop();
    if (stack.length === 0) return at + 1;
  }
  return command.length;
}
