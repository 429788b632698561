import type { LineSamples, ToPage } from "../../protocol/webview";
import { ChartCard, type Shared } from "./chartCard";
import { element } from "./elements";
import { onThemeChange, readTheme } from "./theme";
import { momentLabel } from "./timeAxis";

type Snapshot = Extract<ToPage, { type: "snapshot" }>;
type Delta = Extract<ToPage, { type: "delta" }>;

/** How often a screen reader may be told that the charts go on. */
const announceMs = 60_000;

/** All charts of the page: a toolbar, and a grid of cards that are drawn one a frame, and only while in sight. */
export class ChartPage {
  readonly #title = element("h1", "");
  readonly #tableButton = element("button", "toggle", "Data table");
  readonly #empty = element("p", "empty");
  readonly #grid = element("div", "grid");
  readonly #live = element("div", "live");
  readonly #shared: Shared = { theme: readTheme(), span: { from: 0, to: 0 }, marks: [] };
  readonly #stale = new Set<ChartCard>();
  readonly #inSight = new Set<ChartCard>();
  readonly #observer: IntersectionObserver;
  #cards: readonly ChartCard[] = [];
  #asTable = false;
  #drawing = false;
  #announcedAt = 0;

  constructor(root: HTMLElement) {
    const bar = element("header", "bar");
    this.#tableButton.type = "button";
    this.#tableButton.title = "Show the numbers in place of the pictures";
    this.#tableButton.setAttribute("aria-pressed", "false");
    this.#tableButton.addEventListener("click", () => {
      this.#toggleTable();
    });
    this.#live.setAttribute("aria-live", "polite");
    bar.append(this.#title, this.#tableButton);
    root.append(bar, this.#empty, this.#grid, this.#live);
    this.#observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.#sight(target, isIntersecting);
    });
    onThemeChange(() => {
      this.#shared.theme = readTheme();
      this.#drawSoon(this.#cards);
    });
  }

  show(snapshot: Snapshot): void {
    for (const card of this.#cards) card.dispose();
    this.#observer.disconnect();
    this.#inSight.clear();
    this.#stale.clear();
    this.#title.textContent = snapshot.title;
    this.#empty.textContent = snapshot.empty ?? "";
    this.#empty.hidden = snapshot.empty === undefined;
    this.#tableButton.hidden = snapshot.charts.length === 0;
    this.#cards = snapshot.charts.map((info) => new ChartCard(info, this.#shared));
    this.#grid.replaceChildren(...this.#cards.map((card) => card.root));
    for (const card of this.#cards) {
      card.showTable(this.#asTable);
      this.#observer.observe(card.root);
    }
    this.add(snapshot);
  }

  add({ samples, marks }: Pick<Delta, "samples" | "marks">): void {
    this.#shared.marks = marks;
    for (const line of samples) this.#append(line);
    this.#spanAll();
    this.#drawSoon(this.#cards);
    this.#announce();
  }

  #append(line: LineSamples): void {
    this.#cards.find((card) => card.has(line.key))?.append(line);
  }

  #spanAll(): void {
    const spans = this.#cards.flatMap((card) => card.span ?? []);
    if (spans.length === 0) return;
    const from = Math.min(...spans.map((span) => span.from));
    this.#shared.span = { from, to: Math.max(...spans.map((span) => span.to)) };
  }

  #toggleTable(): void {
    this.#asTable = !this.#asTable;
    this.#tableButton.setAttribute("aria-pressed", String(this.#asTable));
    for (const card of this.#cards) card.showTable(this.#asTable);
    if (!this.#asTable) this.#drawSoon(this.#cards);
  }

  #sight(target: Element, inSight: boolean): void {
    const card = this.#cards.find(({ root }) => root === target);
    if (!card) return;
    if (!inSight) this.#inSight.delete(card);
    else {
      this.#inSight.add(card);
      this.#drawSoon([]);
    }
  }

  #drawSoon(cards: readonly ChartCard[]): void {
    for (const card of cards) this.#stale.add(card);
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawNext();
    });
  }

  /** One chart a frame, so that the page never stands still. Those out of sight wait until they are seen. */
  #drawNext(): void {
    this.#drawing = false;
    const next = [...this.#stale].find((card) => this.#inSight.has(card));
    if (!next) return;
    this.#stale.delete(next);
    next.draw();
    this.#drawSoon([]);
  }

  #announce(): void {
    const now = Date.now();
    if (now - this.#announcedAt < announceMs || this.#cards.length === 0) return;
    this.#announcedAt = now;
    this.#live.textContent = `${this.#cards.length} charts, up to ${momentLabel(this.#shared.span.to)}`;
  }
}
