import type { Disposable } from "../../core/lifecycle";
import type { Clock } from "../../core/ports";
import { chartCsv } from "../../core/session/chartCsv";
import { ChartFeed, type FedLine } from "../../core/session/chartFeed";
import type { KeptCharts } from "../../core/session/chartOwners";
import { chartPlan, type ChartPlan } from "../../core/session/chartPlan";
import { LengthCharts, type LengthChart } from "../../core/session/chartTokens";
import { chartSpans, chartStanding } from "../../core/session/chartView";
import type { Session } from "../../core/session/model";
import type { TreeNode } from "../../core/session/nodes";
import type { SessionReader } from "../../core/session/store";
import {
  firstLook,
  isFromPage,
  type ChartFrame,
  type ChartLook,
  type FromPage,
  type PackedSamples,
  type ToPage,
} from "../../protocol/webview";

/** What a page of charts needs. */
export interface SurfaceDeps {
  readonly sessions: SessionReader;
  readonly clock: Clock;
  /** What an earlier window kept of a session. */
  readonly keptOf: (session: string) => KeptCharts;
  /** Asks where to, and writes the file there. */
  readonly save: (name: string, kind: "png" | "csv", bytes: Uint8Array) => Promise<void>;
}

/** VS Code's end of a page, as much of it as charts use. */
export interface PageEnd {
  readonly postMessage: (message: unknown) => PromiseLike<boolean>;
  readonly onDidReceiveMessage: (listener: (message: unknown) => void) => Disposable;
}

/** The page is sent what is new at most once a second. */
const paceMs = 1000;
const noCharts: ChartPlan = { title: "Charts", charts: [], marks: [], owners: [] };
const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A page of charts, wherever it stands: it is told all when it asks, and then what is new while somebody looks. */
export class ChartSurface implements Disposable {
  readonly #webview: PageEnd;
  readonly #deps: SurfaceDeps;
  readonly #onTitle: (title: string) => void;
  readonly #feed = new ChartFeed();
  readonly #closing = new AbortController();
  readonly #parts: Disposable;
  #target: TreeNode | undefined;
  /** What the page shows; or, before it has told, what it is to show. */
  #look: ChartLook | undefined;
  #sight: ReadonlySet<string> = new Set();
  #columns = 400;
  #plan = noCharts;
  #listens = false;
  #pausing = false;
  #drawn: Session | undefined;
  readonly #measured = new LengthCharts();
  #lengths: readonly LengthChart[] = [];
  #said = "";

