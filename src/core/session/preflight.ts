import type { DiskQuota, FreeSpace, GpuInUse, PreflightFacts } from "../preflight";
import { commandHazards } from "./commandHazards";
import type { Cure } from "./cure";
import type { HostDefinition, StageDefinition } from "./definition";
import { amount, bytes, gpuMemory, list } from "./words";

/** What a person can do about a row. `launch`: a stage that it needs. `file`: the session file is opened at it. */
export type PreflightFix =
  | { readonly kind: "cure"; readonly cure: Cure }
  | { readonly kind: "find"; readonly program: string }
  | { readonly kind: "secret"; readonly name: string }
  | { readonly kind: "launch"; readonly stage: string }
  | { readonly kind: "file" };

/** One thing that was looked at before a launch. */
export interface PreflightRow {
  readonly group: "command" | "environment" | "files" | "GPUs and ports" | "inputs";
  readonly name: string;
  /** `error`: the launch would fail, or not be what it seems. `warning`: it may. */
  readonly level: "ok" | "warning" | "error";
  readonly says: string;
  readonly fix?: PreflightFix;
}

/** What a check of a launch is made of. */
export interface PreflightPicture {
  /** The stage as its member runs it. */
  readonly stage: StageDefinition;
  readonly host: HostDefinition;
  readonly facts: PreflightFacts;
  /** Whether `setup` and the environment took part; see `PreflightQuery.withSetup`. */
  readonly withSetup: boolean;
  /** Names of secrets that this machine keeps for the host. */
  readonly keptSecrets: ReadonlySet<string>;
  /** Programs that answered on the host, in place of one that is missing or was renamed. */
  readonly cures: readonly Cure[];
  /** A program that is there and only says that it was renamed. */
  readonly stub?: string;
}

/** Below this a disk counts as nearly full, bytes. */
const littleSpace = 1e9;
/** A run of a data loader or a download may make as many files. */
const fewInodes = 10_000;
/** As the pipeline counts a GPU as in use: more than what an idle display server takes. */
const busyMib = 1000;

/**
 * All that was looked at, in the order in which a launch meets it; each row stands for itself. Pure: the host was asked
 * before.
 */
export function preflightRows(picture: PreflightPicture): readonly PreflightRow[] {
  return [
    ...commandRows(picture),
    ...environmentRows(picture),
    ...fileRows(picture),
    ...gpuRows(picture),
    ...portRows(picture.facts),
  ];
}

const file: PreflightFix = { kind: "file" };

function commandRows({ stage, facts, cures, stub }: PreflightPicture): readonly PreflightRow[] {
  const group = "command";
  const shell = facts.shell === "bash" ? "bash" : "sh";
  const hazards = commandHazards(stage.command ?? "", shell).map(({ kind, says }): PreflightRow =>
    kind === "detaches"
      ? { group, name: "Stays in the foreground", level: "error", says, fix: file }
      : { group, name: "Exit code", level: "warning", says, fix: file },
  );
  const clean: PreflightRow = {
    group,
    name: "Supervision",
    level: "ok",
    says: "stays in the foreground, and its exit code is its own",
  };
  return [...programRows(facts, cures, stub), ...(hazards.length > 0 ? hazards : [clean])];
}

function programRows(
  { program, shellStarts, setupFailed }: PreflightFacts,
  cures: readonly Cure[],
  stub: string | undefined,
): readonly PreflightRow[] {
  const row = { group: "command", name: "Program" } as const;
  if (setupFailed) return [];
  if (!shellStarts)
    return [{ ...row, level: "error", says: "no shell can be started with the PATH that it would get", fix: file }];
  if (!program)
    return [{ ...row, level: "ok", says: "cannot be read off the command; the shell finds it when it starts" }];
  const { word, path, missingInterpreter } = program;
  const broken = brokenProgram({ word, path, missingInterpreter, stub });
  if (broken === undefined) return [{ ...row, level: "ok", says: word === path ? word : `${word} is ${path ?? ""}` }];
  const fixes: PreflightFix[] = cures.map((cure) => ({ kind: "cure", cure }));
  if (fixes.length === 0) fixes.push({ kind: "find", program: word });
  return fixes.map((fix) => ({ ...row, level: "error", says: broken, fix }));
}

