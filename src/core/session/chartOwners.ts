import type { Mark, Member, RemoteHost, Session } from "./model";
import type { TreeNode } from "./nodes";
import type { MetricSeries } from "./series";
import { tokenLimit, type TokenLengths } from "./tokenLengths";
import { isOfOutputs } from "./written";

/** A metric as charts see it: what an earlier window kept of it, and what this one has seen. */
export interface Track {
  readonly kept?: MetricSeries;
  readonly live?: MetricSeries;
}

/** What units a member's counter and printed rate have, and which metric is its counter. */
export interface CounterInfo {
  readonly counter?: string;
  readonly unit?: string;
  readonly rateUnit?: string;
}

/** How long the answers are that a member has written. */
export interface OwnedLengths {
  readonly lengths: TokenLengths;
  /** When they were counted last, ms since 1970. */
  readonly readAt: number;
  /** The limit that its command gives, tokens. */
  readonly limit?: number;
}

/** Something that has metrics: a member of a stage, a service, a GPU. A person picks among these. */
export interface ChartOwner extends CounterInfo {
  /** `stage/extract/3`, `service/vllm`, `gpu/gpu8/0`. */
  readonly key: string;
  readonly kind: "member" | "gpu";
  readonly label: string;
  /** What it is listed under: stages, services, or its host. */
  readonly group: string;
  /** With whom it is drawn together where they are many: its stage, or its host. */
  readonly family: string;
  readonly host: string;
  readonly tracks: ReadonlyMap<string, Track>;
  readonly marks: readonly Mark[];
  /** Undefined where none has a number. */
  readonly answers?: OwnedLengths;
}

/** What an earlier window kept of an owner. */
export interface KeptOwner extends CounterInfo {
  readonly series: ReadonlyMap<string, MetricSeries>;
  readonly marks: readonly Mark[];
}

/** What an earlier window kept of a session, by the key of the owner. */
export type KeptCharts = ReadonlyMap<string, KeptOwner>;

/** Everything of a session, or of the part of it that was asked for, that has metrics: a stage brings its host's. */
export function chartOwners(session: Session, target: TreeNode, kept: KeptCharts): readonly ChartOwner[] {
  const hosts = hostsOf(session, target);
  const members = target.kind === "gpu" ? [] : memberOwners(session, target, hosts);
  const gpus = hosts.flatMap((host) => gpuOwners(host, hosts.length > 1, kept));
  const wanted = target.kind === "gpu" ? gpus.filter(({ key }) => key === gpuKey(target.host, target.index)) : gpus;
  return [...members.map((owner) => withKept(owner, kept.get(owner.key))), ...wanted];
}

type BareOwner = Omit<ChartOwner, "tracks"> & { readonly live: ReadonlyMap<string, MetricSeries> };

function memberOwners(session: Session, target: TreeNode, hosts: readonly RemoteHost[]): readonly BareOwner[] {
  const asked = hosts.map((host) => host.definition.name);
  const stages = [...session.stages.values()].filter(({ definition }) =>
    target.kind === "stage" ? definition.name === target.stage : asked.includes(definition.host),
  );
  const staged = stages.flatMap(({ definition: { name, host }, members }) =>
    members
      .filter((member) => target.kind !== "stage" || (target.member ?? member.name) === member.name)
      .map((member) => {
        const label = members.length > 1 ? `${name} ${member.name}` : name;
        return memberOwner(member, { key: `stage/${name}/${member.name}`, label, group: "Stages", family: name, host });
      }),
  );
  const services = [...session.services.values()].filter(({ definition }) =>
    target.kind === "service" ? definition.name === target.service : asked.includes(definition.host),
  );
  const served = services.map(({ definition: { name, host }, member }) =>
    memberOwner(member, { key: `service/${name}`, label: name, group: "Services", family: name, host }),
  );
  return target.kind === "service" ? served : [...staged, ...served];
}

