import type { ConnectionState, Member, RemoteHost, ServiceView, Session, Stage, StageState } from "./model";
import { adviceMarkdown, escapeMarkdown, plainLine } from "./markdown";
import { row, type Row } from "./rows";
import {
  causeWithExit,
  connectionText,
  join,
  logText,
  needsPerson,
  serviceText,
  stageText,
  stateLook,
  stateText,
} from "./stateWords";
import { age, amount, clockTime, finishRange, finishTime, list } from "./words";

/*
 * The Stages view: session → host → stage or service → members.
 *
 * contextValue, for menus (always words joined by dots, in this order):
 *   session.file | session.watch | session.demo
 *   host.connected | host.connecting | host.needsLogin | host.disconnected
 *   stage.STATE.launchable[.alert] | stage.STATE.watched[.alert]     a stage with one member, or the whole of many
 *   member.STATE.launchable[.alert] | member.STATE.watched[.alert]   one of many members
 *   service.STATE[.alert]
 * STATE: waiting blocked watching launching running stalled finished unchecked failed stopped lost ended refused
 * unknown. `launchable`: the session file gives a command; `alert`: a failure that nobody acknowledged.
 */

/** The rows of a session in the Stages view. */
export function stageRows(session: Session, now: number): readonly Row[] {
  const hosts = [...session.hosts.values()].map((host) => hostRow(session, host, now));
  return [
    row({
      node: { kind: "session", session: session.id },
      label: plainLine(session.definition.name),
      description: sessionText(session, now),
      icon: session.id.startsWith("watch:") ? "eye" : session.id.startsWith("demo:") ? "beaker" : "server-process",
      tooltip: sessionTooltip(session, now),
      contextValue: `session.${sessionOrigin(session.id)}`,
      children: hosts,
    }),
  ];
}

/** Where a session comes from, by its id. */
function sessionOrigin(id: string): "file" | "watch" | "demo" {
  return id.startsWith("watch:") ? "watch" : id.startsWith("demo:") ? "demo" : "file";
}

/** How the pipeline stands as a whole: failures first, then its end. */
function sessionText(session: Session, now: number): string {
  const stages = [...session.stages.values()];
  const failed = stages.filter((stage) => stage.state.kind === "failed").length;
  const allFinished = stages.length > 0 && stages.every((stage) => isFinished(stage.state));
  const { eta, untimed } = session.eta;
  const finish = eta && finishTime(eta, now);
  const end = finish && (untimed.length === 0 ? `all done ${finish}` : `timed stages done ${finish}`);
  return join(failed > 0 ? `${failed} failed` : undefined, allFinished ? "all finished" : end);
}

function isFinished(state: StageState): boolean {
  return state.kind === "finished" || state.kind === "finished-unchecked";
}

function sessionTooltip(session: Session, now: number): string {
  const { eta, untimed } = session.eta;
  const finish = eta && finishRange(eta, now);
  return paragraphs(
    `**${escapeMarkdown(session.definition.name)}**`,
    finish && `Done ${escapeMarkdown(finish)}`,
    untimed.length === 0 ? undefined : `Not in that: ${escapeMarkdown(list(untimed))}, never timed yet`,
  );
}

function hostRow(session: Session, host: RemoteHost, now: number): Row {
  const { name } = host.definition;
  const { connection } = host;
  const stages = [...session.stages.values()].filter((stage) => stage.definition.host === name);
  const services = [...session.services.values()].filter((service) => service.definition.host === name);
  const clickToConnect = connection.kind === "failed" && needsPerson(connection.reason);
  return row({
    node: { kind: "host", session: session.id, host: name },
    label: plainLine(name),
    description: plainLine(hostText(host, now)),
    ...hostIcon(connection),
    tooltip: hostTooltip(host, now),
    contextValue: `host.${hostWord(connection)}`,
    ...(clickToConnect && { click: { command: "mlSession.connect", title: "Connect", more: [] } }),
    children: [
      ...stages.map((stage) => stageRow(session, stage, now)),
      ...services.map((service) => serviceRow(session, service, now)),
    ],
  });
}

function hostText(host: RemoteHost, now: number): string {
  const gpus = host.connection.kind === "connected" && host.gpus.length > 0;
  return join(connectionText(host.connection, now), gpus ? amount(host.gpus.length, "GPU") : undefined);
}

function hostWord(connection: ConnectionState): string {
  if (connection.kind === "connected" || connection.kind === "connecting") return connection.kind;
  return connection.kind === "failed" && needsPerson(connection.reason) ? "needsLogin" : "disconnected";
}

