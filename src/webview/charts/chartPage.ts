import {
  firstLook,
  type ChartFrame,
  type ChartLook,
  type ChartRange,
  type FromPage,
  type PackedSamples,
  type Span,
  type ToPage,
} from "../../protocol/webview";
import { ChartCard, type Shared } from "./chartCard";
import { CardPainter } from "./cardPainter";
import { element } from "./elements";
import { LengthCard } from "./lengthCard";
import { chartsImage } from "./exportImage";
import type { TimeActions } from "./plotGestures";
import { SourcePicker } from "./sourcePicker";
import { onThemeChange, readTheme } from "./theme";
import { momentLabel } from "./timeAxis";
import { Toolbar } from "./toolbar";
import { Zoom } from "./zoom";

type Message<T extends ToPage["type"]> = Extract<ToPage, { type: T }>;

/** How often a screen reader may be told that the charts go on. */
const announceMs = 60_000;
const hint =
  "Drag to zoom in, Shift-drag to move, Ctrl-wheel to zoom, double-click for all. " +
  "Keys on a chart: ← → read, Shift ← → move, + −, Home for all, End to follow.";

/** All charts of the page over one axis of time. */
export class ChartPage {
  readonly #post: (message: FromPage) => void;
  readonly #keep: (look: ChartLook) => void;
  readonly #toolbar: Toolbar;
  readonly #picker: SourcePicker;
  readonly #empty = element("p", "empty");
  readonly #grid = element("div", "grid");
  readonly #hint = element("p", "hint", hint);
  readonly #live = element("div", "spoken");
  readonly #painter: CardPainter;
  readonly #shared: Shared;
  readonly #zoom = new Zoom();
  #cards: readonly ChartCard[] = [];
  #lengths: readonly LengthCard[] = [];
  /** Both, in their order on the page. */
  #all: readonly (ChartCard | LengthCard)[] = [];
  #look = firstLook;
  #title = "";
  #standing = "";
  #serial = 0;
  /** What was asked for last has not come yet, and what is to be asked for then. */
  #waiting = false;
  #next: "anew" | "more" | undefined;
  /** Nothing was asked for since the charts came: an answer that was under way then may be lost with the ones before. */
  #fresh = true;
  #whenAllDrawn: (() => void) | undefined;
  #announcedAt = 0;