function memberOwner(
  member: Member,
  names: Pick<ChartOwner, "key" | "label" | "group" | "family" | "host">,
): BareOwner {
  const { progress, series } = member;
  // What is told of outputs is drawn from what they were found to be.
  const written =
    progress && isOfOutputs(progress)
      ? series.byName.get(progress.unit === "B" ? "outputBytes" : "outputCount")
      : undefined;
  const counter = written?.name ?? (series.byName.has("done") ? "done" : undefined);
  return {
    ...names,
    kind: "member",
    live: series.byName,
    marks: marksOf(member),
    ...answersOf(member),
    ...(counter !== undefined && { counter }),
    ...(progress?.unit !== undefined && { unit: progress.unit }),
    ...(progress?.rate_unit !== undefined && { rateUnit: progress.rate_unit }),
  };
}

function answersOf({ tokenLengths, tokensReadAt, run }: Member): Pick<ChartOwner, "answers"> {
  if (!tokenLengths || tokenLengths.counts.size === 0 || tokensReadAt === undefined) return {};
  const limit = tokenLimit(run?.command);
  return { answers: { lengths: tokenLengths, readAt: tokensReadAt, ...(limit !== undefined && { limit }) } };
}

const alarming = new Map([
  ["stalled", "stalled"],
  ["lost", "lost"],
  ["failed", "failed"],
]);

/** Starts and ends as recorded, and what became an alert without such a record. */
function marksOf({ marks, transitions }: Member): readonly Mark[] {
  const starts = marks.filter(({ kind }) => kind === "started");
  const told = marks.map((mark) =>
    mark.kind === "started" && mark !== starts[0] ? { ...mark, kind: "restarted" as const, label: "restarted" } : mark,
  );
  const alerts = transitions.flatMap(({ at, to }): readonly Mark[] => {
    const label = alarming.get(to);
    const known = to === "failed" && marks.some((mark) => mark.kind === "failed" && mark.at <= at);
    return label === undefined || known ? [] : [{ at, kind: "alert", label }];
  });
  return alerts.length === 0 ? told : [...told, ...alerts];
}

function gpuOwners({ definition, gpus }: RemoteHost, several: boolean, kept: KeptCharts): readonly ChartOwner[] {
  const host = definition.name;
  const live = new Map(gpus.map((gpu) => [gpuKey(host, gpu.index), gpu.series.byName]));
  const before = [...kept.keys()].filter((key) => key.startsWith(gpuKey(host, "")));
  const index = (key: string): number => Number(key.slice(gpuKey(host, "").length));
  const keys = [...new Set([...live.keys(), ...before])].sort((a, b) => index(a) - index(b));
  return keys.map((key) => {
    const label = several ? `${host} GPU ${index(key)}` : `GPU ${index(key)}`;
    const series = live.get(key) ?? new Map<string, MetricSeries>();
    return withKept(
      { key, kind: "gpu", label, group: host, family: host, host, live: series, marks: [] },
      kept.get(key),
    );
  });
}

function gpuKey(host: string, index: number | ""): string {
  return `gpu/${host}/${index}`;
}

function withKept({ live, ...owner }: BareOwner, kept: KeptOwner | undefined): ChartOwner {
  const tracks = new Map<string, Track>([...live].map(([name, series]) => [name, { live: series }]));
  if (!kept) return { ...owner, tracks };
  const { series: before, marks, ...info } = kept;
  for (const [name, series] of before) tracks.set(name, { ...tracks.get(name), kept: series });
  return { ...info, ...owner, tracks, marks: withKeptMarks(marks, owner.marks) };
}

/** A mark that was kept is told once, however the host's clock was measured the next time. */
function withKeptMarks(kept: readonly Mark[], marks: readonly Mark[]): readonly Mark[] {
  const isKnown = (mark: Mark): boolean =>
    marks.some((other) => other.label === mark.label && Math.abs(other.at - mark.at) < 5000);
  return [...kept.filter((mark) => !isKnown(mark)), ...marks];
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
