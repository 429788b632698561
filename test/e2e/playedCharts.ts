import type { KeptCharts } from "../../src/core/session/chartOwners";
import type { Session } from "../../src/core/session/model";
import { Emitter } from "../../src/core/lifecycle";
import { ChartSurface } from "../../src/views/charts/chartSurface";
import { PlayedWebview, type PlayedTheme } from "./webviewPage";

interface Played {
  readonly theme?: PlayedTheme;
  readonly size?: { readonly width: number; readonly height: number };
  readonly session?: Session;
  /** The product's clock. */
  readonly now: number;
  readonly kept?: KeptCharts;
  /** The state that the page kept when it was there before. */
  readonly state?: unknown;
}

/** A file that the page asked to have saved. */
interface SavedFile {
  readonly name: string;
  readonly kind: string;
  readonly bytes: Uint8Array;
}

/** The charts page in a plain browser with the extension's own side of it; only VS Code between the two is played. */
export class PlayedCharts {
  readonly saved: SavedFile[] = [];
  readonly view: PlayedWebview;
  readonly surface: ChartSurface;
  readonly #changes: Emitter<undefined>;
  readonly #sessions: Map<string, Session>;
  #now: number;

  private constructor(view: PlayedWebview, { session, now, kept = new Map() }: Played) {
    this.view = view;
    this.#now = now;
    this.#changes = new Emitter();
    this.#sessions = new Map(session ? [[session.id, session]] : []);
    this.surface = new ChartSurface(
      view.webview,
      {
        sessions: {
          sessions: this.#sessions,
          onDidChange: (listener) =>
            this.#changes.event(() => {
              listener();
            }),
        },
        clock: { now: () => this.#now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms / 20)) },
        keptOf: () => kept,
        save: (name, kind, bytes) => {
          this.saved.push({ name, kind, bytes });
          return Promise.resolve();
        },
      },
      {},
      () => undefined,
    );
  }

  static async open(played: Played): Promise<PlayedCharts> {
    const view = await PlayedWebview.open(played.theme ?? "dark", played.size, played.state);
    return new PlayedCharts(view, played);
  }

  /** The picture of the session changes. */
  change(session: Session, now: number): void {
    this.#sessions.set(session.id, session);
    this.#now = now;
    this.surface.update();
  }

  /** Until all charts in sight are drawn as they are to stay. */
  async drawn(): Promise<void> {
    const drawn = this.view.page.locator(".plot[aria-valuetext], .table table, p.empty");
    await drawn.filter({ visible: true }).first().waitFor();
    await this.frames(12);
  }

  async frames(count: number): Promise<void> {
    await this.view.page.evaluate(`new Promise((done) => {
      let left = ${count};
      const next = () => (left-- === 0 ? done() : requestAnimationFrame(next));
      next();
    })`);
  }

  async screenshot(name: string): Promise<void> {
    await this.view.page.screenshot({ path: `out/screens/charts-${name}.png` });
  }

  async close(): Promise<void> {
    this.surface.dispose();
    await this.view.close();
  }
}
