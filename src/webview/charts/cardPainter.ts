/** What is painted: a chart over time, or one of lengths. */
interface Card {
  readonly root: HTMLElement;
  readonly plot: HTMLElement;
  readonly info: { readonly id: string };
  readonly filled: boolean;
  size: { readonly width: number; readonly height: number };
  draw(): void;
  describe(): void;
  readOff(): void;
}

/** Of each frame so much may go into drawing, ms; what is left waits for the next, so that the page never stands still. */
const budgetMs = 30;
/** What was drawn is described in words once nothing else is to be done, but at last after this, ms. */
const describeMs = 500;

/** Draws cards that have changed, and only while they are in sight. */
export class CardPainter {
  readonly #observer: IntersectionObserver;
  readonly #sizes: ResizeObserver;
  readonly #stale = new Set<Card>();
  readonly #seen = new Set<Card>();
  readonly #undescribed = new Set<Card>();
  #cards: readonly Card[] = [];
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
    this.#sizes = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const card = this.#cards.find(({ plot }) => plot === target);
        if (!card) continue;
        card.size = { width: Math.floor(contentRect.width), height: Math.floor(contentRect.height) };
        this.soon([card]);
      }
    });
  }

  get inSight(): readonly Card[] {
    return this.all ? this.#cards : this.#cards.filter((card) => this.#seen.has(card));
  }

  watch(cards: readonly Card[]): void {
    this.#observer.disconnect();
    this.#sizes.disconnect();
    this.#stale.clear();
    this.#seen.clear();
    this.#undescribed.clear();
    this.#cards = cards;
    for (const { root, plot } of cards) {
      this.#observer.observe(root);
      this.#sizes.observe(plot);
    }
  }

  /** They are drawn in the frames that follow, once their samples have come. */
  soon(cards: readonly Card[]): void {
    for (const card of cards) this.#stale.add(card);
    if (this.#drawing || !this.#next()) return;
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

  #next(): Card | undefined {
    for (const card of this.#stale) if (card.filled && this.#seen.has(card)) return card;
    return undefined;
  }

  #draw(): void {
    this.#drawing = false;
    const began = performance.now();
    for (let card = this.#next(); card; card = this.#next()) {
      this.#stale.delete(card);
      card.draw();
      this.#describe(card);
      if (performance.now() - began > budgetMs) break;
    }
    this.soon([]);
  }

  #describe(card: Card): void {
    if (this.#undescribed.size === 0) {
      const describe = (): void => {
        for (const one of this.#undescribed) one.describe();
        this.#undescribed.clear();
      };
      requestIdleCallback(describe, { timeout: describeMs });
    }
    this.#undescribed.add(card);
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
