import type { TimedReading } from "../backlog";
import type { FailureReading, ProgressReading, Reading } from "../log/reading";
import type { RunRecord } from "../ports";
import type { Eta } from "./eta";
import type { SessionEvent } from "./events";
import { noteOf } from "./launchNote";
import { etaOf } from "./memberEta";
import { lostText } from "./lostText";
import type { LogState, Mark, Member } from "./model";
import { ofWholeStage } from "./resumedProgress";
import { noSeries, withSamples } from "./series";
import {
  afterLine,
  afterLook,
  isOfOutputs,
  samplesOfLook,
  withWrittenProgress,
  writtenSeries,
  type OutputLook,
} from "./written";

type MemberEvent = Extract<SessionEvent, { readonly stage: string }>;

/** Failures kept of one run; a log that fails in a thousand ways says nothing more by the others. */
const mostFailures = 200;

/** A member nothing is known of but where its log is to be. */
export function newMember(name: string, log: string | undefined, at: number): Member {
  return {
    name,
    state: { kind: "waiting", for: [] },
    since: at,
    failures: [],
    cures: [],
    series: noSeries,
    acknowledged: false,
    transitions: [],
    marks: [],
    ...(log === undefined ? {} : { log: { path: log, state: "not-read" as const, offset: 0, lost: 0 } }),
  };
}

/** The member after an event about it. The state is judged afterwards (judge.ts). */
export function applyToMember(member: Member, event: MemberEvent): Member {
  switch (event.type) {
    case "log":
      return withGrowth(withReadings(member, event), event);
    case "log-missing":
      return { ...member, log: { ...logOf(member), state: "missing" } };
    case "log-unreadable":
      return { ...member, log: { ...logOf(member), state: "unreadable", reason: event.reason } };
    case "log-restarted":
      return restarted(member, event);
    case "progress":
      return withReadings(member, { readings: [event.reading], at: event.at });
    case "backlog":
      return withBacklog(member, event.readings);
    case "failure":
      return withFailure(member, event.reading);
    case "words-read":
      return withWordsRead(member, event);
    case "outputs":
    case "written":
    case "written-history":
    case "token-lengths":
      return member.run?.run === event.run ? withOutputs(member, event) : member;
    case "writer":
      return { ...member, writer: event.writer };
    case "cures":
      return { ...member, cures: event.cures };
    case "queued":
      return queued(member, event.for);
    case "launching":
      return { ...queued(member, undefined), state: { kind: "launching" }, since: event.at };
    case "launch-refused":
      // The run that stood in the way may be seen, and even have ended, before the host's answer is here.
      if (event.newest !== undefined && event.newest !== (member.run?.run ?? "")) return member;
      return { ...member, state: { kind: "refused", reason: event.reason }, since: event.at };
    case "acknowledged":
      return { ...member, acknowledged: true };
    case "retry-held":
      return { ...member, retryHeld: { run: event.run, why: event.why } };
    case "retry-queued":
      return retryQueued(member, event.run, event.for);
  }
}

/**
 * The member after a record of one of its runs. A newer run takes the place of the one before: the failures, progress
 * and outputs of the old one are history.
 */
export function takeRecord(member: Member, record: RunRecord, clockOffsetMs: number, at: number): Member {
  const old = member.run;
  if (old && old.run !== record.run && old.startedAt > record.startedAt) return member;
  if (old && JSON.stringify(old) === JSON.stringify(record)) return member;
  if (old?.run === record.run) {
    if (!record.end || old.end) return { ...member, run: record };
    return { ...member, run: record, endSeenAt: at, marks: [...member.marks, endMark(record, clockOffsetMs)] };
  }
  const started: Mark = { at: record.startedAt - clockOffsetMs, kind: "started", label: "started" };
  const base = newMember(member.name, record.log.path, at);
  return {
    ...base,
    run: record,
    ...(old ? { runBefore: old } : {}),
    ...(record.end ? { endSeenAt: at } : {}),
    marks: [...member.marks, started, ...(record.end ? [endMark(record, clockOffsetMs)] : [])],
    transitions: member.transitions,
    // Series go on over restarts, so that a chart shows the whole night.
    series: member.series,
    log: { path: record.log.path, state: "not-read", offset: record.log.start.offset, lost: 0 },
  };
}

