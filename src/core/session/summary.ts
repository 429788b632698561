import { escapeMarkdown, plainLine } from "./markdown";
import type { Member, Session, Stage } from "./model";
import { paragraphs } from "./stageRows";
import { membersDone, stagePercent } from "./stageText";
import { connectionText, join, shortState, stateLook } from "./stateWords";
import { amount, clockTime, counter, finishRange, finishTime, list, percentDone } from "./words";

/** All sessions in a few words, for the status bar. */
export interface Summary {
  /** May hold one `$(icon)`. */
  readonly text: string;
  /** Markdown: a small table, host text escaped. */
  readonly tooltip: string;
  readonly spoken: string;
  /** An unacknowledged failure is the only thing that may colour the status bar. */
  readonly alarm: boolean;
}

interface Line {
  readonly icon: string;
  readonly text: string;
}

/** What the status bar says; undefined when no session is open. `now`: ms since 1970. */
export function summarise(sessions: readonly Session[], now: number): Summary | undefined {
  if (sessions.length === 0) return undefined;
  const alerts = sessions.flatMap((session) => session.alerts);
  const line = withAlarm([...new Set(alerts.map((alert) => alert.stage))], pictureLine(sessions, now));
  return {
    text: `$(${line.icon}) ${plainLine(line.text).replaceAll("$(", "$ (")}`,
    tooltip: sessions.map((session) => sessionTable(session, now)).join("\n\n---\n\n"),
    spoken: `ML Session: ${plainLine(line.text).replaceAll(" · ", ", ")}`,
    alarm: alerts.length > 0,
  };
}

/** A failure goes first; what still runs, and until when, stays to be seen beside it. */
function withAlarm(failed: readonly string[], picture: Line): Line {
  const [first] = failed;
  if (first === undefined) return picture;
  const alarm = failed.length === 1 ? `${first} failed` : `${amount(failed.length, "stage")} failed`;
  const goesOn = picture.icon === "sync~spin" || picture.icon === "warning";
  return { icon: "error", text: join(alarm, goesOn ? picture.text : undefined) };
}

function pictureLine(sessions: readonly Session[], now: number): Line {
  const stages = sessions.flatMap((session) => [...session.stages.values()]);
  const running = stages.filter(({ state }) => state.kind === "running" || state.kind === "launching");
  const stalled = stages.find(({ state }) => state.kind === "stalled");
  const watched = stages.find(({ state }) => state.kind === "watching");
  const unknown = stages.find(({ state }) => state.kind === "unknown" && state.last.kind === "running");
  if (stalled) return { icon: "warning", text: `${stalled.definition.name} stalled` };
  const [first] = running;
  if (first) return { icon: "sync~spin", text: runningText(first, running.length - 1, now) };
  if (unknown?.state.kind === "unknown") {
    return {
      icon: "question",
      text: `${unknown.definition.name} unknown since ${clockTime(unknown.state.since, now)}`,
    };
  }
  if (watched) return { icon: "eye", text: runningText(watched, 0, now) };
  return restLine(sessions, stages, now);
}

function runningText(stage: Stage, more: number, now: number): string {
  const { name } = stage.definition;
  const percent = stagePercent(stage, ({ progress }) => progress && percentDone(progress));
  const head = percent === undefined ? name : `${name} ${percent} %`;
  return join(head, stage.eta && finishTime(stage.eta, now), more > 0 ? `${more} more` : undefined);
}

function restLine(sessions: readonly Session[], stages: readonly Stage[], now: number): Line {
  const name = sessions.length === 1 ? (sessions[0]?.definition.name ?? "") : amount(sessions.length, "session");
  const failed = stages.find(({ state }) => state.kind === "failed");
  if (failed) return { icon: "error", text: `${failed.definition.name} failed` };
  const ended = (stage: Stage): boolean => stage.state.kind === "finished" || stage.state.kind === "finished-unchecked";
  if (stages.length > 0 && stages.every(ended)) return { icon: "pass", text: `${name} finished` };
  const hosts = sessions.flatMap((session) => [...session.hosts.values()]);
  const away = hosts.find(({ connection }) => connection.kind !== "connected");
  if (away) return { icon: "debug-disconnect", text: `${away.definition.name} ${awayText(away.connection, now)}` };
  return { icon: "circle-outline", text: `${name} idle` };
}

function awayText(connection: Parameters<typeof connectionText>[0], now: number): string {
  return connectionText(connection, now).split(" · ")[0] ?? "";
}

function sessionTable(session: Session, now: number): string {
  const rows = [
    ...[...session.stages.values()].map((stage) =>
      tableRow({ name: stage.definition.name, part: stage, progress: stageProgress(stage) }, now),
    ),
    ...[...session.services.values()].map(({ definition, member }) =>
      tableRow({ name: definition.name, part: member, progress: memberProgress(member) }, now),
    ),
  ];
  const table = ["| Stage | State | Progress | Finish |", "| :-- | :-- | :-- | :-- |", ...rows].join("\n");
  const { eta, untimed } = session.eta;
  const finish = eta && finishRange(eta, now);
  return paragraphs(
    `**${escapeMarkdown(session.definition.name)}**`,
    table,
    finish && `${untimed.length === 0 ? "All done" : "Timed stages done"} ${escapeMarkdown(finish)}`,
    untimed.length === 0 ? undefined : `Never timed, so not counted: ${escapeMarkdown(list(untimed))}`,
  );
}

interface TableRow {
  readonly name: string;
  readonly part: Pick<Stage, "state" | "eta">;
  readonly progress: string;
}

/** The only member's counter, or how many of many are through. */
function stageProgress(stage: Stage): string {
  const [first] = stage.members;
  return stage.members.length > 1 ? membersDone(stage) : first ? memberProgress(first) : "";
}

function memberProgress({ progress }: Member): string {
  return (progress && counter(progress)) ?? "";
}

function tableRow({ name, part, progress }: TableRow, now: number): string {
  const state =
    part.state.kind === "unknown" && part.state.since === 0
      ? "not seen yet"
      : part.state.kind === "unknown"
        ? `unknown since ${clockTime(part.state.since, now)}`
        : shortState(part.state);
  const finish = (part.eta && part.state.kind === "running" ? finishRange(part.eta, now) : undefined) ?? "";
  const icon = stateLook(part.state).icon.replace("~spin", "");
  // VS Code puts the columns of a table close together.
  const cells = [
    `$(${icon}) ${escapeMarkdown(name)}`,
    ...[state, progress, finish].map((text) => escapeMarkdown(text)),
  ];
  return `| ${cells.join("&emsp; | ")} |`;
}