interface ProgramFacts {
  readonly word: string;
  readonly path: string | undefined;
  readonly missingInterpreter: string | undefined;
  readonly stub: string | undefined;
}

function brokenProgram({ word, path, missingInterpreter, stub }: ProgramFacts): string | undefined {
  if (path === undefined) {
    return word.includes("/") ? `${word} is not there, or not executable` : `${word} is not on the PATH of a launch`;
  }
  if (missingInterpreter !== undefined)
    return `${path} names ${missingInterpreter}, which is not there (was its environment moved?)`;
  return stub === undefined ? undefined : `${path} only says that it was renamed: ${stub}`;
}

function environmentRows(picture: PreflightPicture): readonly PreflightRow[] {
  const { host, facts, withSetup } = picture;
  const group = "environment";
  const rows: PreflightRow[] = [];
  if (facts.shell === "no-bash")
    rows.push({
      group,
      name: "Shell",
      level: "error",
      says: "the host has no bash, which `shell` asks for",
      fix: file,
    });
  if (!withSetup && hasSetup(host, picture.stage)) {
    const says = "not tried, since what the session file runs was not approved on this machine yet: Launch Stage asks";
    rows.push({ group, name: "Set-up", level: "warning", says });
  } else if (facts.setupFailed) {
    rows.push({ group, name: "Set-up", level: "error", says: setupWords(host, facts.setupFailed), fix: file });
  } else if (host.setup.length > 0) {
    rows.push({
      group,
      name: "Set-up",
      level: "ok",
      says: `${amount(host.setup.length, "line")} ran without an error`,
    });
  }
  if (facts.envFile.kind === "refused")
    rows.push({ group, name: "env_file", level: "error", says: facts.envFile.reason, fix: file });
  return [...rows, ...secretRows(picture)];
}

function hasSetup(host: HostDefinition, stage: StageDefinition): boolean {
  const count = Object.keys({ ...host.env, ...stage.env }).length;
  return host.setup.length > 0 || count > 0 || host.envFile !== undefined;
}

function setupWords(host: HostDefinition, { line, code }: NonNullable<PreflightFacts["setupFailed"]>): string {
  const text = host.setup[line] ?? `line ${String(line + 1)}`;
  return code === "timeout" ? `${text} took longer than 30 s` : `${text} failed with exit code ${String(code)}`;
}

/** By name alone: values are nobody's business here. */
function secretRows({ host, stage, facts, keptSecrets }: PreflightPicture): readonly PreflightRow[] {
  const inFile: readonly string[] = facts.envFile.kind === "read" ? facts.envFile.names : [];
  return host.secrets.map((name): PreflightRow => {
    const row = { group: "environment", name: `Secret ${name}` } as const;
    if (Object.hasOwn({ ...host.env, ...stage.env }, name))
      return {
        ...row,
        level: "warning",
        says: "stands in the session file in plain text, where it does not belong",
        fix: file,
      };
    if (inFile.includes(name)) return { ...row, level: "ok", says: "in the host's env_file" };
    if (keptSecrets.has(name)) return { ...row, level: "ok", says: "kept on this machine" };
    return { ...row, level: "error", says: "has no value for this host", fix: { kind: "secret", name } };
  });
}

function fileRows({ stage, facts }: PreflightPicture): readonly PreflightRow[] {
  const need = stage.doneWhen?.minBytes;
  const state: PreflightRow = {
    group: "files",
    name: "State folder",
    level: "error",
    says: "cannot be written, so no run can be recorded",
    fix: file,
  };
  return [
    placeRow("Folder", facts.cwd),
    placeRow("Log", facts.log),
    ...(facts.stateWritable ? [] : [state]),
    ...facts.space.flatMap((space) => spaceRows(space, need)),
    ...facts.quotas.flatMap((quota) => quotaRows(quota, need)),
  ];
}

const placeWords = {
  ok: "",
  own: "in the run's own folder",
  missing: "does not exist",
  closed: "cannot be entered or written",
  "no-folder": "its folder does not exist",
  "no-file": "is not a regular file",
} as const;

function placeRow(
  name: string,
  { path, state }: { readonly path: string; readonly state: keyof typeof placeWords },
): PreflightRow {
  const words = placeWords[state];
  const says = [path, words].filter((part) => part !== "").join(" ");
  if (state === "ok" || state === "own") return { group: "files", name, level: "ok", says };
  return { group: "files", name, level: "error", says: state === "no-folder" ? `${path}: ${words}` : says, fix: file };
}

