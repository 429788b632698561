import { alertMember, alertNode } from "./alertRows";
import { adviceText, plainLine, plainMessage } from "./markdown";
import type { Alert, Session } from "./model";
import type { TreeNode } from "./nodes";
import { causeWithExit } from "./stateWords";
import { amount, firstSentence, list, quoted } from "./words";

/** Members of one stage mostly fail of one cause, one after the other: so long is waited for the next, ms. */
const settleMs = 2000;
/** Nobody is told later than this after the first of them, ms. */
const longestMs = 8000;
/** Names of more members than this make a message unreadable. */
const mostNamed = 4;

/** One message for one cause: to be shown once. */
export interface Notice {
  /** The same for as long as it must not be shown again: session, stage, member, run and cause of each alert. */
  readonly keys: readonly string[];
  readonly message: string;
  /** The first alert's. */
  readonly node: TreeNode;
  /** What its button for a restart does; absent where nothing of it can be launched. */
  readonly restart?: {
    readonly command: "mlSession.restartStage" | "mlSession.restartFailedMembers";
    readonly node: TreeNode;
  };
}

/** What is to be told now, and after how many ms there is more. */
export interface Notices {
  readonly ready: readonly Notice[];
  readonly moreInMs?: number;
}

interface Untold {
  readonly session: Session;
  readonly alert: Alert;
  readonly key: string;
}

/**
 * What to tell of failures that were not told yet: one notice for each cause, however many it hit. Failures of members
 * of one stage are told together: a moment is waited for more of them.
 */
export function notices(sessions: Iterable<Session>, told: ReadonlySet<string>, now: number): Notices {
  const untold = [...sessions].flatMap((session) =>
    session.alerts.flatMap((alert): Untold[] => {
      const key = alertKey(session, alert);
      return told.has(key) ? [] : [{ session, alert, key }];
    }),
  );
  const byCause = new Map<string, Untold[]>();
  const waits: number[] = [];
  for (const one of untold) {
    const wait = waitFor(one, untold, now);
    if (wait > 0) waits.push(wait);
    else byCause.set(one.alert.cause, [...(byCause.get(one.alert.cause) ?? []), one]);
  }
  const ready = [...byCause.values()].flatMap(noticeOf);
  return { ready, ...(waits.length === 0 ? {} : { moreInMs: Math.min(...waits) }) };
}

/** How long more is waited for others of the same stage, ms. */
function waitFor({ session, alert }: Untold, untold: readonly Untold[], now: number): number {
  if ((session.stages.get(alert.stage)?.members.length ?? 0) < 2) return 0;
  const times = untold.flatMap((one) =>
    one.session === session && one.alert.stage === alert.stage ? [one.alert.at] : [],
  );
  return Math.min(Math.max(...times) + settleMs, Math.min(...times) + longestMs) - now;
}

function noticeOf(group: readonly Untold[]): readonly Notice[] {
  const [first] = group;
  if (!first) return [];
  const { session, alert } = first;
  const cause = causeWithExit(firstSentence(alert.cause), alertMember(session, alert)?.run);
  const restart = restartOf(group);
  // Each of many ends with other words; they stand in the tree.
  const ends = group.length === 1 && alert.lastLine ? `; its log ends with ${quoted(alert.lastLine)}` : "";
  const words = `${shortList(namesOf(group))} failed${onHost(session, alert)}: ${adviceText(cause).replace(/\.$/, "")}${ends}.`;
  return [
    {
      keys: group.map(({ key }) => key),
      message: plainMessage(`${words} ${adviceText(firstSentence(alert.remedy))}`).slice(0, 600),
      node: alertNode(session, alert),
      ...(restart ? { restart } : {}),
    },
  ];
}

/** One stage of one member is restarted; of many, those that have failed when it is asked for. */
function restartOf(group: readonly Untold[]): Notice["restart"] {
  const able = group.filter(({ session, alert }) => session.stages.get(alert.stage)?.definition.command !== undefined);
  const [first] = able;
  if (!first) return undefined;
  const { session, alert } = first;
  const stages = new Set(able.filter((one) => one.session === session).map((one) => one.alert.stage));
  const command = "mlSession.restartFailedMembers";
  if (stages.size > 1) return { command, node: { kind: "session", session: session.id } };
  const node = { kind: "stage", session: session.id, stage: alert.stage } as const;
  const many = (session.stages.get(alert.stage)?.members.length ?? 0) > 1;
  return many ? { command, node } : { command: "mlSession.restartStage", node };
}

/** `download`, `extract 3`, `2 of 8 members of extract (3 and 5)`. */
function namesOf(group: readonly Untold[]): readonly string[] {
  const stages = new Map<string, Untold[]>();
  for (const one of group) {
    const key = JSON.stringify([one.session.id, one.alert.stage]);
    stages.set(key, [...(stages.get(key) ?? []), one]);
  }
  return [...stages.values()].flatMap((alerts) => {
    const [first] = alerts;
    if (!first) return [];
    const { stage, member } = first.alert;
    const all = first.session.stages.get(stage)?.members.length ?? 1;
    if (alerts.length === 1) return [plainLine(all > 1 ? `${stage} ${member}` : stage)];
    const members = alerts.length <= mostNamed ? ` (${list(alerts.map(({ alert }) => alert.member))})` : "";
    const many =
      alerts.length === all ? `all ${amount(all, "member")}` : `${String(alerts.length)} of ${amount(all, "member")}`;
    return [plainLine(`${many} of ${stage}${alerts.length === all ? "" : members}`)];
  });
}

function alertKey(session: Session, alert: Alert): string {
  const run = alertMember(session, alert)?.run?.run ?? "";
  return JSON.stringify([session.id, alert.stage, alert.member, run, alert.cause]);
}

function shortList(names: readonly string[]): string {
  return names.length <= 3 ? list(names) : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;
}

function onHost(session: Session, alert: Alert): string {
  const definition = session.stages.get(alert.stage)?.definition ?? session.services.get(alert.stage)?.definition;
  return definition ? ` on ${definition.host}` : "";
}
