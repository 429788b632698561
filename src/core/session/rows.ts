import type { Session } from "./model";
import { nodeId, type TreeNode } from "./nodes";

/** A row of a view, as data: what is drawn of it and nothing else, so that two of them can be compared. */
export interface Row {
  readonly id: string;
  readonly node: TreeNode;
  readonly label: string;
  readonly description: string;
  /** A codicon, without `$()`. */
  readonly icon: string;
  /** A theme colour for the icon. */
  readonly color?: string;
  /** Markdown; text from hosts is escaped in it. Made when somebody asks for it first. */
  readonly tooltip: string;
  /** Words joined by dots. */
  readonly contextValue: string;
  /** What a screen reader says of it. */
  readonly spoken: string;
  /** What a click does; the arguments are the node and what is given here. */
  readonly click?: { readonly command: string; readonly title: string; readonly more: readonly unknown[] };
  readonly collapsed?: boolean;
  readonly children: readonly Row[];
}

/** A row without what follows from the rest. */
type RowDraft = Omit<Row, "id" | "tooltip" | "spoken" | "children"> & {
  readonly id?: string;
  readonly tooltip: () => string;
  readonly children?: readonly Row[];
};

/** Fills in a row's id, the words for screen readers and no children. */
export function row(draft: RowDraft): Row {
  const { tooltip, ...drawn } = draft;
  const { label, children = [] } = drawn;
  const description = shortened(drawn.description);
  let said: string | undefined;
  return {
    ...drawn,
    // Nobody looks at that of most rows, and a row whose description is another one need not be compared by it.
    get tooltip() {
      return (said ??= tooltip());
    },
    description,
    id: draft.id ?? nodeId(draft.node),
    spoken: description === "" ? label : `${label}: ${description.replaceAll(" · ", ", ")}`,
    children,
  };
}

/** VS Code draws one line of it; a host must not be able to send it a megabyte. */
function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** What a view must draw anew: all of it, or the given rows and what is below them. */
type RowChanges = "all" | readonly Row[];

/** The topmost rows that differ in what is drawn of them or in which children they have. Rows go by id. */
export function changedRows(before: readonly Row[], after: readonly Row[]): RowChanges {
  if (!sameIds(before, after)) return "all";
  return differing(before, after);
}

function differing(before: readonly Row[], after: readonly Row[]): readonly Row[] {
  return after.flatMap((now, index) => {
    const old = before[index];
    if (old === now || old === undefined) return [];
    if (!sameDrawing(old, now) || !sameIds(old.children, now.children)) return [now];
    return differing(old.children, now.children);
  });
}

function sameIds(before: readonly Row[], after: readonly Row[]): boolean {
  return before.length === after.length && before.every((old, index) => old.id === after[index]?.id);
}

function sameDrawing(a: Row, b: Row): boolean {
  const scalar =
    a.label === b.label &&
    a.description === b.description &&
    a.icon === b.icon &&
    a.color === b.color &&
    a.tooltip === b.tooltip &&
    a.contextValue === b.contextValue;
  return scalar && (a.children.length === 0) === (b.children.length === 0) && sameClick(a.click, b.click);
}

function sameClick(a: Row["click"], b: Row["click"]): boolean {
  return a?.command === b?.command && JSON.stringify(a?.more) === JSON.stringify(b?.more);
}

const minute = 60_000;

/**
 * The rows of one view over all sessions. Rows of a session that did not change are the same objects as before, for
 * the minute in which their clock times stay right.
 */
export class RowForest {
  readonly #build: (session: Session, now: number, alone: boolean) => readonly Row[];
  #parts = new Map<string, { session: Session; minute: number; alone: boolean; rows: readonly Row[] }>();
  #rows: readonly Row[] = [];

  /** @param build the rows of one session; `alone`: it is the only one, so that its name need not be said. */
  constructor(build: (session: Session, now: number, alone: boolean) => readonly Row[]) {
    this.#build = build;
  }

  get rows(): readonly Row[] {
    return this.#rows;
  }

  /** Takes the sessions as they are now and tells what must be drawn anew. */
  update(sessions: ReadonlyMap<string, Session>, now: number): RowChanges {
    const alone = sessions.size < 2;
    const time = Math.floor(now / minute);
    const parts = [...sessions].map(([id, session]) => {
      const old = this.#parts.get(id);
      if (old?.session === session && old.minute === time && old.alone === alone) return [id, old] as const;
      return [id, { session, minute: time, alone, rows: this.#build(session, now, alone) }] as const;
    });
    this.#parts = new Map(parts);
    const before = this.#rows;
    this.#rows = parts.flatMap(([, part]) => part.rows);
    return changedRows(before, this.#rows);
  }
}

/** All rows of a forest with their descendants, by id. */
export function rowsById(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const all = new Map<string, Row>();
  const pending = [...rows];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    all.set(next.id, next);
    pending.push(...next.children);
  }
  return all;
}
