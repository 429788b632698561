import { adviceMarkdown, adviceText, escapeMarkdown, plainLine, plainMessage } from "./markdown";
import type { Alert, Member, Session } from "./model";
import { nodeId, type TreeNode } from "./nodes";
import { row, type Row } from "./rows";
import { causeWithExit, join } from "./stateWords";
import { clockTime, list, firstSentence } from "./words";

/*
 * The Alerts view: failures that nobody acknowledged, the newest first, each with what helps below it.
 * contextValue: `alert.launchable` or `alert.watched`, and `remedy`.
 */

/** The rows of a session in the Alerts view; `alone`: no other session is open. */
export function alertRows(session: Session, now: number, alone: boolean): readonly Row[] {
  const newestFirst = [...session.alerts].sort((a, b) => b.at - a.at);
  return newestFirst.map((alert) => alertRow(session, alert, now, alone));
}

function alertRow(session: Session, alert: Alert, now: number, alone: boolean): Row {
  const node = alertNode(session, alert);
  const id = `alert/${nodeId(node)}`;
  const cause = causeWithExit(alert.cause, alertMember(session, alert)?.run);
  const command = session.stages.get(alert.stage)?.definition.command;
  // The second argument says where in the log: the first byte of the line that tells the failure.
  const offset = failureOffset(alertMember(session, alert));
  const click = { command: "mlSession.openLog", title: "Open Log", more: offset === undefined ? [] : [{ offset }] };
  const label = alertName(session, alert);
  const description = join(clockTime(alert.at, now), cause, alone ? undefined : session.definition.name);
  return row({
    id,
    node,
    label,
    description: plainLine(description),
    icon: "error",
    color: "testing.iconFailed",
    tooltip: [
      `**${escapeMarkdown(label)}** failed ${clockTime(alert.at, now)}`,
      escapeMarkdown(cause),
      `**What helps:** ${adviceMarkdown(alert.remedy)}`,
    ].join("\n\n"),
    contextValue: command === undefined ? "alert.watched" : "alert.launchable",
    click,
    children: alert.remedy === "" ? [] : [remedyRow(`${id}/remedy`, node, alert.remedy)],
  });
}

function remedyRow(id: string, node: TreeNode, remedy: string): Row {
  const label = adviceText(remedy);
  const looks = { description: "", icon: "lightbulb", tooltip: adviceMarkdown(remedy), contextValue: "remedy" };
  return row({ id, node, label, ...looks });
}

/** What commands get for an alert: the member if the stage has several. */
function alertNode(session: Session, alert: Alert): TreeNode {
  if (session.services.has(alert.stage)) return { kind: "service", session: session.id, service: alert.stage };
  const many = (session.stages.get(alert.stage)?.members.length ?? 0) > 1;
  return { kind: "stage", session: session.id, stage: alert.stage, ...(many && { member: alert.member }) };
}

function alertMember(session: Session, alert: Alert): Member | undefined {
  const members = session.stages.get(alert.stage)?.members ?? [];
  return members.find(({ name }) => name === alert.member) ?? session.services.get(alert.stage)?.member;
}

function failureOffset(member: Member | undefined): number | undefined {
  return member?.state.kind === "failed" ? member.state.failure?.offset : undefined;
}

function alertName(session: Session, alert: Alert): string {
  const many = (session.stages.get(alert.stage)?.members.length ?? 0) > 1;
  return plainLine(many ? `${alert.stage} ${alert.member}` : alert.stage);
}

/** One message for one cause: to be shown once. */
export interface Notice {
  /** The same for as long as it must not be shown again: session, stage, member, run and cause of each alert. */
  readonly keys: readonly string[];
  readonly message: string;
  /** The first alert's. */
  readonly node: TreeNode;
  readonly launchable: boolean;
}

/** What to tell of failures that were not told yet: one notice for each cause, however many it hit. */
export function notices(sessions: Iterable<Session>, told: ReadonlySet<string>): readonly Notice[] {
  const byCause = new Map<string, { session: Session; alert: Alert; key: string }[]>();
  for (const session of sessions) {
    for (const alert of session.alerts) {
      const key = alertKey(session, alert);
      if (told.has(key)) continue;
      byCause.set(alert.cause, [...(byCause.get(alert.cause) ?? []), { session, alert, key }]);
    }
  }
  return [...byCause.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { session, alert } = first;
    const names = group.map((other) => alertName(other.session, other.alert));
    const cause = causeWithExit(firstSentence(alert.cause), alertMember(session, alert)?.run);
    return {
      keys: group.map(({ key }) => key),
      message: plainMessage(
        `${shortList(names)} failed${onHost(session, alert)}: ${adviceText(cause).replace(/\.$/, "")}. ${adviceText(firstSentence(alert.remedy))}`,
      ).slice(0, 600),
      node: alertNode(session, alert),
      launchable: session.stages.get(alert.stage)?.definition.command !== undefined,
    };
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
