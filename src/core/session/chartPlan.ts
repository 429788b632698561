import { gpuLooks, memberLooks, type ChartLook, type Words } from "./chartLooks";
import { gpuLines, memberLines, type Owned, type PlannedLine, type Uncoloured } from "./chartLines";
import { chartOwners, type ChartOwner, type KeptCharts } from "./chartOwners";
import type { Mark, Session } from "./model";
import type { TreeNode } from "./nodes";

/** A chart with its lines; charts without lines are not planned. */
export interface PlannedChart extends ChartLook {
  readonly lines: readonly PlannedLine[];
}

/** All charts of a session, or of the part of it that was asked for. */
export interface ChartPlan {
  readonly title: string;
  readonly charts: readonly PlannedChart[];
  readonly marks: readonly Mark[];
  /** All that could be drawn, what was not picked included. */
  readonly owners: readonly ChartOwner[];
}

/**
 * The charts for a row of a view.
 * @param kept what an earlier window kept of the session
 * @param hidden keys of owners that the person does not want to see
 */
export function chartPlan(
  session: Session,
  target: TreeNode,
  kept: KeptCharts = new Map(),
  hidden: ReadonlySet<string> = new Set(),
): ChartPlan {
  const owners = chartOwners(session, target, kept).filter(
    ({ tracks, answers }) => tracks.size > 0 || answers !== undefined,
  );
  const shown = owners.filter(({ key }) => !hidden.has(key));
  const members = shown.filter(({ kind }) => kind === "member");
  const several = owners.filter(({ kind }) => kind === "member").length > 1;
  const charts = [...memberCharts(members, several), ...gpuCharts(shown.filter(({ kind }) => kind === "gpu"))];
  const marks = members.flatMap(({ label, marks: of }) =>
    of.map((mark) => (several ? { ...mark, label: `${label} ${mark.label}` } : mark)),
  );
  return {
    title: titleOf(session, target),
    charts: charts.filter((chart) => chart.lines.length > 0),
    marks: marks.sort((a, b) => a.at - b.at),
    owners,
  };
}

function titleOf(session: Session, target: TreeNode): string {
  const { name } = session.definition;
  switch (target.kind) {
    case "session":
      return name;
    case "stage":
      return `${name} · ${target.stage}${target.member === undefined ? "" : ` ${target.member}`}`;
    case "service":
      return `${name} · ${target.service}`;
    case "host":
      return `${name} · ${target.host}`;
    case "gpu":
      return `${name} · ${target.host} GPU ${target.index}`;
  }
}

function memberCharts(owners: readonly ChartOwner[], several: boolean): readonly PlannedChart[] {
  const [errors, ...others] = memberLooks.map(({ metrics, ...chart }) => ({
    ...chart,
    lines: memberLines(
      owners.map((owner) => ({ owner, lines: plainLines(owner, metrics, several) })),
      chart.id,
    ),
  }));
  return [...throughputCharts(owners), tokenChart(owners), ...(errors ? [errors] : []), ...others];
}

function plainLines(owner: ChartOwner, metrics: Words, several: boolean): readonly Uncoloured[] {
  const found = Object.entries(metrics).filter(([name]) => owner.tracks.has(name));
  return found.flatMap(([name, word]) => {
    const track = owner.tracks.get(name);
    const alone = word === "" || (found.length === 1 && several);
    const label = alone ? owner.label : several ? `${owner.label} ${word}` : word;
    return track ? { key: `${owner.key}/${name}`, label, of: word, source: { kind: "plain" as const, track } } : [];
  });
}

/** One chart for each unit: requests and bytes have no axis in common. */
function throughputCharts(owners: readonly ChartOwner[]): readonly PlannedChart[] {
  const byUnit = new Map<string, Owned[]>();
  for (const owner of owners) {
    for (const [unit, lines] of speedsOf(owner)) byUnit.set(unit, [...(byUnit.get(unit) ?? []), { owner, lines }]);
  }
  return [...byUnit].map(([unit, lines]) => ({
    id: `throughput ${unit}`,
    title: "Throughput",
    about: "Speed of each interval, and thin its mean so far",
    unit: { kind: "rate", unit },
    min: 0,
    lines: memberLines(lines, `throughput ${unit}`, true),
  }));
}

function speedsOf({
  key,
  label,
  tracks,
  counter,
  unit,
  rateUnit,
}: ChartOwner): readonly [string, readonly Uncoloured[]][] {
  const counts = counter === undefined ? undefined : tracks.get(counter);
  const printed = tracks.get("rate");
  const counted = unit === undefined ? (rateUnit ?? "it/s") : `${unit.replace(/s$/, "")}/s`;
  const speeds: [string, readonly Uncoloured[]][] = [];
  if (counts) {
    const intervals = { key, label, source: { kind: "throughput", counts, part: "intervals" } } as const;
    const mean = { key: `${key}/mean`, label: `${label} mean`, look: "thin" } as const;
    speeds.push([counted, [intervals, { ...mean, source: { kind: "throughput", counts, part: "mean" } }]]);
  }
  // What the log prints is drawn only where it says something that the count does not.
  if (printed && !(counts && (rateUnit ?? counted) === counted)) {
    speeds.push([rateUnit ?? counted, [{ key: `${key}/rate`, label, source: { kind: "plain", track: printed } }]]);
  }
  return speeds;
}

function tokenChart(owners: readonly ChartOwner[]): PlannedChart {
  const owned = owners.map((owner): Owned => {
    const { key, label, tracks } = owner;
    const [means, counts] = [tracks.get("avg_completion_tokens"), tracks.get("done")];
    return { owner, lines: means && counts ? [{ key, label, source: { kind: "interval-mean", counts, means } }] : [] };
  });
  return {
    id: "tokens",
    title: "Completion tokens",
    about: "Mean length of the completions of each interval",
    unit: { kind: "number" },
    min: 0,
    lines: memberLines(owned, "tokens"),
  };
}

function gpuCharts(owners: readonly ChartOwner[]): readonly PlannedChart[] {
  return gpuLooks.map(({ name, ...chart }) => ({ ...chart, lines: gpuLines(owners, name, chart.id) }));
}
