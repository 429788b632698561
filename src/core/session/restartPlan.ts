import type { ExistingQuery, ExistingWork } from "../existingWork";
import type { RunRecord } from "../ports";
import { ofMember, type StageDefinition } from "./definition";
import { dependantsOf } from "./dependants";
import type { MemberRef } from "./events";
import {
  amountThere,
  bytesThere,
  checkpointThere,
  declaredOutputs,
  heldBy,
  newestThere,
  orphanRuns,
  outputCount,
} from "./existingWords";
import { isActive, lastSeen } from "./judge";
import type { ResumePoint } from "./launchNote";
import type { Member, Session } from "./model";
import { resumeCommand } from "./resumeCommand";
import { runDifferences } from "./runDifference";
import { count, duration, list, percentDone } from "./words";

/** What a restart does with what is there before the command runs. `copy`: a copy is kept, and the command meets the files. */
export type RestartWay = "again" | "resume" | "over" | "copy" | "aside";

/** One of the things a person can say. */
export interface RestartChoice {
  readonly way: RestartWay;
  readonly label: string;
  readonly detail: string;
}

/** What a restart would do and meet, before it is done. */
export interface RestartPlan {
  /** In plain words, the gravest first; may quote a host. */
  readonly rows: readonly string[];
  /** The best first. */
  readonly choices: readonly RestartChoice[];
  /** Whether the member's own run is ended by it. */
  readonly stopsRun: boolean;
  /** Whether there is anything that a person should know before. */
  readonly asks: boolean;
  /** Older runs of which processes are left; they are ended first. */
  readonly orphanRuns: readonly string[];
  /** Where a resumed run takes up; its counts and its estimate go on from there. */
  readonly resume: ResumePoint;
}

/** Up to this size a copy of the outputs is kept when a command begins anew over them. */
const mostCopied = 1e9;

/** What to ask the host about a member before it is started again. */
export function existingQuery(session: Session, stage: StageDefinition, ref: MemberRef): ExistingQuery {
  return {
    session: session.definition.name,
    ...ref,
    ...(stage.cwd === undefined ? {} : { cwd: stage.cwd }),
    outputs: declaredOutputs(stage),
    countLines: stage.outputs?.count === "lines",
    checkpointsInCwd: stage.kind === "training" || stage.kind === "other",
  };
}

/**
 * The plan of a restart: pure, from the session and what the host found.
 * @param work undefined where the host could not be asked; then the person is told, and asked.
 */
export function restartPlan(
  session: Session,
  ref: MemberRef,
  work: ExistingWork | undefined,
  now: number,
): RestartPlan {
  const stage = session.stages.get(ref.stage);
  const member = stage?.members.find(({ name }) => name === ref.member);
  if (!stage || !member) return nothingToDo;
  const definition = ofMember(stage.definition, ref.member);
  const live = liveRun(member);
  const stopsRun = live !== undefined;
  const orphans = work ? work.processes.filter((one) => !one.live) : [];
  const something = work !== undefined && isSomething(work);
  return {
    rows: [
      stopsRun ? stopRow(member, now) : undefined,
      ...(work ? [orphanRow(work, orphans), existingRow(work)] : [unseen]),
      changeRow(member.run, definition, session.hosts.get(definition.host)?.definition.setup),
      dependantsRow(session, ref.stage),
      work && othersRow(definition, work),
    ].filter((row) => row !== undefined),
    choices: choicesOf(definition, work, something, stopsRun),
    stopsRun,
    asks: stopsRun || something || orphans.length > 0 || work === undefined,
    orphanRuns: orphanRuns(work),
    resume: pointOf(definition, member, work),
  };
}

const unseen = "What is there already could not be looked at: the host did not answer.";

const nothingToDo: RestartPlan = {
  rows: [],
  choices: [],
  stopsRun: false,
  asks: false,
  orphanRuns: [],
  resume: {},
};

/** The run that is at work. One that has ended is not stopped, even while its last words are waited for. */
function liveRun({ state, run }: Member): string | undefined {
  return run && run.end === undefined && isActive(lastSeen(state)) ? run.run : undefined;
}

/** Whether a command that begins anew could write over something. */
function isSomething(work: ExistingWork): boolean {
  return (amountThere(work) ?? checkpointThere(work)) !== undefined;
}

function stopRow(member: Member, now: number): string {
  return `It is running and is stopped first: ${runText(member, now)}. What it has written stays.`;
}

/** How long the member's run goes on, and how far it is: `5 h 12 min, 71 %`. */
export function runText({ run, progress, marks }: Member, now: number): string {
  const began = marks.findLast(({ kind }) => kind === "started")?.at ?? run?.startedAt ?? now;
  const percent = progress && percentDone(progress);
  return `${duration(now - began)}${percent === undefined ? "" : `, ${percent} %`}`;
}

