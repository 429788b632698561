import { ExpectedError } from "../errors";

/** Text of a line that a user's pattern sees: the time it needs may grow with a power of the length. */
const seenText = 300;
const longestPattern = 500;
/** The highest power of the length that a pattern's time may grow with. */
const highestPower = 4;

/** A regular expression of a session file, applied to the start of lines. */
export interface UserPattern {
  /** Named groups if it fits somewhere in the first 300 characters. */
  readonly match: (text: string) => Readonly<Record<string, string | undefined>> | undefined;
  /** Names of its groups. */
  readonly groups: readonly string[];
}

/**
 * Compiles a pattern of a session file.
 * @param called what the pattern is called in messages, as `progress pattern`
 * @throws ExpectedError in plain words when it is no regular expression, is too long, or may take endless time: it
 * repeats a group that repeats or branches by itself, refers back, or has too many open repeats side by side
 */
export function compileUserPattern(pattern: string, called: string): UserPattern {
  if (pattern.length > longestPattern)
    throw new ExpectedError(`The ${called} is longer than ${longestPattern} characters.`);
  const plain = withoutDetails(pattern);
  if (repeatsARepeat(plain)) {
    throw new ExpectedError(
      `The ${called} repeats a group that repeats or branches by itself, which can take endless time. Write it without the outer repeat.`,
    );
  }
  if (/\\(?:[1-9]|k<)/u.test(pattern.replaceAll("\\\\", "")))
    throw new ExpectedError(`The ${called} refers back to a group, which can take endless time. Write it without.`);
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern, "u");
  } catch {
    throw new ExpectedError(`The ${called} is no valid regular expression: ${pattern}`);
  }
  if (powerOf(plain) > highestPower) {
    throw new ExpectedError(
      `The ${called} has too many open repeats such as \`.*\`, which can take endless time. Use fewer, or begin it with \`^\`.`,
    );
  }
  return {
    match: (text) => {
      const match = compiled.exec(text.slice(0, seenText));
      return match === null ? undefined : (match.groups ?? {});
    },
    groups: [...pattern.matchAll(/\(\?<([A-Za-z_]\w*)>/gu)].map((match) => match[1] ?? ""),
  };
}

/**
 * The pattern with each escape and class as one character: `w` for what takes most characters (`\S`, `\w`, `[^…]`), `n`
 * for what takes few (digits, blanks, a literal).
 */
function withoutDetails(pattern: string): string {
  return pattern
    .replace(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|.)/gsu, (escape) => (/^\\[SwWDpP]/.test(escape) ? "w" : "n"))
    .replace(/\[(\^?)([^\]]*)\]/gu, (_class, negated: string, inner: string) =>
      negated === "^" || /[w-]/.test(inner) ? "w" : "n",
    );
}

/** `(a+)+`, `(a|b)*`, `((a*))+`: found by one walk over the pattern. */
function repeatsARepeat(plain: string): boolean {
  const groups: boolean[] = [false];
  for (let at = 0; at < plain.length; at++) {
    const rest = plain.slice(at + 1, at + 8);
    const character = plain.charAt(at);
    if (character === "(") groups.push(false);
    else if (character === "|" || isRepeat(plain.slice(at, at + 8))) groups[groups.length - 1] = true;
    else if (character === ")") {
      const risky = groups.pop() === true;
      if (risky && isRepeat(rest)) return true;
      if (groups.length === 0) return false;
      if (risky) groups[groups.length - 1] = true;
    }
  }
  return false;
}

function isRepeat(text: string): boolean {
  return /^(?:[*+]|\{\d*,|\{\d{2,})/.test(text);
}

const repeat = /^(?:[*+]|\{\d+,\d*\}|\{\d{2,}\})[?+]?/;
const optional = /^(?:\?|\{0,1\})\??/;

/**
 * The power of the text's length that the time may grow with at worst: one for each repeat of something wide, one for
 * each narrow repeat beside another repeat, and one for trying at every place if it is not anchored.
 */
function powerOf(plain: string): number {
  let power = plain.startsWith("^") ? 0 : 1;
  let before: "wide" | "narrow" | undefined;
  const bare = plain.replace(/\(\?(?:<[A-Za-z_]\w*>|<?[=!]|:)|[()]/g, "");
  for (let at = 0; at < bare.length; at++) {
    const rest = bare.slice(at + 1, at + 10);
    const repeated = repeat.exec(rest)?.[0];
    if (repeated !== undefined) {
      const now = bare[at] === "." || bare[at] === "w" ? "wide" : "narrow";
      if (now === "wide" || before !== undefined) power++;
      if (now === "wide" && before === "narrow") power++;
      before = now;
      at += repeated.length;
    } else if (optional.test(rest)) {
      at += optional.exec(rest)?.[0].length ?? 0;
    } else {
      before = undefined;
    }
  }
  return power;
}
