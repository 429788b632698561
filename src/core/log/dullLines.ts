import { exceptionRules, lineRules } from "./failures/rules";
import { progressFormats } from "./formats/all";

/**
 * Most lines of a log say nothing that any rule or format reads. This proves it of a line while it is still bytes: all
 * texts of which a rule or format needs at least one are looked for at once (Aho and Corasick, 1975), one table look-up
 * a byte. What it lets through is decoded and read as if it did not exist.
 */

/** What is looked for beside the needles of rules and formats: whatever the reader itself takes notice of. */
const noticed = [
  "Traceback (most",
  "Exception ", // `Exception in thread …` says whose the next traceback is
  "No available shared memory", // TrendWatcher
  "[evaluator:",
  "[lm_eval.",
  " [repeated ", // cut out before anything is matched
  "```",
  "--", // with the next: quotations
  "==",
];
const request = '"POST /';
const answered = '" 200';

/** Set in a hit's bits: whatever else the line holds, it must be read. */
const decisive = 1 << 30;

/** Bits of texts that mean something only together. */
interface Together {
  readonly bits: number;
  readonly endsInNumber: boolean;
}

/** Tells lines that nothing can be read from. */
export type DullLines = Pick<Scanner, "proves">;

let shared: Scanner | undefined;

/** The one table for all logs, made when the first is read: some megabytes, some 50 ms. */
export function dullLines(): DullLines {
  shared ??= new Scanner();
  return shared;
}

/** Finds, in one pass over bytes, which of many texts are there. */
class Scanner {
  readonly #classes: Uint8Array;
  readonly #width: number;
  readonly #next: Int32Array;
  readonly #hits: Int32Array;
  readonly #together: readonly Together[];
  readonly #request: number;
  readonly #answered: number;

  constructor() {
    const texts = new Map<string, number>();
    const add = (text: string, bit: number): void => {
      texts.set(text, (texts.get(text) ?? 0) | bit);
    };
    for (const text of [...lineRules, ...exceptionRules].flatMap((rule) => rule.needles)) add(text, decisive);
    for (const text of noticed) add(text, decisive);
    let bits = 0;
    const bitOf = (text: string): number => {
      const known = (texts.get(text) ?? 0) & ~decisive;
      if (known !== 0) return known;
      const bit = 1 << bits++;
      add(text, bit);
      return bit;
    };
    const together: Together[] = [];
    for (const { trigger, also = [], endsInNumber = false, after } of progressFormats) {
      if (after !== undefined) for (const text of after) add(text, decisive);
      else if (also.length === 0 && !endsInNumber) add(trigger, decisive);
      else together.push({ bits: [trigger, ...also].reduce((sum, text) => sum | bitOf(text), 0), endsInNumber });
    }
    this.#together = together;
    this.#request = bitOf(request);
    this.#answered = bitOf(answered);
    const automaton = new Automaton(texts);
    this.#width = automaton.width;
    this.#classes = automaton.classes;
    this.#next = automaton.next;
    this.#hits = automaton.hits;
  }

  /**
   * Whether no rule and no format can find anything in the line, as long as nothing is under way: a traceback, a row of
   * refused requests, a table of GPUs. Never true for a line with control characters.
   */
  proves(bytes: Uint8Array): boolean {
    const classes = this.#classes;
    const next = this.#next;
    const hits = this.#hits;
    const width = this.#width;
    let state = 0;
    let seen = 0;
    for (const byte of bytes) {
      state = next[state * width + (classes[byte] ?? 0)] ?? 0;
      seen |= hits[state] ?? 0;
      if (seen >= decisive) return false;
    }
    if (seen === 0) return true;
    if ((seen & this.#request) !== 0 && ((seen & this.#answered) === 0 || !onlyAnswered(bytes))) return false;
    for (const { bits, endsInNumber } of this.#together) {
      if ((seen & bits) === bits && (!endsInNumber || endsNumeric(bytes))) return false;
    }
    return true;
  }
}

const latin = new TextDecoder("latin1");

/** One request in the line, and its status is 200. */
function onlyAnswered(bytes: Uint8Array): boolean {
  return /^[^"]*"POST \/[^"]*" 200\b[^"]*$/.test(latin.decode(bytes));
}

/** The last character that is no blank belongs to a number, or to one with a letter for thousands behind it. */
function endsNumeric(bytes: Uint8Array): boolean {
  let at = bytes.length - 1;
  while (at >= 0 && (bytes[at] === 32 || bytes[at] === 9)) at--;
  const last = bytes[at] ?? 0;
  const digit = (byte: number): boolean => (byte >= 48 && byte <= 57) || byte === 46;
  // Beyond ASCII may be a blank, too.
  return digit(last) || last >= 128 || ("kKMGT".includes(String.fromCharCode(last)) && digit(bytes[at - 1] ?? 0));
}

/** The states that reading any of the texts goes through, as a table: state and class of the next byte → state. */
class Automaton {
  /** Bytes that no text holds are one class. */
  readonly classes = new Uint8Array(256);
  readonly width: number;
  readonly next: Int32Array;
  readonly hits: Int32Array;

  constructor(texts: ReadonlyMap<string, number>) {
    const encoder = new TextEncoder();
    const words = [...texts].map(([text, bits]) => ({ bytes: encoder.encode(text), bits }));
    // Control characters are taken out of a line before it is read and could hide a text; C2 begins those beyond ASCII.
    for (let code = 0; code < 32; code++) if (code !== 9) words.push({ bytes: Uint8Array.of(code), bits: decisive });
    words.push({ bytes: Uint8Array.of(127), bits: decisive }, { bytes: Uint8Array.of(0xc2), bits: decisive });
    let classes = 1;
    for (const byte of words.flatMap((word) => [...word.bytes])) this.classes[byte] ||= classes++;
    this.width = classes;
    const most = 1 + words.reduce((sum, word) => sum + word.bytes.length, 0);
    this.next = new Int32Array(most * classes).fill(-1);
    this.hits = new Int32Array(most);
    const states = this.#plant(words);
    this.#link(states);
    this.next = this.next.slice(0, states * classes);
    this.hits = this.hits.slice(0, states);
  }

  #plant(words: readonly { readonly bytes: Uint8Array; readonly bits: number }[]): number {
    let states = 1;
    for (const { bytes, bits } of words) {
      let state = 0;
      for (const byte of bytes) {
        const at = state * this.width + (this.classes[byte] ?? 0);
        if (this.next[at] === -1) this.next[at] = states++;
        state = this.next[at] ?? 0;
      }
      this.hits[state] = (this.hits[state] ?? 0) | bits;
    }
    return states;
  }

  /** Where a text breaks off, reading goes on in the longest other text that what was read could begin. */
  #link(states: number): void {
    const fallback = new Int32Array(states);
    const queue: number[] = [0];
    for (const state of queue) {
      const back = fallback[state] ?? 0;
      this.hits[state] = (this.hits[state] ?? 0) | (this.hits[back] ?? 0);
      for (let c = 0; c < this.width; c++) {
        const at = state * this.width + c;
        const beyond = state === 0 ? 0 : (this.next[back * this.width + c] ?? 0);
        const child = this.next[at] ?? -1;
        if (child === -1) {
          this.next[at] = beyond;
        } else {
          fallback[child] = beyond;
          queue.push(child);
        }
      }
    }
  }
}
