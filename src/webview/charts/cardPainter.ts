import type { ChartCard } from "./chartCard";

/** Of each frame so much may go into drawing, ms; what is left waits for the next, so that the page never stands still. */
const budgetMs = 12;

/** Draws cards that have changed, and only while they are in sight. */
export class CardPainter {
  readonly #observer: IntersectionObserver;
  readonly #stale = new Set<ChartCard>();
  readonly #seen = new Set<ChartCard>();
  #cards: readonly ChartCard[] = [];
  #drawing = false;
  /** Whether charts out of sight are minded, too. */
  all = false;

  /** @param onSight charts came into sight or left it */
  constructor(onSight: () => void) {
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) this.#sight(target, isIntersecting);
        onSight();
      },
      // Those just beyond the edge are ready when they are scrolled to.
      { rootMargin: "120px" },
    );
  }

  get inSight(): readonly ChartCard[] {
    return this.all ? this.#cards : this.#cards.filter((card) => this.#seen.has(card));
  }

  watch(cards: readonly ChartCard[]): void {
    this.#observer.disconnect();
    this.#stale.clear();
    this.#seen.clear();
    this.#cards = cards;
    for (const { root } of cards) this.#observer.observe(root);
  }

  /** They are drawn in the frames that follow. */
  soon(cards: readonly ChartCard[]): void {
    for (const card of cards) this.#stale.add(card);
    if (this.#drawing || this.#stale.size === 0) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#draw();
    });
  }

  /** All are drawn at once. */
  now(): void {
    for (const card of this.#cards) card.draw();
    this.#stale.clear();
  }

  /** The cursor has moved. */
  readOff(): void {
    for (const card of this.#cards) if (this.#seen.has(card)) card.readOff();
  }

  #draw(): void {
    this.#drawing = false;
    const began = performance.now();
    for (const card of this.#stale) {
      if (!this.#seen.has(card)) continue;
      this.#stale.delete(card);
      card.draw();
      if (performance.now() - began > budgetMs) break;
    }
    if ([...this.#stale].some((card) => this.#seen.has(card))) this.soon([]);
  }

  #sight(target: Element, inSight: boolean): void {
    const card = this.#cards.find(({ root }) => root === target);
    if (!card) return;
    if (!inSight) this.#seen.delete(card);
    else {
      this.#seen.add(card);
      this.soon([card]);
    }
  }
}
