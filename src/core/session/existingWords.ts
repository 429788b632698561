import type { ExistingOutput, ExistingWork } from "../existingWork";
import type { StageDefinition } from "./definition";
import { age, amount, bytes, count } from "./words";

/** What a stage declares that it writes: its outputs, and what must be there when it is done. */
export function declaredOutputs({ outputs, doneWhen }: StageDefinition): readonly string[] {
  const snapshot = doneWhen?.hubSnapshot === undefined ? [] : [doneWhen.hubSnapshot];
  return [...new Set([...(outputs?.files ?? []), ...(doneWhen?.files ?? []), ...snapshot])];
}

/** How many of the stage's outputs are there, as its `outputs` counts them; undefined where it does not, or nothing is. */
export function outputCount({ outputs }: StageDefinition, work: ExistingWork): number | undefined {
  if (!outputs) return undefined;
  const own = work.outputs.filter(({ pattern }) => outputs.files.includes(pattern));
  if (own.length === 0) return undefined;
  if (outputs.count === "files") return sum(own, ({ files }) => files);
  if (outputs.count === "bytes") return sum(own, (output) => output.bytes);
  return own.every(({ lines }) => lines !== undefined) ? sum(own, ({ lines }) => lines ?? 0) : undefined;
}

/** What is there, the number first: `18,000 lines (1.2 GB in 3 files)`; undefined where nothing is. */
export function amountThere(work: ExistingWork): string | undefined {
  const found = work.outputs.filter(({ files }) => files > 0);
  if (found.length === 0) return undefined;
  const files = sum(found, (output) => output.files);
  const size = sum(found, (output) => output.bytes);
  const counted = found.filter(({ lines }) => lines !== undefined);
  if (counted.length === 0) return `${amount(files, "file")} (${bytes(size)})`;
  const lines = sum(counted, (output) => output.lines ?? 0);
  return `${amount(lines, "line")} (${bytes(size)} in ${amount(files, "file")})`;
}

/** The file that changed last, and how long ago by the host's clock. */
export function newestThere(work: ExistingWork): string | undefined {
  const newest = work.outputs.flatMap((output) => output.newest ?? []).sort((a, b) => b.at - a.at)[0];
  return newest && `${baseName(newest.path)} changed ${age(newest.at, work.now)}`;
}

/** The newest checkpoint and its age: `checkpoint-1500 of 12 min ago`. */
export function checkpointThere({ checkpoint, now }: ExistingWork): string | undefined {
  if (!checkpoint) return undefined;
  const when = age(checkpoint.at, now);
  return `${baseName(checkpoint.path)} of ${when}`;
}

/** Runs that have ended and left processes behind. One that goes on was started by somebody else, and is nobody's rest. */
export function orphanRuns(work: ExistingWork | undefined): readonly string[] {
  return [...new Set((work?.processes ?? []).filter(({ live }) => !live).map(({ run }) => run))];
}

/** GPU memory that a process holds, in words; undefined if none. */
export function heldBy(pid: number, { gpuHolders }: ExistingWork): string | undefined {
  const held = gpuHolders.filter((holder) => holder.pid === pid);
  if (held.length === 0) return undefined;
  const memory = sum(held, ({ memoryMib }) => memoryMib ?? 0) / 1024;
  const gpus = held.map(({ gpu }) => count(gpu)).join(", ");
  return memory > 0 ? `${count(memory)} GB of GPU ${gpus}` : `memory of GPU ${gpus}`;
}

function baseName(path: string): string {
  return path.replace(/\/+$/, "").replace(/^.*\//s, "");
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

/** The size of all that is there, bytes. */
export function bytesThere(outputs: readonly ExistingOutput[]): number {
  return sum(outputs, (output) => output.bytes);
}