function orphanRow(work: ExistingWork, orphans: ExistingWork["processes"]): string | undefined {
  if (orphans.length === 0) return undefined;
  const named = orphans.slice(0, 5).map(({ pid, name }) => {
    const held = heldBy(pid, work);
    return `${name} (${pid}${held === undefined ? "" : `, ${held}`})`;
  });
  const more = orphans.length > 5 ? ` and ${orphans.length - 5} more` : "";
  const what = orphans.length === 1 ? "A process" : `${count(orphans.length)} processes`;
  return `${what} left over from an earlier run will be ended first: ${named.join(", ")}${more}.`;
}

function existingRow(work: ExistingWork): string | undefined {
  const there = amountThere(work);
  const checkpoint = checkpointThere(work);
  const newest = newestThere(work);
  const parts = [
    there === undefined ? undefined : `${there}${newest === undefined ? "" : `, ${newest}`}`,
    checkpoint,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `There already: ${parts.join("; ")}.`;
}

function changeRow(
  run: RunRecord | undefined,
  stage: StageDefinition,
  setup: readonly string[] | undefined,
): string | undefined {
  if (run === undefined || stage.command === undefined) return undefined;
  // A command that was resumed differs from the session file's by what was added.
  const command = run.command === resumeCommand(stage) ? run.command : stage.command;
  const cwd = stage.cwd?.startsWith("/") === true ? stage.cwd.replace(/(?<=.)\/+$/, "") : undefined;
  const changes = runDifferences(run, {
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(setup === undefined || setup.length === 0 ? {} : { setup }),
  });
  return changes.length === 0 ? undefined : `Changed since the last run: ${changes.join("; ")}.`;
}

function dependantsRow(session: Session, stage: string): string | undefined {
  const begun = dependantsOf(session, stage).filter((name) => {
    const state = session.stages.get(name)?.state;
    return state !== undefined && !["waiting", "blocked", "refused"].includes(lastSeen(state).kind);
  });
  if (begun.length === 0) return undefined;
  const verb = begun.length === 1 ? "has" : "have";
  return `${list(begun)} ${verb} used what this stage wrote before, and must be run again after it.`;
}

/** Others on the GPUs that the stage asks for; they are shown and never touched. */
function othersRow({ gpus }: StageDefinition, { gpuHolders, processes }: ExistingWork): string | undefined {
  if (gpus === undefined) return undefined;
  const own = new Set(processes.map(({ pid }) => pid));
  const others = gpuHolders.filter((one) => !own.has(one.pid) && (gpus === "all" || gpus.includes(one.gpu)));
  if (others.length === 0) return undefined;
  const named = others.slice(0, 5).map(({ gpu, user, name, memoryMib }) => {
    const memory = memoryMib === undefined ? "" : `, ${Math.round(memoryMib / 1024)} GB`;
    return `GPU ${gpu}: ${name} of ${user}${memory}`;
  });
  return `Not of this stage, and left alone: ${named.join("; ")}.`;
}

function choicesOf(
  stage: StageDefinition,
  work: ExistingWork | undefined,
  something: boolean,
  stopsRun: boolean,
): readonly RestartChoice[] {
  const { command = "" } = stage;
  if (!something) {
    return [{ way: "again", label: stopsRun ? "Stop and Restart" : "Restart", detail: `It runs: ${command}` }];
  }
  const resumed = resumeCommand(stage);
  const resume: RestartChoice[] =
    resumed === undefined
      ? []
      : [{ way: "resume", label: "Resume", detail: `Goes on with what is there. It runs: ${resumed}` }];
  const outputs = work?.outputs.filter(({ files }) => files > 0) ?? [];
  return [...resume, overChoice(command, work, outputs), ...(outputs.length > 0 ? [asideChoice(command)] : [])];
}

function overChoice(command: string, work: ExistingWork | undefined, outputs: ExistingWork["outputs"]): RestartChoice {
  const label = "Start Over";
  const there = work && amountThere(work);
  if (there === undefined) {
    const checkpoint = work && checkpointThere(work);
    return {
      way: "over",
      label,
      detail: `Begins anew and may write over ${checkpoint ?? "what is there"}. It runs: ${command}`,
    };
  }
  if (bytesThere(outputs) <= mostCopied) {
    const kept = `A copy of ${there} is kept as NAME.before-TIME, since the command may write over it.`;
    return { way: "copy", label, detail: `Begins anew. ${kept} It runs: ${command}` };
  }
  return {
    way: "over",
    label,
    detail: `Begins anew: the command may write over ${there}, and no copy is kept. It runs: ${command}`,
  };
}

function asideChoice(command: string): RestartChoice {
  return {
    way: "aside",
    label: "Move Aside",
    detail: `Renames what is there to NAME.before-TIME, then begins anew. It runs: ${command}`,
  };
}

/** So many of so many were done when the run that is resumed ended. */
export function pointOf(
  stage: StageDefinition,
  member: Member | undefined,
  work: ExistingWork | undefined,
): ResumePoint {
  const from = work && outputCount(stage, work);
  const total = stage.progress?.total ?? stage.doneWhen?.outputsAtLeast ?? member?.progress?.total;
  return { ...(from === undefined ? {} : { from }), ...(total === undefined ? {} : { total }) };
}
