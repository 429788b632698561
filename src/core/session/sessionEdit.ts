import { commandWords } from "./commandWords";
import type { ParsedSessionFile, SessionDefinition, StageDefinition, TextRange } from "./definition";
import { parseSessionFile } from "./sessionFile";

// All edits are one bundle of first use.
export { addToHost } from "./hostEdit";

/**
 * The text of a session file with one program of a stage's command replaced (`hf` by `/root/ml-env/bin/hf`), comments
 * and formatting untouched. A bare `from` also stands for a path that ends in it: logs name tools without their folder.
 * `to` is taken literally and quoted for the shell and for YAML as needed. The result reads
 * exactly as before but for that word; undefined if no edit can be found of which that is sure (the program comes from
 * a placeholder or an alias, is not in the command, or the command was not understood).
 */
export function replaceProgram(text: string, stage: string, from: string, to: string): string | undefined {
  if (from === "" || !/^[^-]/.test(to) || /\p{Cc}|\{\{/u.test(to)) return undefined;
  const before = parseSessionFile(text);
  const found = before.definition?.stages.get(stage);
  if (found?.command === undefined || found.commandRange === undefined) return undefined;
  const words = commandWords(found.command);
  const word = words.find(({ value }) => value === from) ?? words.find(({ value }) => value.endsWith(`/${from}`));
  if (!word) return undefined;
  for (const quoted of shellForms(to)) {
    const command = found.command.slice(0, word.range.from) + quoted + found.command.slice(word.range.to);
    // Quoting must hold: the shell has to see the very program that was asked for.
    if (!commandWords(command).some(({ value, range }) => value === to && range.from === word.range.from)) continue;
    const written = found.command.slice(word.range.from, word.range.to);
    for (const candidate of candidates(text, found.commandRange, written, quoted))
      if (sameButForCommand(before, parseSessionFile(candidate), stage, command)) return candidate;
  }
  return undefined;
}

/** Ways to write a word so that the shell takes it literally, the most readable first. */
function shellForms(word: string): string[] {
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(word)) return [word];
  return [`'${word.replaceAll("'", `'\\''`)}'`, word.replace(/[^A-Za-z0-9_@%+:,./-]/gu, "\\$&")];
}

/** More places than a command has words that could be meant. */
const mostCandidates = 50;

/** Texts with one occurrence of `written` replaced, in every way that YAML may have it written. */
function* candidates(text: string, range: TextRange, written: string, quoted: string): Generator<string> {
  const raw = text.slice(range.from, range.to);
  const escape = yamlEscape(raw.charAt(0));
  const needle = escape(written);
  let at = raw.indexOf(needle);
  for (let tried = 0; at >= 0 && tried < mostCandidates; tried++) {
    const from = range.from + at;
    yield text.slice(0, from) + escape(quoted) + text.slice(from + needle.length);
    at = raw.indexOf(needle, at + 1);
  }
}

function yamlEscape(quote: string): (word: string) => string {
  if (quote === '"') return (word) => word.replace(/["\\]/g, "\\$&");
  if (quote === "'") return (word) => word.replaceAll("'", "''");
  return (word) => word;
}

function sameButForCommand(
  before: ParsedSessionFile,
  after: ParsedSessionFile,
  stage: string,
  command: string,
): boolean {
  if (before.definition === undefined || after.definition === undefined) return false;
  if (after.definition.stages.get(stage)?.command !== command) return false;
  const said = ({ problems }: ParsedSessionFile): string =>
    JSON.stringify(problems.map(({ severity, code, message }) => [severity, code, message]));
  return said(before) === said(after) && comparable(before.definition, stage) === comparable(after.definition, stage);
}

/** All that a definition says but for places and one stage's command, as a text to compare. */
function comparable(definition: SessionDefinition, stage: string): string {
  const parts = {
    name: definition.name,
    hosts: [...definition.hosts.values()],
    services: [...definition.services.values()],
    stages: [...definition.stages.values()].map((one) => (one.name === stage ? { ...one, command: "" } : one)),
  };
  return JSON.stringify(parts, (key, value: unknown) =>
    key === "range" || key === "commandRange" ? undefined : value,
  );
}

/**
 * The stage that an offset in the session file's text belongs to: the last one whose key begins at or before it. What
 * comes after all stages (`notify`) cannot be told from the last stage by the definition alone.
 */
export function stageAt(definition: SessionDefinition, offset: number): StageDefinition | undefined {
  const before = [...definition.stages.values()].filter(({ range }) => range.from <= offset);
  return before.reduce<StageDefinition | undefined>(
    (last, stage) => (last === undefined || stage.range.from > last.range.from ? stage : last),
    undefined,
  );
}