  constructor(root: HTMLElement, post: (message: FromPage) => void, keep: (look: ChartLook) => void) {
    this.#post = post;
    this.#keep = keep;
    this.#shared = {
      theme: readTheme(),
      span: { from: 0, to: 1 },
      marks: [],
      cursor: undefined,
      off: new Set(),
      log: new Set(),
      actions: this.#actions(),
      onLook: () => {
        this.#change({ off: [...this.#shared.off], log: [...this.#shared.log] });
      },
    };
    this.#picker = new SourcePicker((hidden) => {
      this.#change({ hidden });
      this.#ask("anew");
    });
    this.#toolbar = new Toolbar(
      {
        range: (range) => {
          this.#show(range);
        },
        follow: (follow) => {
          this.#show(follow ? this.#zoom.following() : { kind: "fixed", ...this.#shared.span });
        },
        zoom: (factor) => {
          this.#shared.actions.zoom(factor, undefined);
        },
        table: () => {
          this.#toggleTable();
        },
        png: () => {
          this.#savePng();
        },
        csv: () => {
          post({ type: "save-csv" });
        },
      },
      this.#picker.button,
    );
    this.#live.setAttribute("aria-live", "polite");
    const charts = element("div", "charts");
    charts.append(this.#empty, this.#grid, this.#hint);
    root.append(this.#toolbar.root, this.#picker.panel, charts, this.#live);
    this.#painter = new CardPainter(() => {
      this.#ask("more");
    });
    onThemeChange(() => {
      this.#shared.theme = readTheme();
      this.#painter.soon(this.#all);
    });
  }

  /** Other charts, or others of them. */
  show(snapshot: Message<"snapshot">): void {
    for (const card of this.#all) card.dispose();
    this.#title = snapshot.title;
    this.#look = snapshot.look;
    replace(this.#shared.off, snapshot.look.off);
    replace(this.#shared.log, snapshot.look.log);
    this.#empty.textContent = snapshot.empty ?? "";
    this.#empty.hidden = snapshot.empty === undefined;
    this.#hint.hidden = snapshot.charts.length === 0;
    const anything = snapshot.sources.length > 0;
    this.#toolbar.show(snapshot.title, { anything, times: snapshot.charts.length > 0 });
    this.#picker.show(snapshot.sources, snapshot.look.hidden);
    this.#cards = snapshot.charts.map((info) => new ChartCard(info, this.#shared));
    if (this.#cards[0]) this.#cards[0].tellsMarks = true;
    this.#lengths = snapshot.lengths.map((one) => new LengthCard(one, this.#shared));
    // Beside the mean length of each interval.
    const speeds = this.#cards.filter(({ info }) => /^(throughput|tokens)\b/.test(info.id));
    this.#all = [...speeds, ...this.#lengths, ...this.#cards.slice(speeds.length)];
    this.#grid.replaceChildren(...this.#all.map((card) => card.root));
    for (const card of this.#all) card.showTable(this.#look.table);
    this.#frame(snapshot.frame);
    this.#waiting = false;
    this.#next = undefined;
    this.#fresh = true;
    // Once it is told which of them are in sight, their samples are asked for.
    this.#painter.watch(this.#all);
  }

  /** The samples that were asked for. */
  fill({ serial, samples, frame }: Message<"samples">): void {
    if (serial !== this.#serial) return;
    this.#waiting = false;
    // A person has gone on meanwhile: the span of the answer is old.
    if (this.#next === undefined) this.#frame(frame);
    this.#take(samples, true);
    const next = this.#next;
    this.#next = undefined;
    if (next) this.#ask(next);
    this.#whenAllDrawn?.();
  }

  /** More answers were counted. */
  measure({ lengths }: Message<"lengths">): void {
    for (const [index, one] of lengths.entries()) {
      const card = this.#lengths[index];
      if (card) card.lengths = one;
    }
    this.#painter.soon(this.#lengths);
  }

  /** What is new. */
  add({ samples, frame }: Message<"delta">): void {
    const marked = frame.marks.length !== this.#shared.marks.length;
    const moved = JSON.stringify(frame.span) !== JSON.stringify(this.#shared.span);
    this.#frame(frame);
    const cards = this.#take(samples, false);
    if (marked || moved) this.#painter.soon(this.#cards);
    else this.#painter.soon(cards);
    const { from } = frame.span;
    for (const line of samples.lines) this.#lineOf(line.key)?.dropBefore(from);
    // As new samples come unthinned, the picture is made anew before they are too many.
    const crowded = samples.lines.some(({ key }) => (this.#lineOf(key)?.times.length ?? 0) > 6 * this.#columns());
    if (crowded) this.#ask("anew");
    this.#announce();
  }

  #take({ lines, times, values }: PackedSamples, anew: boolean): readonly ChartCard[] {
    const changed = new Set<ChartCard>();
    let at = 0;
    for (const { key, count } of lines) {
      const card = this.#cards.find((one) => one.data(key) !== undefined);
      const data = card?.data(key);
      if (anew) data?.clear();
      data?.append(times.subarray(at, at + count), values.subarray(at, at + count));
      if (card) {
        changed.add(card);
        card.filled = true;
      }
      at += count;
    }
    this.#painter.soon([...changed]);
    return [...changed];
  }

  #lineOf(key: string): ReturnType<ChartCard["data"]> {
    return this.#cards.map((card) => card.data(key)).find((data) => data !== undefined);
  }

  #frame({ span, extent, standing, marks }: ChartFrame): void {
    this.#shared.span = span;
    this.#shared.marks = marks;
    this.#standing = standing;
    this.#zoom.set(span, extent);
    this.#toolbar.state(this.#look.range, this.#look.table, standing);
  }

  #change(look: Partial<ChartLook>): void {
    this.#look = { ...this.#look, ...look };
    this.#keep(this.#look);
    this.#toolbar.state(this.#look.range, this.#look.table, this.#standing);
  }

  /** Shows another span at once with what is there, and asks for its own samples. */
  #show(range: ChartRange): void {
    this.#change({ range });
    this.#shared.span = this.#zoom.spanOf(range);
    this.#painter.soon(this.#cards);
    this.#ask("anew");
  }

  #ask(what: "anew" | "more"): void {
    if (this.#cards.length === 0 && what === "more") return;
    if (this.#waiting) {
      this.#next = this.#next === "anew" ? "anew" : what;
      return;
    }
    this.#waiting = true;
    this.#serial++;
    this.#post({
      type: "look",
      serial: this.#serial,
      look: this.#look,
      columns: this.#columns(),
      sight: this.#painter.inSight.map(({ info }) => info.id),
      anew: what === "anew" || this.#fresh,
    });
    this.#fresh = false;
  }

  #columns(): number {
    return Math.max(100, ...this.#cards.map(({ columns }) => columns));
  }

  #actions(): TimeActions {
    const fixed = (span: Span): void => {
      this.#show({ kind: "fixed", ...span });
    };
    const point = (at: number | undefined): void => {
      this.#shared.cursor = at;
      this.#painter.readOff();
    };
    return {
      point,
      show: fixed,
      zoom: (factor, around) => {
        this.#show(this.#zoom.zoomed(factor, around ?? this.#shared.cursor, this.#look.range));
      },
      pan: (share) => {
        fixed(this.#zoom.panned(share));
      },
      step: (share) => {
        point(this.#zoom.stepped(this.#shared.cursor, share));
      },
      all: () => {
        this.#show({ kind: "all" });
      },
      follow: () => {
        this.#show(this.#zoom.following());
      },
    };
  }

  #toggleTable(): void {
    this.#change({ table: !this.#look.table });
    for (const card of this.#all) card.showTable(this.#look.table);
    this.#painter.soon(this.#all);
  }

  /** A picture holds all charts, also those out of sight: they are fetched and drawn first. */
  #savePng(): void {
    this.#painter.all = true;
    this.#whenAllDrawn = () => {
      this.#whenAllDrawn = undefined;
      for (const card of this.#all) card.showTable(false);
      this.#painter.now();
      void chartsImage(this.#heading, this.#all, this.#shared.theme).then((png) => {
        this.#painter.all = false;
        for (const card of this.#all) card.showTable(this.#look.table);
        if (png) this.#post({ type: "save-png", png });
      });
    };
    this.#ask("anew");
  }

  /** Title and span of a picture; what is of no time has none. */
  get #heading(): string {
    const { from, to } = this.#shared.span;
    return this.#cards.length === 0 ? this.#title : `${this.#title} · ${momentLabel(from)} – ${momentLabel(to)}`;
  }

  #announce(): void {
    const now = Date.now();
    if (now - this.#announcedAt < announceMs || this.#cards.length === 0) return;
    this.#announcedAt = now;
    this.#live.textContent = `${this.#cards.length} charts, up to ${momentLabel(this.#shared.span.to)}`;
  }
}

function replace(set: Set<string>, values: readonly string[]): void {
  set.clear();
  for (const value of values) set.add(value);
}
