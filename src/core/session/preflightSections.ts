import type { MemberRef } from "./events";
import type { Session } from "./model";
import type { PreflightRow } from "./preflight";
import { amount, list } from "./words";

/** What was found of one member's launch. */
export interface CheckedMember {
  readonly ref: MemberRef;
  readonly host: string;
  readonly rows: readonly PreflightRow[];
}

/** A row of the list, and the member that its fix is applied to. */
export interface CheckRow extends PreflightRow {
  readonly ref: MemberRef;
}

/** A part of the list, under its title. */
export interface CheckSection {
  readonly title: string;
  readonly rows: readonly CheckRow[];
}

/** Names of more members than this make a row unreadable. */
const mostNamed = 4;

/**
 * The one list of a check. What several members share is said once. Of one stage it is grouped by what was looked at; of
 * several by host and stage, with what stages of a host share under the host. The gravest comes first.
 */
export function checkSections(session: Session, checked: readonly CheckedMember[]): readonly CheckSection[] {
  const stages = [...new Set(checked.map(({ ref }) => ref.stage))].map((name) => stageRows(session, name, checked));
  const [only] = stages;
  if (!only) return [];
  if (stages.length === 1) return byGroup(only.rows);
  const hosts = [...new Set(stages.map(({ host }) => host))];
  return hosts.flatMap((host) =>
    sectionsOfHost(
      host,
      stages.filter((stage) => stage.host === host),
    ),
  );
}

interface StageRows {
  readonly name: string;
  readonly host: string;
  readonly members: number;
  readonly rows: readonly CheckRow[];
}

function stageRows(session: Session, name: string, all: readonly CheckedMember[]): StageRows {
  const checked = all.filter(({ ref }) => ref.stage === name);
  const found = new Map<string, Found>();
  for (const { ref, rows } of checked) {
    for (const row of rows) {
      // Of what is in order the first says enough: eight logs are one row.
      const key = row.level === "ok" ? JSON.stringify([row.group, row.name]) : keyOf(row);
      const known = found.get(key) ?? { row, refs: [], says: new Set() };
      found.set(key, known);
      known.refs.push(ref);
      known.says.add(row.says);
    }
  }
  const rows = [...found.values()].flatMap(({ row, refs, says }): CheckRow[] => {
    const [ref] = refs;
    if (!ref) return [];
    const more = says.size > 1 ? `, and ${String(says.size - 1)} more` : "";
    const whose = refs.length === checked.length || row.level === "ok" ? "" : ` (${memberNames(refs)})`;
    return [{ ...row, says: `${row.says}${more}${whose}`, ref }];
  });
  const host = checked[0]?.host ?? session.stages.get(name)?.definition.host ?? "";
  return { name, host, members: checked.length, rows };
}

/** Members of whom the same is to be said, and in how many words. */
interface Found {
  readonly row: PreflightRow;
  readonly refs: MemberRef[];
  readonly says: Set<string>;
}

function memberNames(refs: readonly MemberRef[]): string {
  const names = refs.map(({ member }) => member);
  const word = names.length === 1 ? "member" : "members";
  const more = names.length - mostNamed;
  return `${word} ${list(more > 0 ? [...names.slice(0, mostNamed), `${String(more)} more`] : names)}`;
}

function byGroup(rows: readonly CheckRow[]): readonly CheckSection[] {
  const groups = [...new Set(gravestFirst(rows).map(({ group }) => group))];
  return groups.map((group) => ({ title: group, rows: gravestFirst(rows.filter((row) => row.group === group)) }));
}

function sectionsOfHost(host: string, stages: readonly StageRows[]): readonly CheckSection[] {
  const holders = new Map<string, string[]>();
  for (const { name, rows } of stages)
    for (const row of rows) if (canBeShared(row)) holders.set(keyOf(row), [...(holders.get(keyOf(row)) ?? []), name]);
  const isShared = (row: CheckRow): boolean => (holders.get(keyOf(row))?.length ?? 0) > 1;
  const shared = new Map<string, CheckRow>();
  for (const { rows } of stages) {
    for (const row of rows) {
      if (!isShared(row) || shared.has(keyOf(row))) continue;
      const names = holders.get(keyOf(row)) ?? [];
      const whose = names.length === stages.length ? "" : ` (for ${list(names)})`;
      shared.set(keyOf(row), { ...row, says: `${row.says}${whose}` });
    }
  }
  const own = stages.map(({ name, members, rows }): CheckSection => {
    const many = members > 1 ? ` (${amount(members, "member")})` : "";
    return { title: `${name}${many} on ${host}`, rows: gravestFirst(rows.filter((row) => !isShared(row))) };
  });
  return [{ title: host, rows: gravestFirst([...shared.values()]) }, ...own].filter(({ rows }) => rows.length > 0);
}

/** What a command does and what it reads is said where the command is. */
function canBeShared({ group }: CheckRow): boolean {
  return group !== "command" && group !== "inputs";
}

function gravestFirst(rows: readonly CheckRow[]): readonly CheckRow[] {
  return (["error", "warning", "ok"] as const).flatMap((level) => rows.filter((row) => row.level === level));
}

function keyOf({ group, name, level, says, fix }: PreflightRow): string {
  return JSON.stringify([group, name, level, says, fix]);
}

/** How a check came out, in words: `2 errors, 1 warning`. */
export function checkSum(sections: readonly CheckSection[]): string {
  const rows = sections.flatMap((section) => section.rows);
  const counted = (["error", "warning"] as const).flatMap((level) => {
    const number = rows.filter((row) => row.level === level).length;
    return number === 0 ? [] : [amount(number, level)];
  });
  return counted.length === 0 ? "ready to launch" : counted.join(", ");
}
