import { isExpected } from "../errors";
import { hintFormat } from "../log/formats/hint";
import { stageDefaults } from "./defaults";
import type { DoneWhen, MemberParts, ProgressHint, Retries, StageOutputs, TextRange } from "./definition";
import { listed } from "./hostEntry";
import type { SessionProblems } from "./sessionProblems";
import type { StageInput } from "./sessionSchema";
import { keyRangeAt, nodeAt } from "./sessionTree";
import type { TreeNode } from "./sessionTree";
import { parseDuration, parseSize } from "./units";

/** Where a stage is written, for what is wrong in it. */
export interface StagePlace {
  readonly root: TreeNode;
  readonly problems: SessionProblems;
  readonly name: string;
}

/** The parts of a stage in which values of its `matrix` may stand, as they are written. */
export function partsOf(place: StagePlace, input: StageInput, env: Readonly<Record<string, string>>): MemberParts {
  const { command, cwd, log, resume } = input;
  return defined<MemberParts>({
    env,
    command,
    cwd,
    log: typeof log === "string" ? log : undefined,
    gpus: gpusOf(input.gpus),
    progress: progressOf(place, input.progress),
    doneWhen: doneWhenOf(place, input),
    outputs: outputsOf(place, input.outputs),
    resume: resume?.args === undefined ? undefined : { args: resume.args },
  });
}

/** The same without the keys that are undefined. */
export function defined<T>(parts: { readonly [K in keyof T]-?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as T;
}

/** The GPUs of a stage or service. A value of a matrix that is not filled in yet is left out. */
export function gpusOf(
  gpus: number | string | readonly (number | string)[] | undefined,
): "all" | readonly number[] | undefined {
  if (gpus === undefined || gpus === "all") return gpus;
  const numbers = listed<number | string>(gpus).map(Number);
  return [...new Set(numbers.filter(Number.isInteger))];
}

/** How often the stage starts again by itself. */
export function retriesOf(retries: StageInput["retries"]): Retries {
  const noRetries = stageDefaults.retries;
  if (retries === undefined) return noRetries;
  if (typeof retries === "number") return { ...noRetries, max: retries };
  return {
    max: retries.max ?? 3,
    on: retries.on ?? noRetries.on,
    backoffSeconds: parseDuration(retries.backoff ?? noRetries.backoffSeconds) ?? noRetries.backoffSeconds,
  };
}

function progressOf(place: StagePlace, progress: StageInput["progress"]): ProgressHint | undefined {
  if (progress === undefined) return undefined;
  const { total, pattern } = progress;
  const fault = pattern === undefined ? undefined : patternFault(pattern);
  if (fault !== undefined) broken(place, ["progress", "pattern"], fault);
  const usable = fault === undefined ? pattern : undefined;
  return {
    ...(total === undefined ? {} : { total }),
    ...(usable === undefined ? {} : { pattern: usable }),
  };
}

/** Asks the one who will use the pattern, so that the file and the log reader cannot disagree. */
function patternFault(pattern: string): string | undefined {
  try {
    hintFormat(pattern);
    return undefined;
  } catch (error) {
    if (isExpected(error)) return error.message;
    throw error;
  }
}

function doneWhenOf(place: StagePlace, { done_when: written, outputs }: StageInput): DoneWhen | undefined {
  if (written === undefined) return undefined;
  const files = [...listed(written.files), ...listed(written.exists)];
  const minBytes = written.min_size === undefined ? undefined : parseSize(written.min_size);
  if (minBytes !== undefined && files.length === 0 && written.hf_snapshot === undefined) {
    broken(place, ["done_when", "min_size"], "`min_size` needs `files` or `hf_snapshot`: say whose size it is.");
    return undefined;
  }
  if (written.outputs_at_least !== undefined && outputs?.files === undefined) {
    const message = "`outputs_at_least` needs `outputs` of the stage: say what is counted.";
    broken(place, ["done_when", "outputs_at_least"], message);
    return undefined;
  }
  const { hf_snapshot: hubSnapshot, outputs_at_least: outputsAtLeast, command, log_line: logLine } = written;
  const parts = defined<DoneWhen>({ files, minBytes, hubSnapshot, outputsAtLeast, command, logLine });
  return files.length === 0 && Object.keys(parts).length === 1 ? undefined : parts;
}

function outputsOf(place: StagePlace, written: StageInput["outputs"]): StageOutputs | undefined {
  if (written === undefined) return undefined;
  const files = listed(written.files);
  if (files.length === 0) {
    broken(place, ["outputs"], "`outputs` needs `files`: say what the stage writes.");
    return undefined;
  }
  const { token_field: tokenField } = written;
  if (tokenField !== undefined && !isFieldPath(tokenField)) {
    broken(
      place,
      ["outputs", "token_field"],
      "`token_field` must be names of keys joined by dots, as `usage.completion_tokens`: letters, digits, `_` and `-`.",
    );
    return { files, count: written.count ?? "files" };
  }
  return { files, count: written.count ?? "files", ...(tokenField === undefined ? {} : { tokenField }) };
}

/** Goes into a program for awk on the host as it is. */
function isFieldPath(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,9}$/.test(text);
}

function broken({ root, problems, name }: StagePlace, path: readonly string[], message: string): void {
  const whole = ["stages", name, ...path];
  problems.addBroken("schema", whole, rangeOf(root, whole), message);
}

function rangeOf(root: TreeNode, path: readonly string[]): TextRange {
  return nodeAt(root, path)?.range ?? keyRangeAt(root, path);
}
