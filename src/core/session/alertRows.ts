import { adviceMarkdown, adviceText, escapeMarkdown, plainLine } from "./markdown";
import type { Alert, Member, Session } from "./model";
import { nodeId, type TreeNode } from "./nodes";
import { row, type Row } from "./rows";
import { causeWithExit, join } from "./stateWords";
import { clockTime, quoted } from "./words";

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
  const lastLine = alert.lastLine && quoted(alert.lastLine);
  const description = join(clockTime(alert.at, now), cause, lastLine, alone ? undefined : session.definition.name);
  return row({
    id,
    node,
    label,
    description: plainLine(description),
    icon: "error",
    color: "testing.iconFailed",
    tooltip: () =>
      [
        `**${escapeMarkdown(label)}** failed ${clockTime(alert.at, now)}`,
        escapeMarkdown(cause),
        ...(lastLine ? [`**Its log ends with:** ${escapeMarkdown(lastLine)}`] : []),
        `**What helps:** ${adviceMarkdown(alert.remedy)}`,
      ].join("\n\n"),
    contextValue: command === undefined ? "alert.watched" : "alert.launchable",
    click,
    children: alert.remedy === "" ? [] : [remedyRow(`${id}/remedy`, node, alert.remedy)],
  });
}

function remedyRow(id: string, node: TreeNode, remedy: string): Row {
  const label = adviceText(remedy);
  const looks = { description: "", icon: "lightbulb", tooltip: () => adviceMarkdown(remedy), contextValue: "remedy" };
  return row({ id, node, label, ...looks });
}

/** What commands get for an alert: the member if the stage has several. */
export function alertNode(session: Session, alert: Alert): TreeNode {
  if (session.services.has(alert.stage)) return { kind: "service", session: session.id, service: alert.stage };
  const many = (session.stages.get(alert.stage)?.members.length ?? 0) > 1;
  return { kind: "stage", session: session.id, stage: alert.stage, ...(many && { member: alert.member }) };
}

/** The member that an alert is about, or the service. */
export function alertMember(session: Session, alert: Alert): Member | undefined {
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
