import type { Gpu, Mark, Member, RemoteHost, Session } from "./model";
import type { TreeNode } from "./nodes";
import type { MetricSeries } from "./series";

/** How the numbers of a chart are said; as in the protocol with the charts page. */
type Unit =
  | { readonly kind: "number" | "percent" | "mib" | "watt" | "celsius" }
  | { readonly kind: "rate"; readonly unit: string };

/** A line and where its samples come from. */
export interface PlannedLine {
  readonly key: string;
  readonly label: string;
  readonly series: MetricSeries;
  /** Given for a mean since the start: the counter it is a mean over, so that each interval's can be told. */
  readonly counts?: MetricSeries;
}

/** A chart with its lines; charts without lines are not planned. */
interface PlannedChart {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly unit: Unit;
  readonly min?: number;
  readonly max?: number;
  readonly lines: readonly PlannedLine[];
}

/** All charts of a session, or of the part of it that was asked for. */
export interface ChartPlan {
  readonly title: string;
  readonly charts: readonly PlannedChart[];
  readonly marks: readonly Mark[];
}

interface Source {
  readonly name: string;
  readonly member: Member;
}

/** The charts for a row of a view: a stage brings the services and GPUs of its host with it. */
export function chartPlan(session: Session, target: TreeNode): ChartPlan {
  const sources = sourcesOf(session, target);
  const hosts = hostsOf(session, target);
  const charts = [...memberCharts(sources), ...gpuCharts(hosts, target)];
  return {
    title: titleOf(session, target),
    charts: charts.filter((chart) => chart.lines.length > 0),
    marks: sources.flatMap(({ name, member }) =>
      member.marks.map((mark) => (sources.length > 1 ? { ...mark, label: `${name} ${mark.label}` } : mark)),
    ),
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

function sourcesOf(session: Session, target: TreeNode): readonly Source[] {
  const asked = hostsOf(session, target).map((host) => host.definition.name);
  const stages = [...session.stages.values()].filter(({ definition }) =>
    target.kind === "stage" ? definition.name === target.stage : asked.includes(definition.host),
  );
  const services = [...session.services.values()].filter(({ definition }) =>
    target.kind === "service" ? definition.name === target.service : asked.includes(definition.host),
  );
  if (target.kind === "gpu") return [];
  const members = stages.flatMap((stage) => {
    const wanted = stage.members.filter(({ name }) => target.kind !== "stage" || (target.member ?? name) === name);
    return wanted.map((member) => ({ name: memberName(stage.definition.name, member, stage.members.length), member }));
  });
  const served = services.map(({ definition, member }) => ({ name: definition.name, member }));
  return target.kind === "service" ? served : [...members, ...served];
}

function memberName(stage: string, member: Member, members: number): string {
  return members > 1 ? `${stage} ${member.name}` : stage;
}

function hostsOf(session: Session, target: TreeNode): readonly RemoteHost[] {
  const hosts = [...session.hosts.values()];
  if (target.kind === "session") return hosts;
  return hosts.filter(({ definition }) => definition.name === hostName(session, target));
}

function hostName(session: Session, target: Exclude<TreeNode, { kind: "session" }>): string | undefined {
  if (target.kind === "host" || target.kind === "gpu") return target.host;
  if (target.kind === "stage") return session.stages.get(target.stage)?.definition.host;
  return session.services.get(target.service)?.definition.host;
}

type Look = Omit<PlannedChart, "lines">;

/** Charts of logs: which series they draw, and the word for a line where there are several of one member. */
const memberLooks: readonly (Look & { readonly series: Readonly<Record<string, string>> })[] = [
  look("errors", "Errors", "Failed requests or items so far", { kind: "number" }, { errors: "" }, { min: 0 }),
  look("loss", "Loss", "Training and evaluation loss", { kind: "number" }, { loss: "", eval_loss: "evaluation" }),
  look("lr", "Learning rate", "Learning rate of the optimiser", { kind: "number" }, { lr: "" }, { min: 0 }),
  look("queue", "Requests in the server", "Requests that the server works on, and that wait for it", { kind: "number" }, { running: "running", waiting: "waiting" }, { min: 0 }), // prettier-ignore
  look("kv", "KV cache", "Share of the server's KV cache in use", { kind: "percent" }, { kv_cache_pct: "" }, { min: 0, max: 100 }), // prettier-ignore
  look("serverTokens", "Server tokens per second", "Tokens that the server reads and writes", { kind: "rate", unit: "tok/s" }, { gen_tok_s: "written", prompt_tok_s: "read" }, { min: 0 }), // prettier-ignore
];

function look(
  ...[id, title, about, unit, series, ends = {}]: readonly [
    string,
    string,
    string,
    Unit,
    Readonly<Record<string, string>>,
    { readonly min?: number; readonly max?: number }?,
  ]
): Look & { readonly series: Readonly<Record<string, string>> } {
  return { id, title, about, unit, series, ...ends };
}

function memberCharts(sources: readonly Source[]): readonly PlannedChart[] {
  const [errors, ...others] = memberLooks.map(({ series, ...chart }) => ({
    ...chart,
    lines: sources.flatMap((source) => linesOf(source, series, sources.length > 1)),
  }));
  return [...throughputCharts(sources), tokenChart(sources), ...(errors ? [errors] : []), ...others];
}

function linesOf(source: Source, series: Readonly<Record<string, string>>, several: boolean): readonly PlannedLine[] {
  return Object.entries(series).flatMap(([name, word]) => {
    const found = source.member.series.byName.get(name);
    if (!found || found.length === 0) return [];
    const label = word === "" ? source.name : several ? `${source.name} ${word}` : word;
    return { key: `${source.name}/${name}`, label, series: found };
  });
}

/** One chart for each unit: requests and bytes have no axis in common. */
function throughputCharts(sources: readonly Source[]): readonly PlannedChart[] {
  const byUnit = new Map<string, PlannedLine[]>();
  for (const source of sources) {
    const unit = source.member.progress?.rate_unit ?? "it/s";
    byUnit.set(unit, [...(byUnit.get(unit) ?? []), ...linesOf(source, { rate: "" }, true)]);
  }
  return [...byUnit].map(([unit, lines]) => ({
    id: `throughput ${unit}`,
    title: "Throughput",
    about: `Speed as the log tells it, in ${unit}`,
    unit: { kind: "rate", unit },
    min: 0,
    lines,
  }));
}

function tokenChart(sources: readonly Source[]): PlannedChart {
  return {
    id: "tokens",
    title: "Completion tokens",
    about: "Mean length of the completions of each interval",
    unit: { kind: "number" },
    min: 0,
    lines: sources.flatMap(({ name, member }) => {
      const series = member.series.byName.get("avg_completion_tokens");
      const counts = member.series.byName.get("done");
      return series && counts ? { key: `${name}/tokens`, label: name, series, counts } : [];
    }),
  };
}

const gpuLooks: readonly (Look & { readonly name: string })[] = [
  { id: "gpu", name: "utilisation", title: "GPU utilisation", about: "Share of time in which each GPU worked", unit: { kind: "percent" }, min: 0, max: 100 }, // prettier-ignore
  { id: "memory", name: "memoryUsedMib", title: "GPU memory", about: "Memory in use on each GPU", unit: { kind: "mib" }, min: 0 }, // prettier-ignore
  { id: "power", name: "powerW", title: "GPU power", about: "Power drawn by each GPU", unit: { kind: "watt" }, min: 0 },
  { id: "temperature", name: "temperatureC", title: "GPU temperature", about: "Temperature of each GPU", unit: { kind: "celsius" } }, // prettier-ignore
];

function gpuCharts(hosts: readonly RemoteHost[], target: TreeNode): readonly PlannedChart[] {
  const wanted = ({ index }: Gpu): boolean => target.kind !== "gpu" || target.index === index;
  return gpuLooks.map(({ name, ...chart }) => ({
    ...chart,
    lines: hosts.flatMap((host) =>
      host.gpus.filter(wanted).flatMap((gpu) => {
        const series = gpu.series.byName.get(name);
        const label = hosts.length > 1 ? `${host.definition.name} ${gpu.index}` : `GPU ${gpu.index}`;
        return series ? { key: `${host.definition.name}/gpu${gpu.index}/${name}`, label, series } : [];
      }),
    ),
  }));
}
