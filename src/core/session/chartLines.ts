import type { ChartOwner, Track } from "./chartOwners";

/** Where the samples of a line come from. */
export type LineSource =
  | { readonly kind: "plain"; readonly track: Track }
  /** The mean of each interval, out of the mean since the start. */
  | { readonly kind: "interval-mean"; readonly counts: Track; readonly means: Track }
  | { readonly kind: "throughput"; readonly counts: Track; readonly part: "intervals" | "mean" }
  | {
      readonly kind: "envelope";
      readonly of: readonly LineSource[];
      readonly part: "low" | "mean" | "high";
      /** Whether they are sampled together in rounds, or each as it likes. */
      readonly pace: "rounds" | "own";
    };

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

/** More GPUs or members than this in one chart are drawn as what lies between the lowest and the highest. */
const mostLines = 8;
/** More hosts than this share one such band. */
const mostBands = 4;
/** Members of a stage that are this few stay lines. */
const fewest = 2;

/** A line that has no colour yet. */
export type Uncoloured = Omit<PlannedLine, "color" | "look"> &
  Partial<Pick<PlannedLine, "look">> & {
    /** Which metric of its owner it tells, where there are several: `evaluation`. */
    readonly of?: string;
  };

/** The lines of one owner. */
export interface Owned {
  readonly owner: ChartOwner;
  readonly lines: readonly Uncoloured[];
}

/**
 * The lines of members, each its own; of a stage with many, the mean and what lies between the lowest and the highest.
 * @param together whether an owner's lines share a colour
 */
export function memberLines(owned: readonly Owned[], chart: string, together = false): readonly PlannedLine[] {
  const having = owned.filter(({ lines }) => lines.length > 0);
  if (having.length <= mostLines) return coloured(linesOf(having), chart, together);
  const families = grouped(having, ({ owner }) => owner.family);
  const groups = families.flatMap(([family, members]) =>
    members.length <= fewest ? linesOf(members) : familyBands(family, members),
  );
  return coloured(groups, chart, together);
}

function linesOf(owned: readonly Owned[]): readonly (readonly Uncoloured[])[] {
  return owned.map(({ lines }) => lines);
}

function familyBands(family: string, members: readonly Owned[]): readonly (readonly Uncoloured[])[] {
  const told = members.flatMap(({ lines }) => lines.filter(({ look }) => look !== "thin"));
  return grouped(told, ({ of = "" }) => of).map(([of, lines]) => {
    const sources = lines.map(({ source }) => source);
    const prefix = of === "" ? `${family} ` : `${family} ${of} `;
    return band(sources, "own", { key: `${family}/${of}`, prefix, many: String(lines.length) });
  });
}

/** The lines of one metric of GPUs: one for each, or of many a band for each host. */
export function gpuLines(owners: readonly ChartOwner[], name: string, chart: string): readonly PlannedLine[] {
  const having = owners.flatMap((owner) => {
    const track = owner.tracks.get(name);
    return track ? [{ owner, source: { kind: "plain" as const, track } }] : [];
  });
  if (having.length <= mostLines) {
    const lines = having.map(({ owner: { key, label }, source }) => [{ key: `${key}/${name}`, label, source }]);
    return coloured(lines, chart, false);
  }
  const byHost = grouped(having, ({ owner }) => owner.family);
  const groups = byHost.length > mostBands ? [["", having] as const] : byHost;
  const bands = groups.map(([host, of]) => {
    const sources = of.map(({ source }) => source);
    const prefix = byHost.length > 1 && host !== "" ? `${host} ` : "";
    return band(sources, "rounds", { key: host, prefix, many: `${of.length} GPUs` });
  });
  return coloured(bands, chart, false);
}

function band(
  of: readonly LineSource[],
  pace: "rounds" | "own",
  { key, prefix, many }: { readonly key: string; readonly prefix: string; readonly many: string },
): readonly Uncoloured[] {
  const line = (part: "low" | "mean" | "high", label: string, look: PlannedLine["look"]): Uncoloured => ({
    key: `${key}/${part}`,
    label: `${prefix}${label}`,
    look,
    source: { kind: "envelope", of, part, pace },
  });
  return [line("mean", `mean of ${many}`, "line"), line("low", "lowest", "low"), line("high", "highest", "high")];
}

/** Gives colours: lines that go together have one; else each line has. */
function coloured(
  groups: readonly (readonly Uncoloured[])[],
  chart: string,
  together: boolean,
): readonly PlannedLine[] {
  let next = 0;
  return groups.flatMap((lines) => {
    const shared = together || lines.some(({ look }) => look === "low");
    const first = next;
    next += shared ? 1 : lines.length;
    return lines.map(({ key, label, source, look = "line" }, index) => ({
      key: `${chart}/${key}`,
      label,
      source,
      look,
      color: shared ? first : first + index,
    }));
  });
}

function grouped<T>(all: readonly T[], by: (one: T) => string): readonly (readonly [string, readonly T[]])[] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(by(one), [...(groups.get(by(one)) ?? []), one]);
  return [...groups];
}
