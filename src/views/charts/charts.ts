import * as vscode from "vscode";
import { combine, type Disposable } from "../../core/lifecycle";
import type { Clock, Logger } from "../../core/ports";
import type { TreeNode } from "../../core/session/nodes";
import type { SessionReader } from "../../core/session/store";
import type { ChartLook } from "../../protocol/webview";
import { ChartSurface, type SurfaceDeps } from "./chartSurface";
import { KeptFiles } from "./keptFiles";
import { pageHtml } from "./pageHtml";
import { saveFile } from "./saveFile";
import { savedTarget } from "./savedTarget";

/** What the charts need. */
interface ChartsDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The extension's own folder: the page's script and style lie in it. */
  readonly extensionUri: vscode.Uri;
  /** Where what was seen is kept for the next window; undefined without a workspace. */
  readonly storageUri: vscode.Uri | undefined;
  /** A session whose charts begin anew each time. */
  readonly notKept: string;
}

/** Opens charts. */
interface ChartsView extends Disposable {
  /** For a row of a view; without one, for the first session. One editor for each row. */
  open(target?: TreeNode): void;
  /** Keeps what was seen for the next window. */
  save(): Promise<void>;
}

const editorType = "mlSession.charts";
const viewId = "mlSession.chartsView";

/** Charts in editors and in a view that can be moved; both come back after a restart of the editor. */
export function registerCharts(deps: ChartsDeps): ChartsView {
  const kept = new KeptFiles(deps);
  const { sessions, clock } = deps;
  const places = new ChartPlaces(deps, { sessions, clock, keptOf: (id) => kept.of(id), save: saveFile });
  const parts = combine(
    kept,
    places,
    kept.onDidLoad(() => {
      for (const surface of places.surfaces) surface.refresh();
    }),
    deps.sessions.onDidChange(() => {
      for (const surface of places.surfaces) surface.update();
    }),
    vscode.window.registerWebviewPanelSerializer(editorType, {
      deserializeWebviewPanel: (panel, state: unknown) => {
        places.adopt(panel, savedTarget(state));
        return Promise.resolve();
      },
    }),
    vscode.window.registerWebviewViewProvider(viewId, {
      resolveWebviewView: (view, { state }: vscode.WebviewViewResolveContext) => {
        places.fill(view, savedTarget(state));
      },
    }),
    vscode.commands.registerCommand("mlSession.showChartsInView", (target?: TreeNode) => places.toView(target)),
    vscode.commands.registerCommand("mlSession.showChartsInEditor", () => {
      places.toEditor();
    }),
  );
  return {
    open: (target) => {
      places.open(target, undefined);
    },
    save: () => kept.save(),
    dispose: () => {
      parts.dispose();
    },
  };
}

interface Editor {
  readonly panel: vscode.WebviewPanel;
  readonly surface: ChartSurface;
}

/** Where charts stand: editors, one for each row, and the view. */
class ChartPlaces implements Disposable {
  readonly #deps: ChartsDeps;
  readonly #surfaceDeps: SurfaceDeps;
  readonly #editors = new Map<string, Editor>();
  #view: { readonly view: vscode.WebviewView; readonly surface: ChartSurface } | undefined;
  /** What the view is to show once it is there. */
  #handed: { readonly target: TreeNode | undefined; readonly look: ChartLook | undefined } | undefined;

  constructor(deps: ChartsDeps, surfaceDeps: SurfaceDeps) {
    this.#deps = deps;
    this.#surfaceDeps = surfaceDeps;
  }

  get surfaces(): readonly ChartSurface[] {
    return [...this.#editors.values(), ...(this.#view ? [this.#view] : [])].map(({ surface }) => surface);
  }

  open(target: TreeNode | undefined, look: ChartLook | undefined): void {
    const open = this.#editors.get(keyOf(target));
    if (!open) {
      this.adopt(vscode.window.createWebviewPanel(editorType, "Charts", vscode.ViewColumn.Active), target, look);
      return;
    }
    if (look) open.surface.show(target, look);
    open.panel.reveal();
  }

  /** Takes a panel, new or of an earlier window, for the charts of a row. */
  adopt(panel: vscode.WebviewPanel, target: TreeNode | undefined, look?: ChartLook): void {
    const key = keyOf(target);
    this.#prepare(panel.webview);
    const surface = new ChartSurface(panel.webview, this.#surfaceDeps, { target, look }, (title) => {
      panel.title = title === "Charts" ? title : `Charts: ${title}`;
    });
    panel.webview.html = pageHtml(panel.webview, this.#deps.extensionUri);
    this.#editors.set(key, { panel, surface });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) surface.hide();
    });
    panel.onDidDispose(() => {
      surface.dispose();
      if (this.#editors.get(key)?.panel === panel) this.#editors.delete(key);
    });
  }

  /** Fills the view, which VS Code makes when it is shown first. */
  fill(view: vscode.WebviewView, saved: TreeNode | undefined): void {
    const { target, look } = this.#handed ?? { target: saved, look: undefined };
    this.#handed = undefined;
    this.#prepare(view.webview);
    const surface = new ChartSurface(view.webview, this.#surfaceDeps, { target, look }, (title) => {
      view.description = title === "Charts" ? "" : title;
    });
    view.webview.html = pageHtml(view.webview, this.#deps.extensionUri);
    this.#view = { view, surface };
    view.onDidChangeVisibility(() => {
      if (!view.visible) surface.hide();
    });
    view.onDidDispose(() => {
      surface.dispose();
      if (this.#view?.view === view) this.#view = undefined;
    });
  }

  /** Shows charts in the view: of a row, or those of the editor that is in front, which it takes the place of. */
  async toView(target: TreeNode | undefined): Promise<void> {
    const front = target ? undefined : [...this.#editors.values()].find(({ panel }) => panel.active);
    const handed = front ? { target: front.surface.target, look: front.surface.look } : { target, look: undefined };
    if (this.#view) this.#view.surface.show(handed.target ?? this.#view.surface.target, handed.look);
    else if (front || target) this.#handed = handed;
    await vscode.commands.executeCommand(`${viewId}.focus`);
    front?.panel.dispose();
  }

  /** Shows the view's charts in an editor, as they are. */
  toEditor(): void {
    this.open(this.#view?.surface.target, this.#view?.surface.look);
  }

  #prepare(webview: vscode.Webview): void {
    const folders = ["dist", "media"].map((folder) => vscode.Uri.joinPath(this.#deps.extensionUri, folder));
    webview.options = { enableScripts: true, localResourceRoots: folders };
  }

  dispose(): void {
    // The editors themselves stay: VS Code brings them back where the extension starts anew.
    for (const surface of this.surfaces) surface.dispose();
  }
}

function keyOf(target: TreeNode | undefined): string {
  return JSON.stringify(target ?? null);
}
