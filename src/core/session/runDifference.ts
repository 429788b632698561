import type { RunRecord } from "../ports";

/** What of a run can be compared: a record has most of it, a launch that is only planned a part. */
export type ComparedRun = Pick<RunRecord, "command"> &
  Partial<
    Pick<
      RunRecord,
      "cwd" | "shell" | "binary" | "setup" | "environment" | "environmentSalt" | "effectivePath" | "git" | "recordedOn"
    >
  >;

/**
 * What differs between two runs of a stage, a line for each thing: "CUDA_VISIBLE_DEVICES changed", "commit a1b2c3d →
 * d4e5f6a, dirty". What one of them does not say is not compared. Values of variables are never in it.
 */
export function runDifferences(before: ComparedRun, after: ComparedRun): readonly string[] {
  return [
    ...changed("command", before.command, after.command),
    ...changed("folder", before.cwd, after.cwd),
    ...changed("host", before.recordedOn?.hostname, after.recordedOn?.hostname),
    ...changed("shell", before.shell, after.shell),
    ...binaryDifference(before.binary, after.binary),
    ...changed("setup", setupText(before), setupText(after)),
    ...commitDifference(before.git, after.git),
    ...pathDifference(before.effectivePath, after.effectivePath),
    ...variableDifferences(before, after),
  ];
}

function changed(what: string, before: string | undefined, after: string | undefined): readonly string[] {
  return before === undefined || after === undefined || before === after ? [] : [`${what} ${before} → ${after}`];
}

/** A record that has its environment would have lines of setup if there were any. */
function setupText({ setup, environment }: ComparedRun): string | undefined {
  return setup?.join("; ") ?? (environment === undefined ? undefined : "none");
}

/** An empty binary is one that was not found, or whose name only the shell can work out. */
function binaryDifference(before: string | undefined, after: string | undefined): readonly string[] {
  return before === "" || after === "" ? [] : changed("binary", before, after);
}

function commitDifference(before: RunRecord["git"], after: RunRecord["git"]): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const dirty = after.dirty === true ? ", dirty" : "";
  if (before.commit !== after.commit) return [`commit ${short(before.commit)} → ${short(after.commit)}${dirty}`];
  if (before.dirty === undefined || after.dirty === undefined) return [];
  // Two dirty trees of one commit may well be different ones.
  if (before.dirty && after.dirty) return [`commit ${short(after.commit)}, dirty both times`];
  if (before.dirty === after.dirty) return [];
  return [`commit ${short(after.commit)} ${after.dirty ? "clean → dirty" : "dirty → clean"}`];
}

function short(commit: string): string {
  return commit.slice(0, 7);
}

function pathDifference(before: string | undefined, after: string | undefined): readonly string[] {
  if (before === undefined || after === undefined || before === after) return [];
  const [old, now] = [before.split(":"), after.split(":")];
  const gone = old.filter((folder) => !now.includes(folder)).map((folder) => `without ${folder}`);
  const come = now.filter((folder) => !old.includes(folder)).map((folder) => `with ${folder}`);
  return gone.length + come.length === 0 ? ["PATH in another order"] : [`PATH ${[...come, ...gone].join(", ")}`];
}

function variableDifferences(before: ComparedRun, after: ComparedRun): readonly string[] {
  const [old, now] = [before.environment, after.environment];
  if (old === undefined || now === undefined) return [];
  const [had, has] = [new Map(Object.entries(old)), new Map(Object.entries(now))];
  // Hashes by different salts, and those that could not be made, say nothing.
  const comparable = before.environmentSalt !== undefined && before.environmentSalt === after.environmentSalt;
  const differs = (name: string): boolean => {
    const [first = "", second = ""] = [had.get(name), has.get(name)];
    return comparable && first !== "" && second !== "" && first !== second;
  };
  return [...new Set([...had.keys(), ...has.keys()])].sort().flatMap((name) => {
    if (!had.has(name)) return [`${name} added`];
    if (!has.has(name)) return [`${name} removed`];
    return differs(name) ? [`${name} changed`] : [];
  });
}
