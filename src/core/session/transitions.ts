import { lastSeen } from "./judge";
import type { Member, Transition } from "./model";
import { bytes, quoted } from "./words";

/** More than a night of restarts has. */
const mostTransitions = 50;

/** The member with the change from its last known state to the present one written down, if there was one. */
export function withTransition(member: Member, at: number): Member {
  const last = member.transitions.at(-1);
  const to = member.state.kind;
  if (last?.to === to) return member;
  const next: Transition = { at, ...(last ? { from: last.to } : {}), to, evidence: evidenceOf(member) };
  return { ...member, transitions: [...member.transitions, next].slice(-mostTransitions) };
}

/** What a member's state rests on: record, log line, outputs or link. Plain words; may quote a host. */
function evidenceOf(member: Member): string {
  const { state } = member;
  switch (state.kind) {
    case "unknown":
      return `${state.why}; it was ${lastSeen(state).kind} when last seen`;
    case "waiting":
      return state.for.length === 0 ? "no run is recorded" : `not finished: ${state.for.join(", ")}`;
    case "blocked":
      return `failed or stopped: ${state.by.join(", ")}`;
    case "launching":
      return "its launch was asked for here";
    case "refused":
    case "stalled":
    case "lost":
      return state.kind === "refused" ? state.reason : state.why;
    case "stopped":
      return `${state.by} asked it to stop; ${endOf(member)}`;
    case "failed":
      return state.failure
        ? `${endOf(member)}; its log says: ${state.failure.text}`
        : `${endOf(member)}; ${state.cause}${state.lastLine === undefined ? "" : ` · ${quoted(state.lastLine)}`}`;
    case "finished":
    case "finished-unchecked":
      return `${endOf(member)}; ${member.outputs ? outputsOf(member.outputs) : "nothing was declared to check"}`;
    case "watching":
    case "running":
    case "ended-unknown":
      return state.kind === "running" && state.checking
        ? `${endOf(member)}; its outputs are looked at`
        : lifeOf(member);
  }
}

function endOf({ run, writer }: Member): string {
  const exit = run?.end?.exit;
  if (!run) return writer?.open === false ? "no process has its log open" : "no run is recorded";
  if (!exit) return "no end is recorded";
  if (exit.kind === "unknown") return "an end without a status is recorded";
  return exit.kind === "code" ? `exit code ${exit.code} is recorded` : `an end by ${exit.signal} is recorded`;
}

function outputsOf({ bytes: size, files, detail }: NonNullable<Member["outputs"]>): string {
  return detail === "" ? `${files} files, ${bytes(size)}` : detail;
}

function lifeOf({ run, writer }: Member): string {
  if (run) return run.process ? `process ${run.process.pid} of its record is there` : "its record has no end";
  if (writer?.open === false) return "no process has its log open";
  return writer?.pid === undefined ? "its log grows" : `process ${writer.pid} has its log open`;
}
