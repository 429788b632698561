import { ExpectedError } from "../../errors";
import type { LogRule } from "../../session/definition";
import { compileUserPattern, type UserPattern } from "../userPattern";
import type { Captured, FailureRule } from "./rule";

/** What a rule of the session file says about a line. */
export type UserVerdict = "harmless" | { readonly rule: FailureRule; readonly captured: Captured };

/** Failures of one rule that differ only by what its groups took; more would bury all others. */
const mostOfOneRule = 10;
const longestWord = 100;
const placeholder = /\{([A-Za-z_]\w*)\}/g;

interface CompiledRule {
  readonly pattern: UserPattern;
  /** Absent: lines that fit are harmless. */
  readonly rule?: FailureRule;
  /** What its groups took so far. */
  readonly told: Set<string>;
}

/** The rules of a session file, tried in their order and before those of the product. */
export class UserRules {
  readonly #rules: readonly CompiledRule[];

  /** @throws ExpectedError in plain words for a rule that cannot be used */
  constructor(rules: readonly LogRule[]) {
    this.#rules = rules.map(compiled);
  }

  /** What the first rule that fits says about a line without prefixes, or about an exception. */
  look(text: string): UserVerdict | undefined {
    for (const { pattern, rule, told } of this.#rules) {
      const captured = pattern.match(text);
      if (captured === undefined) continue;
      if (rule === undefined) return "harmless";
      const words = JSON.stringify(captured);
      // A line that is known and told already says nothing new, but it is this rule's, not a built-in one's.
      if (told.size >= mostOfOneRule && !told.has(words)) return "harmless";
      told.add(words);
      return { rule, captured };
    }
    return undefined;
  }
}

function compiled(given: LogRule): CompiledRule {
  const pattern = compileUserPattern(given.pattern, "pattern of the rule");
  if (given.ignore) return { pattern, told: new Set() };
  for (const text of [given.cause, given.remedy]) {
    for (const [braced, name = ""] of text.matchAll(placeholder)) {
      if (!pattern.groups.includes(name)) {
        throw new ExpectedError(
          `${braced} stands for a named group of the pattern, but it has none of this name: write (?<${name}>…) there.`,
        );
      }
    }
  }
  const rule: FailureRule = {
    failure: given.kind,
    severity: given.severity,
    permanent: given.permanent,
    scope: "both",
    needles: [],
    pattern: /^/,
    weight: 3,
    cause: (captured) => filled(given.cause, captured),
    remedy: (captured) => filled(given.remedy, captured),
    subject: (captured) =>
      Object.fromEntries(Object.entries(captured).map(([name, text]) => [name, (text ?? "").slice(0, longestWord)])),
  };
  return { pattern, rule, told: new Set() };
}

function filled(text: string, captured: Captured): string {
  return text.replace(placeholder, (_braced, name: string) => (captured[name] ?? "").slice(0, longestWord));
}
