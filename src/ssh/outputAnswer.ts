import { ExpectedError } from "../core/errors";
import type { OutputCheck, OutputReport } from "../core/ports";
import { amount, bytes, bytesOf, count } from "../core/session/words";

/** More words than this help nobody. */
const mostWords = 300;

/**
 * The report of an answer of outputs.sh (there stands what its lines mean).
 * @throws ExpectedError when it is no such answer
 */
export function outputReport(answer: readonly string[], check: OutputCheck): OutputReport {
  const { facts, faults } = factsOf(answer);
  const took = facts.get("took");
  if (!took) throw new ExpectedError("What the host answered about the outputs cannot be understood.");
  const ok = faults.length === 0;
  const figures = figuresOf(facts);
  return { ok, ...figures, detail: ok ? foundWords(figures, check) : missingWords(faults, check) };
}

type Facts = ReadonlyMap<string, readonly number[]>;

function factsOf(answer: readonly string[]): { readonly facts: Facts; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const facts = new Map<string, readonly number[]>();
  for (const line of answer) {
    const [, word = "", rest = ""] = /^@ (\w+) (.*)$/.exec(line) ?? [];
    if (word === "fault") faults.push(faultOf(rest));
    else if (word !== "") facts.set(word, rest.split(" ").map(safeNumber));
    else if (line.startsWith(": ")) faults.at(-1)?.said.push(line.slice(2));
  }
  return { facts, faults };
}

/** The numbers of a report. */
type Figures = Omit<OutputReport, "ok" | "detail" | "unchecked">;

function figuresOf(facts: Facts): Figures {
  const [count, ...outputs] = facts.get("outputs") ?? [];
  const [files = 0, size = 0, newest = 0] = facts.get("files") ?? outputs;
  const [totalBytes] = facts.get("total") ?? [];
  const [tookMs = 0] = facts.get("took") ?? [];
  const newestAt = Math.max(newest, outputs[2] ?? 0) * 1000;
  return {
    bytes: size,
    files,
    ...(count === undefined ? {} : { count }),
    ...(totalBytes === undefined ? {} : { totalBytes }),
    ...(newestAt > 0 ? { newestAt } : {}),
    tookMs,
  };
}

/** Something that is missing: its word, what stands after it, and what a command said. */
interface Fault {
  readonly word: string;
  readonly text: string;
  readonly said: string[];
}

function faultOf(rest: string): Fault {
  const [, word = "", text = ""] = /^(\w+) ?(.*)$/.exec(rest) ?? [];
  return { word, text, said: [] };
}

function safeNumber(text: string): number {
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : 0;
}

function foundWords(figures: Figures, check: OutputCheck): string {
  const { outputs, hubSnapshot, files } = check;
  const parts: string[] = [];
  if (outputs?.count === "lines") parts.push(amount(figures.count ?? 0, "line"));
  if (files.length > 0 || hubSnapshot !== undefined || outputs)
    parts.push(amount(figures.files, "file"), bytes(figures.bytes));
  if (check.logLine !== undefined) parts.push("the line is in its log");
  if (check.command !== undefined) parts.push(`\`${short(check.command)}\` ended with exit code 0`);
  return parts.join(", ");
}

function missingWords(faults: readonly Fault[], check: OutputCheck): string {
  const shards = new Set(faults.filter(({ word }) => word === "shard").map(({ text }) => wordsAfter(text, 3)));
  const told = faults.filter(({ word, text }) => word !== "dangling" || !shards.has(text));
  return [...new Set(told.map((fault) => faultWords(fault, check)))].join("; ");
}

function faultWords(fault: Fault, check: OutputCheck): string {
  const { word, text, said } = fault;
  const words = text.split(" ");
  const number = (index: number): number => safeNumber(words[index] ?? "");
  switch (word) {
    case "none":
      return `nothing matches ${short(text)}`;
    case "size":
      return `${partOf(number(0), number(1))} are there`;
    case "count":
      return countWords(number(0), number(1), check);
    case "command":
      return commandWords(words[0] ?? "", said, check);
    case "line":
      return `no line of its log fits \`${short(check.logLine ?? "")}\``;
    case "pattern":
      return `\`log_line\` is no extended regular expression: \`${short(check.logLine ?? "")}\``;
    case "log":
      return `its log ${short(text)} is not there`;
    case "denied":
      return `${short(text)} may not be looked into`;
    default:
      return snapshotWords(word, text, number);
  }
}

function snapshotWords(word: string, text: string, number: (index: number) => number): string {
  switch (word) {
    case "folder":
      return `the folder ${short(text)} is not there`;
    case "index":
      return `the index ${short(text)} cannot be read`;
    case "shard":
      return `shard ${count(number(1))} of ${count(number(2))} (${short(wordsAfter(text, 3))}) ${shardWords(text)}`;
    case "shards":
      return `${amount(number(0), "more shard")} ${number(0) === 1 ? "is" : "are"} missing`;
    case "incomplete":
      return incompleteWords(number(0), number(1), wordsAfter(text, 2));
    case "dangling":
      return `${short(text)} is a link to nothing`;
    case "weights":
      return "no file with weights is there";
    case "nothing":
      return "no files are there";
    default:
      return `the host says: ${short(`${word} ${text}`)}`;
  }
}

function shardWords(text: string): string {
  if (text.startsWith("empty ")) return "is empty";
  return text.startsWith("dangling ") ? "is a link to nothing" : "is missing";
}

function incompleteWords(files: number, largest: number, name: string): string {
  const of = files === 1 ? "one file is" : `${count(files)} files are`;
  return `${of} not downloaded to the end (${short(name)}, ${bytes(largest)} so far)`;
}

function countWords(have: number, want: number, { outputs }: OutputCheck): string {
  if (outputs?.count === "bytes") return `${partOf(have, want)} are there`;
  return `${count(have)} of ${amount(want, outputs?.count === "lines" ? "line" : "file")} are there`;
}

/** `19.2 of 25 GB`; exact where rounding would hide the difference. */
function partOf(have: number, want: number): string {
  const [part, whole = ""] = bytesOf(have, want).split(" / ");
  const same = part === whole.split(" ")[0];
  return same ? `${count(have)} of ${amount(want, "byte")}` : `${part ?? ""} of ${whole}`;
}

function commandWords(code: string, said: readonly string[], { command = "" }: OutputCheck): string {
  if (code === "late") return `\`${short(command)}\` gave no answer within a minute`;
  // Its last words: what went wrong stands at the end.
  const words = said.join(" ").replace(/\s+/g, " ").trim();
  const last = words.length > mostWords ? `…${words.slice(-mostWords)}` : words;
  return `\`${short(command)}\` ended with exit code ${code}${last === "" ? "" : `: ${last}`}`;
}

function wordsAfter(text: string, before: number): string {
  return text.split(" ").slice(before).join(" ");
}

function short(text: string): string {
  return text.length > mostWords ? `${text.slice(0, mostWords)}…` : text;
}