function endMark(record: RunRecord, clockOffsetMs: number): Mark {
  const exit = record.end?.exit;
  const at = (record.end?.at ?? 0) - clockOffsetMs;
  if (exit?.kind === "code" && exit.code === 0) return { at, kind: "finished", label: "ended with exit code 0" };
  if (record.stopRequestedBy !== undefined)
    return { at, kind: "stopped", label: `stopped by ${record.stopRequestedBy}` };
  const how =
    exit?.kind === "code" ? `exit code ${exit.code}` : exit?.kind === "signal" ? `SIG${exit.signal}` : "unknown";
  return { at, kind: "failed", label: `failed: ${how}` };
}

function queued({ queuedFor, ...member }: Member, waitsFor: string | undefined): Member {
  return waitsFor === undefined ? member : { ...member, queuedFor: waitsFor };
}

function retryQueued({ retryQueued: before, ...member }: Member, run: string, waitsFor: string | undefined): Member {
  return waitsFor === undefined ? member : { ...member, retryQueued: { run, for: waitsFor } };
}

/** What was read at once. A night's backlog is told apart: its readings are dated one by one. */
function withReadings(
  member: Member,
  { readings = [], at }: { readonly readings?: readonly Reading[]; readonly at: number },
): Member {
  let next = member;
  for (const reading of readings) {
    if (reading.kind === "failure") next = withFailure(next, reading);
    else next = withProgress(next, ofWholeStage(reading, noteOf(next.run?.launchedFrom ?? "").resume), at);
  }
  return next;
}

/** The last words of a run may be told twice: fetched at its end, and again when its log is followed. */
function withFailure(member: Member, reading: FailureReading): Member {
  const known = member.failures.some((one) => one.offset === reading.offset && one.failure === reading.failure);
  if (known || member.failures.length >= mostFailures) return member;
  return { ...member, failures: [...member.failures, reading] };
}

/** What grows has a writer, whatever was found when it was quiet. */
function withGrowth(member: Member, event: Extract<MemberEvent, { type: "log" }>): Member {
  const old = logOf(member);
  const grew = event.offset > old.offset;
  const gap = grew && old.state === "following" ? event.modifiedAt - (old.grewAt ?? event.modifiedAt) : 0;
  const log: LogState = {
    ...old,
    state: event.caughtUp ? "following" : "catching-up",
    offset: event.offset,
    grewAt: event.modifiedAt,
    longestGapMs: Math.max(old.longestGapMs ?? 0, gap),
  };
  if (!grew || member.writer?.open !== false) return { ...member, log };
  const { writer, ...rest } = member;
  return { ...rest, log };
}

function logOf(member: Member): LogState {
  return member.log ?? { path: "", state: "not-read", offset: 0, lost: 0 };
}

/** The log was cut or replaced. Without a run of ours that is a new job, and what the old one failed of is history. */
function restarted(member: Member, event: Extract<MemberEvent, { type: "log-restarted" }>): Member {
  const { at, lost, lostMore } = event;
  const log: LogState = {
    ...logOf(member),
    offset: 0,
    lost: logOf(member).lost + lost,
    grewAt: at,
    ...(lostMore && { lostMore }),
  };
  const gap = lostText({ lost, ...(lostMore && { lostMore }) });
  const marks: readonly Mark[] =
    gap === undefined ? member.marks : [...member.marks, { at, kind: "gap", label: `the log was cut; ${gap}` }];
  return member.run ? { ...member, log, marks } : { ...member, log, marks, failures: [], cures: [] };
}

function withProgress(member: Member, reading: ProgressReading, at: number): Member {
  const next = withReading(member, reading, at);
  // The finish is told by what tells the progress.
  if (reading.role === "aux" || reading.done === undefined || isOfOutputs(next.progress ?? reading)) return next;
  return member.eta && at - member.eta.at < etaHoldsMs(member.eta, next) ? next : withLogEta(next, at);
}

/** How long a finish stands, ms: it is reckoned from all that was printed, and that of a long run moves slowly. */
function etaHoldsMs({ at, eta }: Eta, member: Member): number {
  const began = startOf(member) || (member.series.byName.get("done")?.times[0] ?? at);
  return Math.max(1000, Math.min(60_000, (at - began) / 100, (eta * 1000) / 20));
}

/** The picture is that of somebody who read them as they came; the finish is told once. */
function withBacklog(member: Member, readings: readonly TimedReading[]): Member {
  const { resume } = noteOf(member.run?.launchedFrom ?? "");
  let told: Told = member;
  for (const { reading, at } of readings) told = afterReading(told, ofWholeStage(reading, resume), at);
  const next = withTold(member, told);
  const { progress, progressAt } = next;
  const counted = readings.some(({ reading }) => reading.role !== "aux" && reading.done !== undefined);
  return counted && progress && progressAt !== undefined && !isOfOutputs(progress)
    ? withLogEta(next, progressAt)
    : next;
}

