import { lastSeen } from "./judge";
import type { Member, Session, Stage } from "./model";

/** What the product sees of one stage or GPU, as one flat object. */
export interface ReportLine {
  /** Names the thing, for comparing with what was reported before. */
  readonly key: string;
  readonly line: Readonly<Record<string, unknown>>;
}

/** The state of all sessions as lines for scripts: a line a stage and GPU. Times are ms since 1970. */
export function reportLines(sessions: Iterable<Session>, mode: string, now: number): readonly ReportLine[] {
  const lines: ReportLine[] = [];
  for (const session of sessions) {
    const common = { mode, session: session.definition.name, at: now };
    for (const stage of session.stages.values()) lines.push(stageLine(stage, common), ...memberLines(stage, common));
    for (const [name, { member }] of session.services) {
      const line = { type: "service", ...common, service: name, ...memberFacts(member) };
      lines.push({ key: `${session.id} service ${name}`, line });
    }
    for (const [host, { gpus }] of session.hosts) {
      for (const { index, name, sample, usedBy } of gpus) {
        const { at: sampledAt, ...rest } = sample;
        const line = { type: "gpu", ...common, host, ...rest, name, usedBy };
        lines.push({ key: `${session.id} ${host} gpu ${index}`, line });
      }
    }
  }
  return lines;
}

function stageLine(stage: Stage, common: Readonly<Record<string, unknown>>): ReportLine {
  const [member] = stage.members;
  const { name, kind } = stage.definition;
  const facts = stage.members.length > 1 ? { state: stage.state.kind, eta: etaFacts(stage.eta) } : undefined;
  const line = { type: "stage", ...common, stage: name, kind, ...(facts ?? (member ? memberFacts(member) : {})) };
  return { key: `${String(common["session"])} stage ${name}`, line };
}

/** A line for each of many members; an only one is told by its stage's. */
function memberLines(stage: Stage, common: Readonly<Record<string, unknown>>): readonly ReportLine[] {
  if (stage.members.length < 2) return [];
  const { name, kind } = stage.definition;
  return stage.members.map((member) => ({
    key: `${String(common["session"])} stage ${name} member ${member.name}`,
    line: { type: "member", ...common, stage: name, kind, member: member.name, ...memberFacts(member) },
  }));
}

function etaFacts(eta: Stage["eta"]): { readonly eta: number; readonly lo: number; readonly hi: number } | null {
  return eta ? { eta: eta.eta, lo: eta.lo, hi: eta.hi } : null;
}

function memberFacts(member: Member): Record<string, unknown> {
  const { state, run, progress, eta, cures } = member;
  const seen = lastSeen(state);
  return {
    state: state.kind,
    ...(seen.kind === "failed"
      ? {
          cause: seen.cause,
          remedy: seen.remedy,
          failure: seen.failure?.failure ?? "",
          ...(seen.lastLine === undefined ? {} : { lastLine: seen.lastLine }),
        }
      : {}),
    ...(seen.kind === "refused" ? { cause: seen.reason } : {}),
    cures: cures.map((cure) => cure.title),
    ...(run ? { run: run.run, launchedAt: run.startedAt, command: run.command, exit: run.end?.exit } : {}),
    ...(progress ? { done: progress.done, total: progress.total, rate: progress.rate, metrics: progress.metrics } : {}),
    eta: etaFacts(eta),
  };
}
