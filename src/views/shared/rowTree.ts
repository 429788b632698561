import * as vscode from "vscode";
import { combine, toDisposable, type Disposable } from "../../core/lifecycle";
import type { Clock } from "../../core/ports";
import type { Session } from "../../core/session/model";
import type { TreeNode } from "../../core/session/nodes";
import { RowForest, rowsById, type Row } from "../../core/session/rows";
import type { SessionReader } from "../../core/session/store";
import { seldom } from "./seldom";

/** What a tree of rows is made from. */
interface RowTreeOptions {
  readonly viewId: string;
  readonly sessions: SessionReader;
  readonly clock: Clock;
  /** The rows of one session; `alone`: no other session is open. */
  readonly build: (session: Session, now: number, alone: boolean) => readonly Row[];
  /** The number on the view, if it carries one. */
  readonly badge?: (sessions: ReadonlyMap<string, Session>) => vscode.ViewBadge | undefined;
  /** Stands above the rows in Restricted Mode; without rows the welcome text says it. */
  readonly restricted?: string;
}

/** A tree view over rows: everything is answered from memory, and only rows that changed are drawn anew. */
export function registerRowTree(options: RowTreeOptions): Disposable {
  const { viewId, sessions, clock } = options;
  const provider = new RowTree(options);
  const view = vscode.window.createTreeView(viewId, { treeDataProvider: provider });
  let shown = 0;
  const ending = new AbortController();
  const draw = seldom(clock, ending.signal, () => {
    if (view.visible) provider.update(sessions.sessions, clock.now());
  });
  const update = (): void => {
    const badge = options.badge?.(sessions.sessions);
    // Setting a badge again makes VS Code announce it again.
    if (options.badge && (badge?.value ?? 0) !== shown) {
      shown = badge?.value ?? 0;
      view.badge = badge;
    }
    const restricted = !vscode.workspace.isTrusted && sessions.sessions.size > 0;
    if (options.restricted !== undefined) view.message = restricted ? options.restricted : "";
    // A hidden view is brought up to date when it is shown.
    if (view.visible) draw();
  };
  update();
  const end = toDisposable(() => {
    ending.abort();
  });
  return combine(
    end,
    provider,
    view,
    sessions.onDidChange(update),
    vscode.workspace.onDidGrantWorkspaceTrust(update),
    view.onDidChangeVisibility(({ visible }) => {
      if (visible) update();
    }),
  );
}

class RowTree implements vscode.TreeDataProvider<TreeNode>, Disposable {
  readonly #changes = new vscode.EventEmitter<TreeNode | TreeNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changes.event;
  readonly #forest: RowForest;
  readonly #options: RowTreeOptions;
  #rows: ReadonlyMap<string, Row> = new Map();
  // VS Code knows rows by object: each id keeps the node it was first shown with.
  readonly #nodes = new Map<string, TreeNode>();
  readonly #ids = new Map<TreeNode, string>();

  constructor(options: RowTreeOptions) {
    this.#options = options;
    this.#forest = new RowForest(options.build);
  }

  update(sessions: ReadonlyMap<string, Session>, now: number): void {
    const changes = this.#forest.update(sessions, now);
    if (changes !== "all" && changes.length === 0) return;
    this.#rows = rowsById(this.#forest.rows);
    this.#forgetGone();
    this.#changes.fire(changes === "all" ? undefined : changes.map((row) => this.#node(row)));
  }

  getChildren(element?: TreeNode): TreeNode[] {
    if (element === undefined && this.#rows.size === 0) {
      // Asked before the first change: VS Code may draw the view before it says that it is visible.
      this.#forest.update(this.#options.sessions.sessions, this.#options.clock.now());
      this.#rows = rowsById(this.#forest.rows);
    }
    const rows = element === undefined ? this.#forest.rows : (this.#row(element)?.children ?? []);
    return rows.map((row) => this.#node(row));
  }

  getTreeItem(element: TreeNode): vscode.TreeItem {
    const row = this.#row(element);
    return row ? treeItem(row, element) : new vscode.TreeItem("");
  }

  /** Asked when somebody points at a row. */
  resolveTreeItem(item: vscode.TreeItem, element: TreeNode): vscode.TreeItem {
    // Neither trusted nor HTML: names, paths and causes come from the host.
    item.tooltip = new vscode.MarkdownString(this.#row(element)?.tooltip ?? "");
    return item;
  }

  #row(element: TreeNode): Row | undefined {
    return this.#rows.get(this.#ids.get(element) ?? "");
  }

  #node(row: Row): TreeNode {
    const known = this.#nodes.get(row.id);
    if (known) return known;
    // A copy, since two rows (an alert and its stage) may stand for the same node.
    const node = { ...row.node };
    this.#nodes.set(row.id, node);
    this.#ids.set(node, row.id);
    return node;
  }

  #forgetGone(): void {
    for (const [id, node] of this.#nodes) {
      if (this.#rows.has(id)) continue;
      this.#nodes.delete(id);
      this.#ids.delete(node);
    }
  }

  dispose(): void {
    this.#changes.dispose();
  }
}

function treeItem(row: Row, node: TreeNode): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label, foldState(row));
  item.id = row.id;
  item.description = row.description;
  item.contextValue = row.contextValue;
  item.iconPath = new vscode.ThemeIcon(
    row.icon,
    row.color === undefined ? undefined : new vscode.ThemeColor(row.color),
  );
  item.accessibilityInformation = { label: row.spoken };
  if (row.click) {
    item.command = { command: row.click.command, title: row.click.title, arguments: [node, ...row.click.more] };
  }
  return item;
}

function foldState(row: Row): vscode.TreeItemCollapsibleState {
  if (row.children.length === 0) return vscode.TreeItemCollapsibleState.None;
  return row.collapsed === true ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded;
}