function hostIcon(connection: ConnectionState): { readonly icon: string; readonly color?: string } {
  switch (connection.kind) {
    case "connected":
      return { icon: "vm-active", color: "testing.iconPassed" };
    case "connecting":
      return { icon: "loading~spin" };
    case "not-connected":
      return { icon: "vm-outline", color: "disabledForeground" };
    case "failed":
      return needsPerson(connection.reason)
        ? { icon: "key", color: "list.warningForeground" }
        : { icon: "vm-outline", color: "list.warningForeground" };
    case "lost":
      return { icon: "debug-disconnect", color: "list.warningForeground" };
  }
}

function hostTooltip(host: RemoteHost, now: number): string {
  const { identity, connection, seenAt } = host;
  const message = connection.kind === "failed" || connection.kind === "lost" ? connection.message : undefined;
  return paragraphs(
    `**${escapeMarkdown(host.definition.name)}** · ${escapeMarkdown(connectionText(connection, now))}`,
    identity && escapeMarkdown(`${identity.user} on ${identity.hostname}`),
    message && escapeMarkdown(message),
    seenAt === undefined || connection.kind === "connected"
      ? undefined
      : `Last seen ${clockTime(seenAt, now)}, ${age(seenAt, now)}`,
  );
}

function stageRow(session: Session, stage: Stage, now: number): Row {
  const { name, command } = stage.definition;
  const { icon, color, word } = stateLook(stage.state);
  const [first] = stage.members;
  const many = stage.members.length > 1;
  const able = command === undefined ? "watched" : "launchable";
  return row({
    node: { kind: "stage", session: session.id, stage: name },
    label: plainLine(name),
    description: plainLine(stageText(stage, now)),
    icon,
    ...(color !== undefined && { color }),
    tooltip: first && !many ? memberTooltip(name, first, now) : stageTooltip(stage, now),
    contextValue: withAlert(`stage.${word}.${able}`, session, name),
    ...(!many && openLog),
    collapsed: true,
    children: many ? stage.members.map((member) => memberRow(session, stage, member, now)) : [],
  });
}

const openLog = { click: { command: "mlSession.openLog", title: "Open Log", more: [] } };

function memberRow(session: Session, stage: Stage, member: Member, now: number): Row {
  const { icon, color, word } = stateLook(member.state);
  const able = stage.definition.command === undefined ? "watched" : "launchable";
  return row({
    node: { kind: "stage", session: session.id, stage: stage.definition.name, member: member.name },
    label: plainLine(member.name),
    description: plainLine(stateText(member.state, member, now)),
    icon,
    ...(color !== undefined && { color }),
    tooltip: memberTooltip(`${stage.definition.name} ${member.name}`, member, now),
    contextValue: withAlert(`member.${word}.${able}`, session, stage.definition.name, member.name),
    ...openLog,
  });
}

function serviceRow(session: Session, service: ServiceView, now: number): Row {
  const { member, definition } = service;
  const { icon, color, word } = stateLook(member.state);
  const serving = word === "running" || word === "watching";
  return row({
    node: { kind: "service", session: session.id, service: definition.name },
    label: plainLine(definition.name),
    description: plainLine(serviceText(member, now)),
    icon: serving ? "circle-filled" : icon,
    ...(serving ? { color: "testing.iconPassed" } : color !== undefined && { color }),
    tooltip: memberTooltip(definition.name, member, now),
    contextValue: withAlert(`service.${word}`, session, definition.name),
    ...openLog,
  });
}

function withAlert(context: string, session: Session, stage: string, member?: string): string {
  const waits = session.alerts.some((a) => a.stage === stage && (member === undefined || a.member === member));
  return waits ? `${context}.alert` : context;
}

function stageTooltip(stage: Stage, now: number): string {
  return paragraphs(`**${escapeMarkdown(stage.definition.name)}**`, escapeMarkdown(stageText(stage, now)));
}

function memberTooltip(title: string, member: Member, now: number): string {
  const { state, run, log } = member;
  const quiet = log && state.kind !== "finished" ? logText(log, now) : "";
  return paragraphs(
    `**${escapeMarkdown(title)}** · ${escapeMarkdown(stateText(state, member, now))}`,
    state.kind === "failed" ? `**Cause:** ${escapeMarkdown(causeWithExit(state.cause, run))}` : undefined,
    state.kind === "failed" ? `**What helps:** ${adviceMarkdown(state.remedy)}` : undefined,
    state.kind === "unknown" ? escapeMarkdown(state.why) : undefined,
    run && `**Command:** ${escapeMarkdown(run.command)}`,
    run && `**Started** ${clockTime(run.startedAt, now)} from ${escapeMarkdown(run.launchedFrom)}`,
    log && `**Log:** ${escapeMarkdown(join(log.path, quiet))}`,
  );
}

/** Markdown paragraphs of the parts that are there. */
export function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
