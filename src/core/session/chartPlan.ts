import { gpuLooks, memberLooks, type ChartLook, type Words } from "./chartLooks";
import { chartOwners, type ChartOwner, type KeptCharts, type Track } from "./chartOwners";
import type { Mark, Session } from "./model";
import type { TreeNode } from "./nodes";

/** Where the samples of a line come from. */
export type LineSource =
  | { readonly kind: "plain"; readonly track: Track }
  /** The mean of each interval, out of the mean since the start. */
  | { readonly kind: "interval-mean"; readonly counts: Track; readonly means: Track }
  | { readonly kind: "throughput"; readonly counts: Track; readonly part: "intervals" | "mean" }
  | { readonly kind: "envelope"; readonly of: readonly Track[]; readonly part: "low" | "mean" | "high" };

/** A line, how it is drawn, and where its samples come from. */
export interface PlannedLine {
  readonly key: string;
  readonly label: string;
  /** `thin`: beside the line that it belongs to. `low` and `high` have the room between them filled. */
  readonly look: "line" | "thin" | "low" | "high";
  /** Lines that belong together share a colour: a number from 0. */
  readonly color: number;
  readonly source: LineSource;
}

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

/** More GPUs than this in one chart are drawn as what lies between the lowest and the highest. */
const mostGpuLines = 8;
/** More hosts than this share one such band. */
const mostBands = 4;

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
  const owners = chartOwners(session, target, kept).filter(({ tracks }) => tracks.size > 0);
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
    lines: numbered(
      owners.map((owner) => plainLines(owner, metrics, several)),
      chart.id,
    ),
  }));
  return [...throughputCharts(owners), tokenChart(owners), ...(errors ? [errors] : []), ...others];
}

type Uncoloured = Omit<PlannedLine, "color" | "look"> & Partial<Pick<PlannedLine, "look">>;

/** Gives colours: where each owner has one line, or lines that go together, it has one colour; else each line has. */
function numbered(
  byOwner: readonly (readonly Uncoloured[])[],
  chart: string,
  together = false,
): readonly PlannedLine[] {
  const owned = byOwner.filter((lines) => lines.length > 0);
  let next = 0;
  return owned.flatMap((lines, owner) =>
    lines.map((line) => ({
      look: "line" as const,
      ...line,
      key: `${chart}/${line.key}`,
      color: together ? owner : next++,
    })),
  );
}

function plainLines(owner: ChartOwner, metrics: Words, several: boolean): readonly Uncoloured[] {
  const found = Object.entries(metrics).filter(([name]) => owner.tracks.has(name));
  return found.flatMap(([name, word]) => {
    const track = owner.tracks.get(name);
    const alone = word === "" || (found.length === 1 && several);
    const label = alone ? owner.label : several ? `${owner.label} ${word}` : word;
    return track ? { key: `${owner.key}/${name}`, label, source: { kind: "plain" as const, track } } : [];
  });
}

/** One chart for each unit: requests and bytes have no axis in common. */
function throughputCharts(owners: readonly ChartOwner[]): readonly PlannedChart[] {
  const byUnit = new Map<string, (readonly Uncoloured[])[]>();
  for (const owner of owners) {
    for (const [unit, lines] of speedsOf(owner)) byUnit.set(unit, [...(byUnit.get(unit) ?? []), lines]);
  }
  return [...byUnit].map(([unit, lines]) => ({
    id: `throughput ${unit}`,
    title: "Throughput",
    about: "Speed of each interval, and thin its mean so far",
    unit: { kind: "rate", unit },
    min: 0,
    lines: numbered(lines, `throughput ${unit}`, true),
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
  const lines = owners.map(({ key, label, tracks }): readonly Uncoloured[] => {
    const [means, counts] = [tracks.get("avg_completion_tokens"), tracks.get("done")];
    return means && counts ? [{ key, label, source: { kind: "interval-mean", counts, means } }] : [];
  });
  return {
    id: "tokens",
    title: "Completion tokens",
    about: "Mean length of the completions of each interval",
    unit: { kind: "number" },
    min: 0,
    lines: numbered(lines, "tokens"),
  };
}

function gpuCharts(owners: readonly ChartOwner[]): readonly PlannedChart[] {
  return gpuLooks.map(({ name, ...chart }) => {
    const having = owners.filter(({ tracks }) => tracks.has(name));
    if (having.length > mostGpuLines) return { ...chart, lines: bands(having, name, chart.id) };
    return {
      ...chart,
      lines: numbered(
        having.map((owner) => plainLines(owner, { [name]: "" }, true)),
        chart.id,
      ),
    };
  });
}

function bands(owners: readonly ChartOwner[], name: string, chart: string): readonly PlannedLine[] {
  const byHost = new Map<string, readonly ChartOwner[]>();
  for (const owner of owners) byHost.set(owner.host, [...(byHost.get(owner.host) ?? []), owner]);
  const groups = byHost.size > mostBands ? [["", owners] as const] : [...byHost];
  const lines = groups.map(([host, of]): readonly Uncoloured[] => {
    const tracks = of.flatMap(({ tracks: all }) => all.get(name) ?? []);
    const prefix = byHost.size > 1 && host !== "" ? `${host} ` : "";
    const line = (part: "low" | "mean" | "high", label: string, drawn: PlannedLine["look"]): Uncoloured => ({
      key: `${host}/${part}`,
      label: `${prefix}${label}`,
      look: drawn,
      source: { kind: "envelope", of: tracks, part },
    });
    return [
      line("mean", `mean of ${of.length} GPUs`, "line"),
      line("low", "lowest", "low"),
      line("high", "highest", "high"),
    ];
  });
  return numbered(lines, chart, true);
}
