import type { ConnectionState, Member, RemoteHost, ServiceView, Session, Stage, StageState } from "./model";
import { isActive, isBad, lastSeen } from "./judge";
import { isLoginNode, loginNodeText } from "./loginNode";
import { adviceMarkdown, escapeMarkdown, plainLine } from "./markdown";
import { stagesOn } from "./membersOn";
import { memberKey, toLaunch } from "./pipelinePlan";
import { outputsText } from "./outputWords";
import { allAway } from "./reach";
import { row, type Row } from "./rows";
import { runDifferences } from "./runDifference";
import { stageText } from "./stageText";
import {
  causeWithExit,
  connectionText,
  join,
  logText,
  needsPerson,
  serviceText,
  stateLook,
  stateText,
} from "./stateWords";
import { tokenLimit, tokenText } from "./tokenLengths";
import { age, amount, bytes, clockTime, decimal, finishRange, finishTime, list } from "./words";

/*
 * The Stages view: session → host → stage or service → members.
 *
 * contextValue, for menus (always words joined by dots, in this order):
 *   session.ORIGIN[.pipeline]                                        ORIGIN: file watch demo
 *   host.connected | host.connecting | host.needsLogin | host.disconnected
 *   stage.STATE.launchable[.again][.alert] | stage.STATE.watched[.alert]     a stage with one member
 *   stage.STATE.launchable.many[.active][.broken][.alert]            the whole of many members (or watched)
 *   member.STATE.launchable[.again][.alert] | member.STATE.watched[.alert]   one of many members
 *   service.STATE[.alert]
 * STATE: waiting blocked watching launching running stalled finished unchecked failed stopped lost ended refused
 * unknown. `launchable`: the session file gives a command; `again`: it starts again by itself; `alert`: a failure that
 * nobody acknowledged; `active`,
 * `broken`: some members are at work, some failed; `pipeline`: one goes on in this window.
 */

