import * as vscode from "vscode";
import { combine, type Disposable } from "../core/lifecycle";
import type { Clock } from "../core/ports";
import { ChartFeed } from "../core/session/chartFeed";
import { chartPlan, type ChartPlan } from "../core/session/chartPlan";
import type { Session } from "../core/session/model";
import type { TreeNode } from "../core/session/nodes";
import type { SessionReader } from "../core/session/store";
import { isFromPage, type ToPage } from "../protocol/webview";

/** What the charts need. */
interface ChartsDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  /** The extension's own folder: the page's script and style lie in it. */
  readonly extensionUri: vscode.Uri;
}

/** Opens charts. */
interface ChartsView extends Disposable {
  /** For a row of a view; without one, for the first session. One panel for each row. */
  open(target?: TreeNode): void;
}

const viewType = "mlSession.charts";
/** More samples than this no chart is wide enough for. */
const samplesPerLine = 1800;
/** The page is sent what is new at most once a second. */
const paceMs = 1000;

/** Panels with charts; they are restored after a restart of the editor. */
export function registerCharts(deps: ChartsDeps): ChartsView {
  const panels = new Map<string, ChartPanel>();
  const adopt = (panel: vscode.WebviewPanel, target: TreeNode | undefined): void => {
    const key = JSON.stringify(target ?? null);
    const charts = new ChartPanel(panel, deps, target);
    panels.set(key, charts);
    panel.onDidDispose(() => {
      charts.dispose();
      if (panels.get(key) === charts) panels.delete(key);
    });
  };
  const parts = combine(
    vscode.window.registerWebviewPanelSerializer(viewType, {
      deserializeWebviewPanel: (panel, state: unknown) => {
        adopt(panel, savedTarget(state));
        return Promise.resolve();
      },
    }),
    deps.sessions.onDidChange(() => {
      for (const charts of panels.values()) charts.update();
    }),
  );
  return {
    open: (target) => {
      const open = panels.get(JSON.stringify(target ?? null));
      if (open) open.reveal();
      else adopt(vscode.window.createWebviewPanel(viewType, "Charts", vscode.ViewColumn.Active), target);
    },
    dispose: () => {
      parts.dispose();
      for (const charts of [...panels.values()]) charts.close();
    },
  };
}

class ChartPanel implements Disposable {
  readonly #panel: vscode.WebviewPanel;
  readonly #deps: ChartsDeps;
  readonly #target: TreeNode | undefined;
  readonly #feed = new ChartFeed(samplesPerLine);
  readonly #parts: Disposable;
  readonly #closing = new AbortController();
  #listens = false;
  #pausing = false;
  #drawn: Session | undefined;

  constructor(panel: vscode.WebviewPanel, deps: ChartsDeps, target: TreeNode | undefined) {
    this.#panel = panel;
    this.#deps = deps;
    this.#target = target;
    const { webview } = panel;
    const folders = ["dist", "media"].map((folder) => vscode.Uri.joinPath(deps.extensionUri, folder));
    webview.options = { enableScripts: true, localResourceRoots: folders };
    this.#parts = combine(
      webview.onDidReceiveMessage((message: unknown) => {
        if (isFromPage(message)) this.#begin();
      }),
      panel.onDidChangeViewState(() => {
        // A hidden page is thrown away; when it is shown again it says `ready` and gets a snapshot.
        if (!panel.visible) this.#listens = false;
      }),
    );
    webview.html = pageHtml(webview, deps.extensionUri);
  }

  reveal(): void {
    this.#panel.reveal();
  }

  close(): void {
    this.#panel.dispose();
  }

  /** Sends what is new, if somebody looks. */
  update(): void {
    if (!this.#listens || this.#pausing || this.#session() === this.#drawn) return;
    this.#send();
    this.#pausing = true;
    const goOn = (): void => {
      this.#pausing = false;
      this.update();
    };
    // Rejected only when the panel is closed: then nothing is left to send.
    this.#deps.clock.sleep(paceMs, this.#closing.signal).then(goOn, () => undefined);
  }

  #begin(): void {
    this.#listens = true;
    this.#snapshot(this.#session());
  }

  #send(): void {
    const session = this.#session();
    const plan = this.#plan(session);
    if (!session || !plan || !this.#feed.fits(plan)) {
      this.#snapshot(session);
      return;
    }
    this.#drawn = session;
    this.#post({ type: "delta", samples: this.#feed.more(), marks: plan.marks });
  }

  #snapshot(session: Session | undefined): void {
    const plan = this.#plan(session);
    const charts = plan?.charts ?? [];
    const title = plan?.title ?? "Charts";
    this.#drawn = session;
    this.#panel.title = session ? `Charts: ${title}` : title;
    const empty = whyEmpty(session, charts.length);
    this.#post({
      type: "snapshot",
      title,
      target: this.#target ?? null,
      ...(empty !== undefined && { empty }),
      charts: charts.map(({ lines, ...chart }) => ({
        ...chart,
        lines: lines.map(({ key, label }) => ({ key, label })),
      })),
      samples: this.#feed.whole(plan ?? { title, charts: [], marks: [] }),
      marks: plan?.marks ?? [],
    });
  }

  #session(): Session | undefined {
    const { sessions } = this.#deps.sessions;
    return this.#target ? sessions.get(this.#target.session) : [...sessions.values()][0];
  }

  #plan(session: Session | undefined): ChartPlan | undefined {
    return session && chartPlan(session, this.#target ?? { kind: "session", session: session.id });
  }

  #post(message: ToPage): void {
    // False when the page is gone meanwhile: it will ask again.
    void this.#panel.webview.postMessage(message);
  }

  dispose(): void {
    this.#closing.abort();
    this.#parts.dispose();
  }
}

function whyEmpty(session: Session | undefined, charts: number): string | undefined {
  if (charts > 0) return undefined;
  if (!session) return "No session is open. Open a session file, or watch a remote log.";
  const connected = [...session.hosts.values()].some(({ connection }) => connection.kind === "connected");
  return connected
    ? "Nothing to draw yet. Charts appear as soon as a log tells progress, or a GPU gives numbers."
    : "Not connected, and nothing was seen before. Connect to a host to see its charts.";
}

/** The target that a page kept; whatever else it kept is ignored. */
function savedTarget(state: unknown): TreeNode | undefined {
  if (typeof state !== "object" || state === null || !("target" in state)) return undefined;
  const { target } = state;
  return isTreeNode(target) ? target : undefined;
}

const namesOf: Readonly<Record<TreeNode["kind"], readonly string[]>> = {
  session: ["session"],
  host: ["session", "host"],
  stage: ["session", "stage"],
  service: ["session", "service"],
  gpu: ["session", "host", "index"],
};

function isTreeNode(value: unknown): value is TreeNode {
  if (typeof value !== "object" || value === null || !("kind" in value) || typeof value.kind !== "string") return false;
  const names = new Map(Object.entries(namesOf)).get(value.kind);
  const fields = new Map<string, unknown>(Object.entries(value));
  return names?.every((name) => typeof fields.get(name) === (name === "index" ? "number" : "string")) ?? false;
}

function pageHtml(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const script = webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, "dist", "webview.js")).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, "media", "charts.css")).toString();
  const nonce = newNonce();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="${style}">
    <title>Charts</title>
  </head>
  <body>
    <main id="page"></main>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>`;
}

function newNonce(): string {
  return [...globalThis.crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