/** What a reading may change. A night has tens of thousands of them: not each makes a whole member. */
type Told = Pick<Member, "series" | "progress" | "progressAt">;

function withReading(member: Member, reading: ProgressReading, at: number): Member {
  return withTold(member, afterReading(member, reading, at));
}

function withTold(member: Member, { series, progress, progressAt }: Told): Member {
  if (progress === undefined || progressAt === undefined) return { ...member, series };
  return { ...member, series, progress, progressAt };
}

function afterReading(told: Told, reading: ProgressReading, at: number): Told {
  const known = told.progress;
  const series = withSamples(told.series, at, samplesOf(reading));
  if (reading.role === "aux") return { ...told, series };
  if (known && isOfOutputs(known)) {
    const progress = afterLine(known, reading);
    if (isOfOutputs(progress)) return { series, progress, progressAt: at };
  }
  return { series, progress: newest(known, reading), progressAt: at };
}

function withLogEta(member: Member, at: number): Member {
  const done = member.series.byName.get("done");
  return withEta(member, etaOf(done, member.progress?.total, { at, since: startOf(member) }));
}

function withLook(member: Member, look: OutputLook): Member {
  const series = withSamples(member.series, look.at, samplesOfLook(look));
  const written = afterLook(member.written, look);
  const progress = withWrittenProgress(member.progress, written, series);
  const next = { ...member, series, written, progress };
  if (!isOfOutputs(progress)) return next;
  return withEta(next, etaOf(writtenSeries(series, written), progress.total, { at: look.at, since: startOf(member) }));
}

function withOutputs(
  member: Member,
  event: Extract<MemberEvent, { readonly type: "outputs" | "written" | "written-history" | "token-lengths" }>,
): Member {
  switch (event.type) {
    case "outputs":
      return { ...member, outputs: event.report };
    case "written":
      return withLook(member, event);
    case "written-history":
      return withLooks(member, event.looks);
    case "token-lengths":
      return { ...member, tokenLengths: event.lengths, tokensReadAt: event.at };
  }
}

/** Looks of a time that nobody saw, as if somebody had; of what was seen already nothing is told again. */
function withLooks(member: Member, looks: readonly OutputLook[]): Member {
  const missed = looks.filter(({ at }) => at > (member.written?.countedAt ?? -Infinity));
  const last = missed.pop();
  if (last === undefined) return member;
  let { series, written } = member;
  for (const look of missed) {
    series = withSamples(series, look.at, samplesOfLook(look));
    written = afterLook(written, look);
  }
  return withLook({ ...member, series, ...(written === undefined ? {} : { written }) }, last);
}

function withEta(member: Member, eta: Eta | undefined): Member {
  return eta ? { ...member, eta } : withoutEta(member);
}

/** Lines without a count (losses, server stats, the header's total) add to the state of the counter. */
function newest(known: ProgressReading | undefined, reading: ProgressReading): ProgressReading {
  if (!known || reading.done !== undefined) return reading;
  const { total = known.total, rate = known.rate } = reading;
  return {
    ...known,
    metrics: { ...known.metrics, ...reading.metrics },
    ...(total === undefined ? {} : { total }),
    ...(rate === undefined ? {} : { rate }),
  };
}

function withoutEta(member: Member): Member {
  const { eta, ...rest } = member;
  return rest;
}

/** Auxiliary bars give their gauges but not their counts: those would mix with the job's own. */
function samplesOf(reading: ProgressReading): Record<string, number> {
  const samples: Record<string, number> = {};
  for (const [name, value] of Object.entries(reading.metrics ?? {}))
    samples[name] = value === "nan" ? Number.NaN : value;
  if (reading.role === "aux") return samples;
  for (const name of ["done", "total", "rate", "errors"] as const) {
    const value = reading[name];
    if (value !== undefined) samples[name] = value;
  }
  return samples;
}

/** When the member's run began, our clock; 0 where there is none. */
function startOf({ run, marks }: Member): number {
  return run ? (marks.findLast(({ kind }) => kind === "started")?.at ?? 0) : 0;
}

function withWordsRead(
  member: Member,
  { run, lastLine }: Extract<MemberEvent, { readonly type: "words-read" }>,
): Member {
  const { lastLine: _before, ...rest } = member;
  return { ...rest, wordsReadOf: run, ...(lastLine === undefined ? {} : { lastLine }) };
}
