// Stands for the module `vscode` in the window of the fleet: draws every row that a tree says has changed, and counts.
import { Emitter, type Disposable, type Event } from "../../src/core/lifecycle";

/** What the trees have asked of the editor. */
export const drawn = { updates: new Map<string, number>(), items: 0 };

interface Provider<T> {
  readonly onDidChangeTreeData: Event<T | readonly T[] | undefined>;
  getChildren(element?: T): readonly T[];
  getTreeItem(element: T): TreeItem;
}

export enum TreeItemCollapsibleState {
  None,
  Collapsed,
  Expanded,
}

export class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState = TreeItemCollapsibleState.None,
  ) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}

export class MarkdownString {
  constructor(readonly value: string) {}
}

export class EventEmitter<T> {
  readonly #emitter = new Emitter<T>();
  readonly event: Event<T> = this.#emitter.event;

  fire(value: T): void {
    this.#emitter.fire(value);
  }

  dispose(): void {
    this.#emitter.dispose();
  }
}

export enum StatusBarAlignment {
  Left = 1,
}

const nothing = (): void => undefined;
const never = (): Disposable => ({ dispose: nothing });

export const workspace = { isTrusted: true, onDidGrantWorkspaceTrust: never };

export const window = {
  /** Always in sight. Rows that can be unfolded are, as the product unfolds them. */
  createTreeView<T>(id: string, { treeDataProvider }: { readonly treeDataProvider: Provider<T> }) {
    const draw = (element: T): void => {
      drawn.items += 1;
      if (treeDataProvider.getTreeItem(element).collapsibleState === TreeItemCollapsibleState.Expanded)
        for (const child of treeDataProvider.getChildren(element)) draw(child);
    };
    const listening = treeDataProvider.onDidChangeTreeData((changed) => {
      drawn.updates.set(id, (drawn.updates.get(id) ?? 0) + 1);
      const rows = changed === undefined ? treeDataProvider.getChildren() : [changed].flat();
      for (const row of rows as readonly T[]) draw(row);
    });
    return { visible: true, onDidChangeVisibility: never, ...listening };
  },
  createStatusBarItem: () => ({ show: nothing, hide: nothing, dispose: nothing }),
};