  constructor(
    webview: PageEnd,
    deps: SurfaceDeps,
    { target, look }: { readonly target?: TreeNode | undefined; readonly look?: ChartLook | undefined },
    onTitle: (title: string) => void,
  ) {
    this.#webview = webview;
    this.#deps = deps;
    this.#target = target;
    this.#look = look;
    this.#onTitle = onTitle;
    this.#parts = webview.onDidReceiveMessage((message) => {
      if (isFromPage(message)) this.#take(message);
    });
  }

  get target(): TreeNode | undefined {
    return this.#target;
  }

  get look(): ChartLook | undefined {
    return this.#look;
  }

  /** Shows something else in the same place. */
  show(target: TreeNode | undefined, look: ChartLook | undefined): void {
    this.#target = target;
    this.#look = look ?? this.#look;
    if (this.#listens) this.#snapshot();
  }

  /** The page is gone; when it is shown again it says `ready`. */
  hide(): void {
    this.#listens = false;
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
    // Rejected only when the page is closed: then nothing is left to send.
    this.#deps.clock.sleep(paceMs, this.#closing.signal).then(goOn, () => undefined);
  }

  /** Something that an earlier window kept has been read. */
  refresh(): void {
    if (this.#listens && !this.#feed.fits(this.#planned())) this.#snapshot();
  }

  #take(message: FromPage): void {
    switch (message.type) {
      case "ready":
        this.#look ??= message.look;
        this.#listens = true;
        this.#snapshot();
        break;
      case "look":
        this.#show(message);
        break;
      case "save-csv":
        void this.#saveCsv();
        break;
      case "save-png":
        if (pngSignature.every((byte, index) => message.png[index] === byte)) {
          void this.#deps.save(this.#fileName(), "png", message.png);
        }
        break;
    }
  }

  #show({ look, columns, sight, anew, serial }: Extract<FromPage, { type: "look" }>): void {
    const picked = JSON.stringify(look.hidden) !== JSON.stringify(this.#look?.hidden ?? []);
    this.#look = look;
    this.#columns = Math.min(10_000, Math.max(16, columns));
    this.#sight = new Set(sight);
    if (picked) {
      this.#snapshot();
      return;
    }
    const frame = this.#frame();
    const window = { ...frame.span, columns: this.#columns };
    this.#post({ type: "samples", serial, samples: packed(this.#feed.window(this.#sight, window, !anew)), frame });
  }

  #send(): void {
    const plan = this.#planned();
    if (!this.#feed.fits(plan) || !this.#measure(plan)) {
      this.#snapshot();
      return;
    }
    this.#plan = plan;
    this.#drawn = this.#session();
    const frame = this.#frame();
    if (this.#look?.range.kind === "fixed") {
      // The picture stands still; only what is said around it may have changed.
      const said = JSON.stringify([frame.marks, frame.standing]);
      if (said !== this.#said) this.#post({ type: "delta", samples: packed([]), frame });
      this.#said = said;
      return;
    }
    this.#post({ type: "delta", samples: packed(this.#feed.more({ ...frame.span, columns: this.#columns })), frame });
  }

  #snapshot(): void {
    const session = this.#session();
    const plan = this.#planned();
    this.#plan = plan;
    this.#drawn = session;
    this.#lengths = this.#lengthsOf(plan);
    this.#feed.begin(plan);
    this.#onTitle(plan.title);
    const empty = plan.charts.length + this.#lengths.length > 0 ? undefined : whyEmpty(session, plan);
    this.#post({
      type: "snapshot",
      title: plan.title,
      target: this.#target ?? null,
      look: this.#look ?? firstLook,
      ...(empty !== undefined && { empty }),
      charts: plan.charts.map(({ lines, ...chart }) => ({
        ...chart,
        lines: lines.map(({ key, label, look, color }) => ({ key, label, look, color })),
      })),
      lengths: this.#lengths,
      sources: plan.owners.map(({ key, label, group }) => ({ key, label, group })),
      frame: this.#frame(),
    });
  }

  async #saveCsv(): Promise<void> {
    const off = new Set(this.#look?.off);
    const charts = new Map(this.#plan.charts.map((chart) => [chart.id, chart]));
    const lines = this.#feed.whole().flatMap(({ line, chart: id, series }) => {
      const chart = charts.get(id);
      return chart && !off.has(line.key) ? { chart, line, series } : [];
    });
    const text = chartCsv(lines, this.#frame().span, this.#lengths);
    await this.#deps.save(this.#fileName(), "csv", new TextEncoder().encode(text));
  }

  #fileName(): string {
    const day = new Date(this.#deps.clock.now()).toISOString().slice(0, 16).replace(":", "");
    return `charts ${this.#plan.title} ${day}`;
  }

  #frame(): ChartFrame {
    const { owners, marks } = this.#plan;
    const session = this.#session();
    const now = this.#deps.clock.now();
    if (!session) return { span: { from: now - 60_000, to: now }, extent: { from: now, to: now }, standing: "", marks };
    const spans = chartSpans(session, owners, this.#look?.range ?? firstLook.range, now);
    return { ...spans, standing: owners.length === 0 ? "" : chartStanding(session, owners, now), marks };
  }

  #session(): Session | undefined {
    const { sessions } = this.#deps.sessions;
    return this.#target ? sessions.get(this.#target.session) : [...sessions.values()][0];
  }

  #lengthsOf({ owners }: ChartPlan): readonly LengthChart[] {
    const hidden = new Set(this.#look?.hidden);
    return this.#measured.of(
      owners.filter(({ key }) => !hidden.has(key)),
      this.#deps.clock.now(),
    );
  }

  /** Tells the page what histograms have become; false where it has others. */
  #measure(plan: ChartPlan): boolean {
    const [before, lengths] = [this.#lengths, this.#lengthsOf(plan)];
    if (lengths.length !== before.length || lengths.some(({ id }, index) => id !== before[index]?.id)) return false;
    if (lengths.some((one, index) => one !== before[index])) this.#post({ type: "lengths", lengths });
    this.#lengths = lengths;
    return true;
  }

  #planned(): ChartPlan {
    const session = this.#session();
    if (!session) return noCharts;
    const target = this.#target ?? { kind: "session", session: session.id };
    return chartPlan(session, target, this.#deps.keptOf(session.id), new Set(this.#look?.hidden));
  }

  #post(message: ToPage): void {
    // False when the page is gone meanwhile: it will ask again.
    void this.#webview.postMessage(message);
  }

  dispose(): void {
    this.#listens = false;
    this.#closing.abort();
    this.#parts.dispose();
  }
}

/** One array for all lines: a message costs by the number of its arrays. */
function packed(lines: readonly FedLine[]): PackedSamples {
  const length = lines.reduce((sum, { times }) => sum + times.length, 0);
  const [times, values] = [new Float64Array(length), new Float32Array(length)];
  let at = 0;
  for (const line of lines) {
    times.set(line.times, at);
    values.set(line.values, at);
    at += line.times.length;
  }
  return { lines: lines.map(({ key, times: { length: count } }) => ({ key, count })), times, values };
}

function whyEmpty(session: Session | undefined, plan: ChartPlan): string {
  if (!session) return "No session is open. Open a session file, or watch a remote log.";
  if (plan.owners.length > 0) return "Nothing is picked. Choose under Sources what to draw.";
  const connected = [...session.hosts.values()].some(({ connection }) => connection.kind === "connected");
  return connected
    ? "Nothing to draw yet. Charts appear as soon as a log tells progress, or a GPU gives numbers."
    : "Not connected, and nothing was seen before. Connect to a host to see its charts.";
}
