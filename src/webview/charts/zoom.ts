import type { ChartRange, Span } from "../../protocol/webview";

/** No less is shown than this, ms. */
const leastMs = 2000;

/** The arithmetic of a window on time. */
export class Zoom {
  #span: Span = { from: 0, to: 1 };
  #extent: Span = { from: 0, to: 1 };

  /** @param extent all that is known */
  set(span: Span, extent: Span): void {
    this.#span = span;
    this.#extent = extent;
  }

  /** The span that a range means. */
  spanOf(range: ChartRange): Span {
    const { to } = this.#extent;
    if (range.kind === "fixed") this.#span = { from: range.from, to: range.to };
    else this.#span = range.kind === "all" ? this.#extent : { from: to - range.ms, to };
    return this.#span;
  }

  /** Shows more or less around a moment. What follows goes on following unless its end leaves the picture. */
  zoomed(factor: number, around: number | undefined, range: ChartRange): ChartRange {
    const { from, to } = this.#span;
    const most = this.#extent.to - this.#extent.from;
    const length = Math.max(leastMs, (to - from) * factor);
    if (length >= most) return { kind: "all" };
    if (range.kind !== "fixed" && around === undefined) return { kind: "last", ms: length };
    const centre = around ?? (from + to) / 2;
    const share = (centre - from) / (to - from);
    return { kind: "fixed", ...this.#held({ from: centre - share * length, to: centre + (1 - share) * length }) };
  }

  panned(share: number): Span {
    const { from, to } = this.#span;
    const move = share * (to - from);
    return this.#held({ from: from + move, to: to + move });
  }

  /** The next moment to read off. */
  stepped(cursor: number | undefined, share: number): number {
    const { from, to } = this.#span;
    const at = (cursor ?? (share < 0 ? to : from)) + share * (to - from);
    return Math.min(to, Math.max(from, at));
  }

  /** The same length of time at the end of what is known. */
  following(): ChartRange {
    const length = this.#span.to - this.#span.from;
    return length >= (this.#extent.to - this.#extent.from) * 0.98 ? { kind: "all" } : { kind: "last", ms: length };
  }

  /** Within what is known, as far as it fits. */
  #held({ from, to }: Span): Span {
    const length = to - from;
    if (from < this.#extent.from) return { from: this.#extent.from, to: this.#extent.from + length };
    return to > this.#extent.to ? { from: this.#extent.to - length, to: this.#extent.to } : { from, to };
  }
}
