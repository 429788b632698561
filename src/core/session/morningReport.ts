import { isActive, isBad, lastSeen } from "./judge";
import { adviceMarkdown, escapeMarkdown } from "./markdown";
import { memberTitle } from "./memberTitle";
import type { Gpu, Member, Session } from "./model";
import {
  gainOf,
  gpuUse,
  longestStill,
  meanOf,
  seenPart,
  silences,
  unseenMs,
  type GpuUse,
  type Span,
} from "./reportFigures";
import { MetricSeries } from "./series";
import { barPicture, sparkline } from "./sparkline";
import { stageText } from "./stageText";
import { causeWithExit, stateText } from "./stateWords";
import { tokenBins, tokenLimit, tokenText } from "./tokenLengths";
import { age, amount, bytes, clockTime, count, duration, finishRange, gpuMemory, list, speed } from "./words";

/** Outputs that stand still for so long are worth a word, ms. */
const stillMs = 15 * 60_000;
const emptySeries = new MetricSeries("none");
/** Bars of the token lengths. */
const mostBars = 60;

/**
 * What happened in a session in a span, as a Markdown document: what ran, what failed first and why, speeds, how the GPUs
 * were used, what nobody saw, and when it will be through. What comes from a host is escaped; nothing of it is a link.
 */
export function morningReport(session: Session, span: Span): string {
  const { from, to } = span;
  const sections = [
    `# ${escapeMarkdown(session.definition.name)}: ${clockTime(from, to)} to ${clockTime(to, to)}`,
    headline(session, span),
    firstFailure(session, span),
    ranTable(session, span),
    speeds(session, span),
    tokens(session),
    gpuTable(session, span),
    unseen(session, span),
  ];
  return `${sections.filter((section) => section !== undefined && section !== "").join("\n\n")}\n`;
}

/** One line for a message: `1 failed, 2 finished, 1 runs`; undefined where nothing has changed in the span. */
export function reportSummary(session: Session, span: Span): string | undefined {
  const changed = allMembers(session).filter(
    ({ member, startedAt, endedAt }) =>
      isIn(startedAt, span) ||
      isIn(endedAt, span) ||
      (!member.run && member.transitions.some(({ at, from }) => from !== undefined && isIn(at, span))),
  );
  if (changed.length === 0) return undefined;
  const words = new Map<string, number>();
  for (const { member } of changed) {
    const seen = lastSeen(member.state);
    const word = isBad(seen) ? "failed" : isActive(seen) ? "running" : seen.kind.startsWith("finished") ? "finished" : undefined; // prettier-ignore
    if (word !== undefined) words.set(word, (words.get(word) ?? 0) + 1);
  }
  const order = ["failed", "finished", "running"].filter((word) => words.has(word));
  return order.length === 0 ? undefined : order.map((word) => `${count(words.get(word) ?? 0)} ${word}`).join(", ");
}

function headline(session: Session, { to }: Span): string {
  const stages = [...session.stages.values()].map((stage) => `**${escapeMarkdown(stage.definition.name)}**: ${escapeMarkdown(stageText(stage, to))}`); // prettier-ignore
  const eta = session.eta.eta && finishRange(session.eta.eta, to);
  const untimed =
    session.eta.untimed.length === 0
      ? ""
      : `, not counting ${escapeMarkdown(list(session.eta.untimed))}, never timed so far`;
  return [
    stages.length === 0 ? "No stages." : `- ${stages.join("\n- ")}`,
    eta === undefined ? undefined : `All through: **${eta}**${untimed}.`,
  ]
    .filter((part) => part !== undefined)
    .join("\n\n");
}

