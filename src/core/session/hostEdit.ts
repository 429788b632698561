import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { ParsedSessionFile, SessionDefinition } from "./definition";
import { parseSessionFile } from "./sessionFile";

/**
 * The text of a session file with one more entry of a host's `path` (before all others, so that it counts) or of its
 * `setup` (after all others), comments and formatting untouched. The result reads exactly as before but for that entry;
 * undefined if no edit can be found of which that is sure (the host comes from an alias, is not written out, or the
 * value comes from a placeholder). A folder that is in `path` already changes nothing.
 */
export function addToHost(text: string, host: string, key: "path" | "setup", value: string): string | undefined {
  if (value.trim() === "" || /\p{Cc}|\{\{/u.test(value)) return undefined;
  const before = parseSessionFile(text);
  const known = before.definition?.hosts.get(host);
  if (!known) return undefined;
  if (known[key].includes(value)) return text;
  const entries = key === "path" ? [value, ...known.path] : [...known.setup, value];
  for (const edit of edits(text, host, key, value)) {
    const candidate = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
    if (sameButForEntry(before, parseSessionFile(candidate), host, { key, entries })) return candidate;
  }
  return undefined;
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function insert(at: number, text: string): Edit {
  return { from: at, to: at, text };
}

function edits(text: string, host: string, key: "path" | "setup", value: string): readonly Edit[] {
  const document = parseDocument(text, { prettyErrors: false, logLevel: "silent" });
  const written = plain(value);
  const map = document.getIn(["hosts", host], true);
  if (!isMap(map)) return [];
  const pair = map.items.find((one) => isScalar(one.key) && one.key.value === key);
  if (!pair) return withNewKey(text, map, `${key}: [${written}]`);
  if (isSeq(pair.value)) return inList(text, pair.value, key, written);
  return isScalar(pair.value) ? besideScalar(text, pair.value, key, written) : [];
}

/** As plain text where YAML takes it for text, else in double quotes. */
function plain(value: string): string {
  return /^(?:[A-Za-z_/]|~\/)[A-Za-z0-9_./~+-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
    ? value
    : JSON.stringify(value);
}

function startOf(node: { readonly range?: readonly [number, number, number] | null | undefined }): number | undefined {
  return node.range?.[0];
}

function withNewKey(text: string, map: YAMLMap, entry: string): readonly Edit[] {
  const start = startOf(map);
  if (start === undefined) return [];
  if (map.flow) return [insert(start + 1, map.items.length === 0 ? ` ${entry} ` : ` ${entry},`)];
  const first: Pair | undefined = map.items[0];
  const at = isScalar(first?.key) ? startOf(first.key) : undefined;
  return at === undefined ? [] : [insert(at, `${entry}${lineBreak(text)}${indentAt(text, at)}`)];
}

function inList(text: string, list: YAMLSeq, key: "path" | "setup", written: string): readonly Edit[] {
  const range = list.range;
  if (!range) return [];
  if (list.flow) {
    if (list.items.length === 0) return [{ from: range[0], to: range[1], text: `[${written}]` }];
    if (key === "path") return [insert(range[0] + 1, `${written}, `)];
    const last = list.items.at(-1);
    return isScalar(last) && last.range ? [insert(last.range[1], `, ${written}`)] : [];
  }
  return inBlockList(text, list, key, written);
}

function inBlockList(text: string, list: YAMLSeq, key: "path" | "setup", written: string): readonly Edit[] {
  const start = startOf(list);
  if (start === undefined) return [];
  // A block list begins at its first dash.
  const entry = `- ${written}`;
  const indent = indentAt(text, start);
  if (key === "path") return [insert(start, `${entry}${lineBreak(text)}${indent}`)];
  const last = list.items.at(-1);
  const end = isScalar(last) ? last.range?.[1] : undefined;
  if (end === undefined) return [];
  const line = text.indexOf("\n", text[end - 1] === "\n" ? end - 1 : end);
  const at = line < 0 ? text.length : line + 1;
  const before = line < 0 ? lineBreak(text) : "";
  return [insert(at, `${before}${indent}${entry}${line < 0 ? "" : lineBreak(text)}`)];
}

function besideScalar(text: string, scalar: Scalar, key: "path" | "setup", written: string): readonly Edit[] {
  const range = scalar.range;
  if (!range) return [];
  if (range[0] === range[1]) return [insert(range[0], ` [${written}]`)];
  const old = text.slice(range[0], range[1]);
  // A plain text may hold what a list in brackets would take for its own.
  const quoted = typeof scalar.value === "string" && scalar.type === "PLAIN" ? JSON.stringify(scalar.value) : old;
  const forms = [old, quoted];
  return forms.map((one) => ({
    from: range[0],
    to: range[1],
    text: key === "path" ? `[${written}, ${one}]` : `[${one}, ${written}]`,
  }));
}

function lineBreak(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** What stands before a place on its line, as blanks. */
function indentAt(text: string, at: number): string {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, at).replace(/[^\t]/g, " ");
}

interface Entry {
  readonly key: "path" | "setup";
  readonly entries: readonly string[];
}

function sameButForEntry(
  before: ParsedSessionFile,
  after: ParsedSessionFile,
  host: string,
  { key, entries }: Entry,
): boolean {
  if (before.definition === undefined || after.definition === undefined) return false;
  if (JSON.stringify(after.definition.hosts.get(host)?.[key]) !== JSON.stringify(entries)) return false;
  const said = ({ problems }: ParsedSessionFile): string =>
    JSON.stringify(problems.map(({ severity, code, message }) => [severity, code, message]));
  return (
    said(before) === said(after) && comparable(before.definition, host, key) === comparable(after.definition, host, key)
  );
}

/** All that a definition says but for places and that key of that host, as a text to compare. */
function comparable(definition: SessionDefinition, host: string, key: "path" | "setup"): string {
  const parts = {
    name: definition.name,
    hosts: [...definition.hosts.values()].map((one) => (one.name === host ? { ...one, [key]: [] } : one)),
    services: [...definition.services.values()],
    stages: [...definition.stages.values()].map((stage) => ({ ...stage, memberParts: [...(stage.memberParts ?? [])] })),
  };
  return JSON.stringify(parts, (name, part: unknown) =>
    name === "range" || name === "commandRange" ? undefined : part,
  );
}