/** The rows of a session in the Stages view. */
export function stageRows(session: Session, now: number): readonly Row[] {
  const planned = plannedMembers(session);
  const hosts = [...session.hosts.values()].map((host) => hostRow({ session, now, planned }, host));
  return [
    row({
      node: { kind: "session", session: session.id },
      label: plainLine(session.definition.name),
      description: sessionText(session, now),
      icon: session.id.startsWith("watch:") ? "eye" : session.id.startsWith("demo:") ? "beaker" : "server-process",
      tooltip: () => sessionTooltip(session, now),
      contextValue: `session.${sessionOrigin(session.id)}${pipelineText(session) === undefined ? "" : ".pipeline"}`,
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
  const text = allFinished ? "all finished" : end;
  const away = allAway(session) ? "no host can be reached (VPN?)" : undefined;
  return join(away, failed > 0 ? `${failed} failed` : undefined, pipelineText(session), text);
}

function isFinished(state: StageState): boolean {
  return state.kind === "finished" || state.kind === "finished-unchecked";
}

/** What is to be said of the pipeline that goes on in this window; one that is through has nothing to add. */
function pipelineText({ pipeline, stages }: Session): string | undefined {
  if (!pipeline || pipeline.standing === "through") return undefined;
  if (pipeline.standing === "stuck") return "pipeline cannot go on";
  const known = pipeline.plan.stages.flatMap((name) => stages.get(name) ?? []);
  return `pipeline: ${known.filter(({ state }) => isFinished(state)).length} of ${amount(known.length, "stage")} finished`;
}

/** Members that the pipeline will launch by itself, as `stage/member`. */
function plannedMembers(session: Session): ReadonlySet<string> {
  const { pipeline } = session;
  if (!pipeline || pipeline.standing === "through") return new Set();
  return new Set(toLaunch(session, pipeline.plan).map(({ ref }) => memberKey(ref)));
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

/** What every row of a session is made from. */
interface Picture {
  readonly session: Session;
  readonly now: number;
  /** Members that start by themselves. */
  readonly planned: ReadonlySet<string>;
}

function hostRow(picture: Picture, host: RemoteHost): Row {
  const { session, now } = picture;
  const { name } = host.definition;
  const { connection } = host;
  const stages = stagesOn(session.definition, name).flatMap((stage) => session.stages.get(stage) ?? []);
  const services = [...session.services.values()].filter((service) => service.definition.host === name);
  const clickToConnect = connection.kind === "failed" && needsPerson(connection.reason);
  return row({
    node: { kind: "host", session: session.id, host: name },
    label: plainLine(name),
    description: plainLine(hostText(host, now, allAway(session))),
    ...hostIcon(connection),
    tooltip: () => hostTooltip(host, now),
    contextValue: `host.${hostWord(connection)}`,
    ...(clickToConnect && { click: { command: "mlSession.connect", title: "Connect", more: [] } }),
    children: [
      ...stages.map((stage) => stageRow(picture, stage)),
      ...services.map((service) => serviceRow(session, service, now)),
    ],
  });
}

/** What is the same for all hosts is said once, by their session; each row's own cause is in its tooltip. */
function hostText(host: RemoteHost, now: number, allAreAway: boolean): string {
  if (allAreAway)
    return host.awaySince === undefined ? "not connected" : `unknown since ${clockTime(host.awaySince, now)}`;
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

/** What watching costs the host, as measured there. */
function costText({ cost }: RemoteHost): string | undefined {
  if (!cost) return undefined;
  const percent = 100 * cost.cpuShare;
  const share = percent < 0.05 ? "less than 0.1 %" : `${decimal(percent)} %`;
  return escapeMarkdown(`Watching costs this host ${share} of a core, and it sends ${bytes(cost.bytesPerSecond)}/s`);
}

function hostTooltip(host: RemoteHost, now: number): string {
  const { identity, connection, seenAt } = host;
  const message = connection.kind === "failed" || connection.kind === "lost" ? connection.message : undefined;
  return paragraphs(
    `**${escapeMarkdown(host.definition.name)}** · ${escapeMarkdown(connectionText(connection, now))}`,
    identity && escapeMarkdown(`${identity.user} on ${identity.hostname}`),
    connection.kind === "connected" ? costText(host) : undefined,
    identity && isLoginNode(identity) ? loginNodeText(host.definition) : undefined,
    message && escapeMarkdown(message),
    seenAt === undefined || connection.kind === "connected"
      ? undefined
      : `Last seen ${clockTime(seenAt, now)}, ${age(seenAt, now)}`,
  );
}

function stageRow(picture: Picture, stage: Stage): Row {
  const { session, now } = picture;
  const { name, command } = stage.definition;
  const { icon, color, word } = stateLook(stage.state);
  const [first] = stage.members;
  const many = stage.members.length > 1;
  const able = command === undefined ? "watched" : "launchable";
  return row({
    node: { kind: "stage", session: session.id, stage: name },
    label: plainLine(name),
    description: plainLine(join(stageText(stage, now), planText(picture, stage))),
    icon,
    ...(color !== undefined && { color }),
    tooltip: () => (first && !many ? memberTooltip(name, first, now) : stageTooltip(stage, now)),
    contextValue: withAlert(
      `stage.${word}.${able}${many ? membersWords(stage) : againWord(stage.state)}`,
      session,
      name,
    ),
    ...(!many && openLog),
    collapsed: true,
    children: many ? stage.members.map((member) => memberRow(picture, stage, member)) : [],
  });
}

const openLog = { click: { command: "mlSession.openLog", title: "Open Log", more: [] } };

/** What the pipeline does about those of the members that it has yet to launch. */
function planText({ planned }: Picture, { definition, members }: Stage): string | undefined {
  const own = members.filter(({ name }) => planned.has(memberKey({ stage: definition.name, member: name })));
  if (own.length === 0) return undefined;
  const again = own.some(({ state }) => isBad(lastSeen(state)) || lastSeen(state).kind === "stopped");
  if (again) return "is started again by itself";
  // What is blocked does not start as things are.
  const blocked = own.every(({ state }) => lastSeen(state).kind === "blocked");
  return blocked ? "starts by itself once that is finished" : "starts by itself";
}

/** A word for menus: it is started again by itself unless somebody stops that. */
function againWord(state: StageState): string {
  return state.kind === "failed" && state.again?.kind === "due" ? ".again" : "";
}

/** Words for menus: what there is to do with some of the members. */
function membersWords({ members }: Stage): string {
  const states = members.map(({ state }) => lastSeen(state));
  return `.many${states.some(isActive) ? ".active" : ""}${states.some(isBad) ? ".broken" : ""}`;
}

function memberRow(picture: Picture, stage: Stage, member: Member): Row {
  const { session, now } = picture;
  const { icon, color, word } = stateLook(member.state);
  const able = stage.definition.command === undefined ? "watched" : "launchable";
  return row({
    node: { kind: "stage", session: session.id, stage: stage.definition.name, member: member.name },
    label: plainLine(member.name),
    description: plainLine(
      join(stateText(member.state, member, now), planText(picture, { ...stage, members: [member] })),
    ),
    icon,
    ...(color !== undefined && { color }),
    tooltip: () => memberTooltip(`${stage.definition.name} ${member.name}`, member, now),
    contextValue: withAlert(
      `member.${word}.${able}${againWord(member.state)}`,
      session,
      stage.definition.name,
      member.name,
    ),
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
    tooltip: () => memberTooltip(definition.name, member, now),
    contextValue: withAlert(`service.${word}`, session, definition.name),
    ...openLog,
  });
}

function withAlert(context: string, session: Session, stage: string, member?: string): string {
  const waits = session.alerts.some((a) => a.stage === stage && (member === undefined || a.member === member));
  return waits ? `${context}.alert` : context;
}

function stageTooltip(stage: Stage, now: number): string {
  const broken = stage.members.filter(({ state }) => isBad(lastSeen(state)));
  return paragraphs(
    `**${escapeMarkdown(stage.definition.name)}** · ${escapeMarkdown(stageText(stage, now))}`,
    ...broken
      .slice(0, 8)
      .map(({ name, state, ...facts }) => `**${name}** ${escapeMarkdown(stateText(state, facts, now))}`),
    broken.length > 8 ? `and ${broken.length - 8} more` : undefined,
  );
}

function memberTooltip(title: string, member: Member, now: number): string {
  const { state, run, log } = member;
  const quiet = log && state.kind !== "finished" ? logText(log, now) : "";
  const outputs = outputsText(member, now);
  return paragraphs(
    `**${escapeMarkdown(title)}** · ${escapeMarkdown(stateText(state, member, now))}`,
    state.kind === "failed" ? `**Cause:** ${escapeMarkdown(causeWithExit(state.cause, run))}` : undefined,
    state.kind === "failed" && state.lastLine ? `**Its log ends with:** ${escapeMarkdown(state.lastLine)}` : undefined,
    state.kind === "failed" ? `**What helps:** ${adviceMarkdown(state.remedy)}` : undefined,
    state.kind === "unknown" ? escapeMarkdown(state.why) : undefined,
    outputs && `**Outputs:** ${escapeMarkdown(outputs, 1000)}`,
    tokensText(member),
    historyText(member, now),
    run && `**Command:** ${escapeMarkdown(run.command)}`,
    changedText(member),
    run && `**Started** ${clockTime(run.startedAt, now)} from ${escapeMarkdown(run.launchedFrom)}`,
    log && `**Log:** ${escapeMarkdown(join(log.path, quiet))}`,
  );
}

function tokensText({ tokenLengths, run }: Member): string | undefined {
  const text = tokenLengths && tokenText(tokenLengths, tokenLimit(run?.command));
  return text === undefined ? undefined : `**Tokens of an answer:** ${text}`;
}

/** How its run differs from the one before: names and hashes of variables alone, no values. */
function changedText({ run, runBefore }: Member): string | undefined {
  const changes = run && runBefore ? runDifferences(runBefore, run) : [];
  return changes.length === 0
    ? undefined
    : `**Changed since the run before:** ${escapeMarkdown(changes.join("; "), 1000)}`;
}

/** How it came to its state: the last changes, and what showed them. */
function historyText({ transitions }: Member, now: number): string | undefined {
  const lines = transitions.slice(-3).map(({ at, to, evidence }) => `${clockTime(at, now)} ${to}: ${evidence}`);
  return lines.length === 0 ? undefined : `**Seen:** ${lines.map((line) => escapeMarkdown(line, 300)).join("  \n")}`;
}

/** Markdown paragraphs of the parts that are there. */
export function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