/** `done_when` says how much there must be; what is there of it already is not taken off, so it is no error. */
function spaceRows(
  { holds, folder, freeBytes, freeInodes }: FreeSpace,
  need: number | undefined,
): readonly PreflightRow[] {
  const row = { group: "files", name: `Space for ${list([...holds])}` } as const;
  const free = `${bytes(freeBytes)} free at ${folder}`;
  const wanted = holds.includes("outputs") ? need : undefined;
  const rows: PreflightRow[] = [];
  if (freeBytes === 0) rows.push({ ...row, level: "error", says: `the disk is full at ${folder}` });
  else if (wanted !== undefined && freeBytes < wanted)
    rows.push({
      ...row,
      level: "warning",
      says: `${free}, less than the ${bytes(wanted)} that \`done_when\` asks for`,
    });
  else if (freeBytes < littleSpace) rows.push({ ...row, level: "warning", says: `only ${free}` });
  else rows.push({ ...row, level: "ok", says: free });
  if (freeInodes === undefined || freeInodes >= fewInodes) return rows;
  const level = freeInodes === 0 ? "error" : "warning";
  return [...rows, { ...row, level, says: `room for ${amount(freeInodes, "more file")} only at ${folder} (inodes)` }];
}

function quotaRows(quota: DiskQuota, need: number | undefined): readonly PreflightRow[] {
  const row = { group: "files", name: `Quota on ${quota.fileSystem}` } as const;
  const rows: PreflightRow[] = [];
  if (quota.limitBytes !== undefined) {
    const left = Math.max(0, quota.limitBytes - quota.usedBytes);
    const says = `${bytes(left)} left of ${bytes(quota.limitBytes)}`;
    const level = left === 0 ? "error" : left < Math.max(littleSpace, need ?? 0) ? "warning" : "ok";
    rows.push({ ...row, level, says });
  }
  if (quota.limitFiles !== undefined) {
    const left = Math.max(0, quota.limitFiles - quota.usedFiles);
    const level = left === 0 ? "error" : left < fewInodes ? "warning" : "ok";
    if (level !== "ok") rows.push({ ...row, level, says: `room for ${amount(left, "more file")}` });
  }
  return rows;
}

function gpuRows({ stage: { gpus: wanted }, facts: { gpus } }: PreflightPicture): readonly PreflightRow[] {
  if (wanted === undefined || (wanted !== "all" && wanted.length === 0)) return [];
  const group = "GPUs and ports";
  if (!gpus)
    return [{ group, name: "GPUs", level: "error", says: "the host has no nvidia-smi that answers", fix: file }];
  const indices = wanted === "all" ? gpus.map(({ index }) => index) : wanted;
  return indices.map((index): PreflightRow => {
    const name = `GPU ${String(index)}`;
    const gpu = gpus.find((one) => one.index === index);
    if (gpu) return gpuRow(name, gpu);
    return { group, name, level: "error", says: `is not there: the host has ${amount(gpus.length, "GPU")}`, fix: file };
  });
}

function gpuRow(name: string, { usedMib, totalMib, holders }: GpuInUse): PreflightRow {
  const row = { group: "GPUs and ports", name } as const;
  const used = gpuMemory(usedMib, totalMib) ?? "";
  if (usedMib < busyMib) return { ...row, level: "ok", says: `free (${used})` };
  const who = holders.map(({ pid, mib, user, name: program }) => {
    const memory = mib === undefined ? [] : [gpuMemory(mib, undefined) ?? ""];
    const of = user === undefined ? [] : [`of ${user}`];
    return `${program ?? "a process"} (${[`pid ${String(pid)}`, ...of, ...memory].join(", ")})`;
  });
  return { ...row, level: "warning", says: `in use (${used})${who.length > 0 ? ` by ${list(who)}` : ""}` };
}

function portRows({ port }: PreflightFacts): readonly PreflightRow[] {
  if (!port) return [];
  const row = { group: "GPUs and ports", name: `Port ${String(port.number)}` } as const;
  if (!port.taken) return [{ ...row, level: "ok", says: "free" }];
  const by = port.by ?? "another process";
  return [{ ...row, level: "error", says: `${by} listens there already`, fix: file }];
}
