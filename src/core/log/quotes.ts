import type { PeeledLine } from "./prefixes";

/** Lines after which an opened quotation is taken for unbalanced. */
const longestQuote = 60;
const opens =
  /^(?:-{2,}|={2,}) ?(?:sample|response|completion|generation|prompt|answer|model output)\b[^-=]{0,40}(?:-{2,}|={2,})\s*$/i;
const closes = /^(?:-{2,}|={2,}) ?(?:end\b|\/)[^-=]{0,40}(?:-{2,}|={2,})\s*$/i;

/**
 * Tells text that a model wrote or a document quotes (between ``` fences, between marks of a sample) from the log's own
 * lines. A line with a logger's or launcher's prefix ends a quotation: such text has none.
 */
export class Quotes {
  #left = 0;
  /** What stood before the line that opened it: a collector puts the same before every line. */
  #form = "";

  /** Whether the next lines may be quoted. */
  get open(): boolean {
    return this.#left > 0;
  }

  /** Takes the next line; true when it is quoted. */
  holds(peeled: PeeledLine): boolean {
    const { body } = peeled;
    const form = formOf(peeled);
    if (this.#left > 0) {
      const ends = form !== this.#form || body.startsWith("```") || closes.test(body);
      this.#left = ends ? 0 : this.#left - 1;
      return form === this.#form;
    }
    if (!(body.startsWith("```") || (body.startsWith("--") || body.startsWith("==") ? opens.test(body) : false)))
      return false;
    this.#form = form ?? "";
    if (form !== undefined) this.#left = longestQuote;
    return true;
  }
}

/** What a launcher or collector puts before all lines alike; undefined for a line of a logger, which has a level. */
function formOf({ source, record, level }: PeeledLine): string | undefined {
  return level === "" ? `${record ? "time " : ""}${source}` : undefined;
}