interface Named {
  readonly title: string;
  readonly member: Member;
  /** When its newest run began and ended, our clock. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

function allMembers(session: Session): readonly Named[] {
  const staged = [...session.stages.values()].flatMap((stage) =>
    stage.members.map((member) => named(session, stage.definition.host, memberTitle(stage, member.name), member)),
  );
  const served = [...session.services.values()].map(({ definition: { host, name }, member }) =>
    named(session, host, name, member),
  );
  return [...served, ...staged];
}

function named(session: Session, host: string, title: string, member: Member): Named {
  const { run } = member;
  const ahead = session.hosts.get(host)?.identity?.clockOffsetMs ?? 0;
  return {
    title,
    member,
    ...(run ? { startedAt: run.startedAt - ahead } : {}),
    ...(run?.end ? { endedAt: run.end.at - ahead } : {}),
  };
}

function isIn(at: number | undefined, { from, to }: Span): boolean {
  return at !== undefined && at >= from && at <= to;
}

/** When a member failed in the span: by its record, since it may have happened while no window was open. */
function failedAt({ member, endedAt }: Named, span: Span): number | undefined {
  const broke = member.transitions.find(({ at, to }) => (to === "failed" || to === "lost") && isIn(at, span))?.at;
  const at = isBad(lastSeen(member.state)) ? (endedAt ?? broke) : broke;
  return isIn(at, span) ? at : undefined;
}

function firstFailure(session: Session, span: Span): string | undefined {
  const failed = allMembers(session)
    .flatMap((one) => {
      const at = failedAt(one, span);
      return at === undefined ? [] : [{ ...one, at }];
    })
    .sort((a, b) => a.at - b.at);
  const [first, ...others] = failed;
  if (!first) return undefined;
  const { title, member, at } = first;
  const state = lastSeen(member.state);
  const evidence = member.transitions.find(({ to }) => to === "failed" || to === "lost")?.evidence ?? "";
  const cause = state.kind === "failed" ? causeWithExit(state.cause, member.run) : evidence;
  const lines = [
    `## What failed first`,
    `**${escapeMarkdown(title)}**, ${clockTime(at, span.to)}: ${escapeMarkdown(cause)}`,
    state.kind === "failed" && state.lastLine ? `Its log ends with: ${escapeMarkdown(state.lastLine)}` : undefined,
    state.kind === "failed" ? `What helps: ${adviceMarkdown(state.remedy)}` : `It is ${escapeMarkdown(stateText(member.state, member, span.to))} now.`, // prettier-ignore
    others.length === 0
      ? undefined
      : `After it: ${others.map((one) => `${escapeMarkdown(one.title)} (${clockTime(one.at, span.to)})`).join(", ")}.`,
  ];
  return lines.filter((one) => one !== undefined).join("\n\n");
}

function ranTable(session: Session, span: Span): string | undefined {
  const rows = allMembers(session).flatMap(({ title, member, startedAt, endedAt }) => {
    if (startedAt === undefined || startedAt > span.to || (endedAt ?? span.to) < span.from) return [];
    const took = duration((endedAt ?? span.to) - startedAt);
    const starts = member.marks.filter(({ kind, at }) => kind === "started" && isIn(at, span)).length;
    const state = escapeMarkdown(stateText(member.state, member, span.to));
    const again = starts > 1 ? count(starts - 1) : "";
    return [`| ${escapeMarkdown(title)} | ${clockTime(startedAt, span.to)} | ${took} | ${again} | ${state} |`];
  });
  if (rows.length === 0) return undefined;
  return `## What ran\n\n| | started | for | restarts | now |\n| --- | --- | --- | --- | --- |\n${rows.join("\n")}`;
}

function speeds(session: Session, span: Span): string | undefined {
  const parts = allMembers(session).flatMap(({ title, member }) => {
    const counted = gainWords(member, span);
    const still = stillWords(member, span);
    const series = member.series.byName.get("rate");
    // The whole night would leave nothing to be seen of what ran for an hour.
    const seen = series && seenPart(series, span);
    const mean = series && meanOf(series, span);
    const name = `**${escapeMarkdown(title)}**: `;
    const all = [counted, still].filter((one) => one !== undefined).join(" ");
    if (!series || !seen || mean === undefined) return all === "" ? [] : [`${name}${all}`];
    const words = `${name}${all === "" ? "" : `${all} `}Its log says ${speed(mean, member.progress?.rate_unit)} on average`;
    const [from, to] = [clockTime(seen.from, span.to), clockTime(seen.to, span.to)];
    const times = from === to ? from : `${from} to ${to}`;
    return [`${words}, ${times}.\n\n${image(`Speed of ${title}`, sparkline(series, seen))}`];
  });
  return parts.length === 0 ? undefined : `## Speed\n\n${parts.join("\n\n")}`;
}

/** What was done in the span by the count of outputs or of the log, and how fast that was, pauses included. */
function gainWords(member: Member, span: Span): string | undefined {
  const { byName } = member.series;
  const lines = byName.get("outputCount");
  const gain = gainOf(lines ?? byName.get("done") ?? emptySeries, span);
  if (!gain || gain.amount === 0) return undefined;
  const unit = lines ? (member.written?.unit ?? "") : (member.progress?.unit ?? "");
  const one = unit.replace(/s$/, "");
  const [from, to] = [clockTime(gain.from, span.to), clockTime(gain.to, span.to)];
  const pace = speed(gain.amount / ((gain.to - gain.from) / 1000), `${one === "" || unit === "B" ? "it" : one}/s`);
  return `${count(gain.amount)} ${escapeMarkdown(lines ? `${unit} written` : `${unit} done`.trim())} from ${from} to ${to}: ${escapeMarkdown(pace)} with all pauses.`;
}

function stillWords(member: Member, span: Span): string | undefined {
  const series = member.series.byName.get("outputCount") ?? member.series.byName.get("outputBytes");
  const still = series && longestStill(series, span, (value, before) => value === before, stillMs);
  if (!still) return undefined;
  return `Nothing new from ${clockTime(still.from, span.to)} to ${clockTime(still.to, span.to)} (${duration(still.to - still.from)}).`;
}

function tokens(session: Session): string | undefined {
  const parts = allMembers(session).flatMap(({ title, member: { tokenLengths, run } }) => {
    const limit = tokenLimit(run?.command);
    const text = tokenLengths && tokenText(tokenLengths, limit);
    if (!tokenLengths || text === undefined) return [];
    const picture = image(`Token lengths of ${title}`, barPicture(tokenBins(tokenLengths, limit, mostBars), limit));
    return [`**${escapeMarkdown(title)}**: ${text}\n\n${picture}`];
  });
  return parts.length === 0 ? undefined : `## Tokens of an answer\n\n${parts.join("\n\n")}`;
}

function gpuTable(session: Session, span: Span): string | undefined {
  const used: { readonly host: string; readonly gpu: Gpu; readonly use: GpuUse }[] = [];
  for (const [host, { gpus }] of session.hosts) {
    for (const gpu of gpus) {
      const use = gpuUse(gpu, span);
      if (use) used.push({ host, gpu, use });
    }
  }
  if (used.length === 0) return undefined;
  const idle = used.reduce((sum, { use }) => sum + use.idleHours, 0);
  const seen = used.reduce((sum, { use }) => sum + use.seenHours, 0);
  const unseenHours = Math.max(0, (used.length * (span.to - span.from)) / 3_600_000 - seen);
  const rows = used.map(({ host, gpu, use }) => {
    const { longestIdle } = use;
    const when = longestIdle ? `${clockTime(longestIdle.from, span.to)} to ${clockTime(longestIdle.to, span.to)}` : "";
    const memory =
      use.peakMemoryMib === undefined ? "" : (gpuMemory(use.peakMemoryMib, gpu.sample.memoryTotalMib) ?? "");
    return `| ${escapeMarkdown(host)} ${String(gpu.index)} | ${String(Math.round(use.meanUtilisation))} % | ${hours(use.idleHours)} h | ${when} | ${memory} | ${escapeMarkdown(list(gpu.usedBy))} |`;
  });
  return [
    "## GPUs",
    `**${hours(idle)} of ${hours(seen)} GPU hours idle** (utilisation under 5 %)${unseenHours > 0.05 ? `; ${hours(unseenHours)} more were not seen` : ""}.`,
    `| GPU | mean | idle | longest idle | most memory | claimed by |\n| --- | --- | --- | --- | --- | --- |\n${rows.join("\n")}`,
  ].join("\n\n");
}

/** To a tenth: nobody counts a night in seconds. */
function hours(value: number): string {
  return value > 0 && value < 0.05 ? "under 0.1" : String(Math.round(value * 10) / 10);
}

function unseen(session: Session, span: Span): string | undefined {
  const lines: string[] = [];
  for (const [name, { gpus, awaySince }] of session.hosts) {
    const series: MetricSeries | undefined = gpus[0]?.series.byName.get("utilisation");
    for (const gap of series ? silences(series, span, unseenMs) : []) {
      lines.push(
        `${escapeMarkdown(name)} was not seen from ${clockTime(gap.from, span.to)} to ${clockTime(gap.to, span.to)}.`,
      );
    }
    if (awaySince !== undefined) lines.push(`${escapeMarkdown(name)} is away since ${clockTime(awaySince, span.to)} (${age(awaySince, span.to)}).`); // prettier-ignore
  }
  for (const { title, member } of allMembers(session)) {
    const gaps = member.marks.filter(({ kind, at }) => kind === "gap" && isIn(at, span));
    const lost = member.log?.lost ?? 0;
    if (gaps.length === 0) continue;
    lines.push(`${escapeMarkdown(title)}: ${amount(gaps.length, "gap")} in its log${lost > 0 ? `, ${bytes(lost)} were gone before they were read` : ""}.`); // prettier-ignore
  }
  return lines.length === 0 ? undefined : `## What nobody saw\n\n- ${lines.join("\n- ")}`;
}

/** As an address of its own, which Markdown previews show without asking anybody; made of our own numbers alone. */
function image(name: string, svg: string): string {
  const data = encodeURIComponent(svg).replace(/[()']/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `![${escapeMarkdown(name)}](data:image/svg+xml;utf8,${data})`;
}
