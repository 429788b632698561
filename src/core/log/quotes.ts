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

  /** Whether the next lines may be quoted. */
  get open(): boolean {
    return this.#left > 0;
  }

  /** Takes the next line; true when it is quoted. */
  holds(peeled: PeeledLine): boolean {
    const { body } = peeled;
    if (this.#left > 0) {
      this.#left =
        peeled.record || peeled.source !== "" || body.startsWith("```") || closes.test(body) ? 0 : this.#left - 1;
      return !(peeled.record || peeled.source !== "");
    }
    if (!(body.startsWith("```") || (body.startsWith("--") || body.startsWith("==") ? opens.test(body) : false)))
      return false;
    if (!peeled.record && peeled.source === "") this.#left = longestQuote;
    return true;
  }
}
