import type { SessionFileProblem, TextRange } from "./definition";

/** A place in the file's structure: keys and indices from the root. */
export type KeyPath = readonly (string | number)[];

/** More than anybody reads; a hostile file must not fill the Problems view. */
const mostProblems = 200;

/** Collects what is wrong with a session file, and which parts of it can therefore not be trusted for a launch. */
export class SessionProblems {
  readonly #list: SessionFileProblem[] = [];
  readonly #seen = new Set<string>();
  readonly #broken = new Map<string, Set<string>>();

  /** All problems in the order of their places. */
  get list(): readonly SessionFileProblem[] {
    return [...this.#list].sort((a, b) => a.range.from - b.range.from || a.range.to - b.range.to);
  }

  add(problem: SessionFileProblem): void {
    const id = `${problem.range.from} ${problem.range.to} ${problem.message}`;
    if (this.#seen.has(id) || this.#list.length >= mostProblems) return;
    this.#seen.add(id);
    this.#list.push(problem);
  }

  /** An error that makes the part at `path` unusable: what is left of its stage, host or service is only watched. */
  addBroken(code: SessionFileProblem["code"], path: KeyPath, range: TextRange, message: string): void {
    this.add({ severity: "error", code, message, range });
    const [section = "", name = "", key = name] = path.map(String);
    const id = section === "defaults" ? section : `${section}/${name}`;
    const keys = this.#broken.get(id) ?? new Set();
    this.#broken.set(id, keys.add(section === "defaults" ? name : key));
  }

  /** The keys of a stage, host or service (or of `defaults`) that are wrong in the file. */
  brokenKeys(section: "hosts" | "stages" | "services" | "defaults", name = ""): readonly string[] {
    return [...(this.#broken.get(section === "defaults" ? section : `${section}/${name}`) ?? [])];
  }
}

/** The candidate that somebody who wrote `word` most likely meant; undefined if none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const far = distance(word.toLowerCase().slice(0, 64), candidate.toLowerCase());
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/** Levenshtein's distance, with a swap of neighbours as one step. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      row.push(
        Math.min((last[j] ?? Infinity) + 1, (row[j - 1] ?? Infinity) + 1, (last[j - 1] ?? Infinity) + same, swap),
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? Infinity;
}
