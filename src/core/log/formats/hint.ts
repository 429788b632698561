import { ExpectedError } from "../../errors";
import { parseCount } from "../quantities";
import { present, type ProgressFormat } from "./format";

/** Text a user's pattern sees: the time it needs may grow with a power of the length. */
const seenText = 300;
const longestPattern = 500;

/**
 * The format that a session file describes by a regular expression with the groups `done`, `total` and `rate`.
 * @throws ExpectedError in plain words when the pattern is no regular expression, has none of the groups, or repeats a
 * group that repeats or branches by itself, because such a pattern may never come to an end
 */
export function hintFormat(pattern: string): ProgressFormat {
  const compiled = compile(pattern);
  return {
    key: "pattern",
    trigger: "",
    read: ({ body }) => {
      const groups = compiled.exec(body.slice(0, seenText))?.groups;
      if (groups === undefined) return undefined;
      const count = (name: string): number | undefined => {
        const text = groups[name];
        return text === undefined ? undefined : parseCount(text);
      };
      const done = count("done");
      const rate = count("rate");
      if (done === undefined && rate === undefined) return undefined;
      return present({ done, total: count("total"), rate, rate_unit: rate === undefined ? undefined : "it/s" });
    },
  };
}

function compile(pattern: string): RegExp {
  if (pattern.length > longestPattern)
    throw new ExpectedError(`The progress pattern is longer than ${longestPattern} characters.`);
  if (repeatsARepeat(pattern)) {
    throw new ExpectedError(
      "The progress pattern repeats a group that repeats or branches by itself, which can take endless time. Write it without the outer repeat.",
    );
  }
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern, "u");
  } catch {
    throw new ExpectedError(`The progress pattern is no valid regular expression: ${pattern}`);
  }
  if (/\(\?<(?:done|rate)>/.test(pattern)) return compiled;
  throw new ExpectedError("The progress pattern needs the named group done, as in (?<done>\\d+)/(?<total>\\d+).");
}

/** `(a+)+`, `(a|b)*`, `((a*))+`: found by one walk over the pattern. */
function repeatsARepeat(pattern: string): boolean {
  const groups: boolean[] = [false];
  const plain = pattern.replace(/\\./gsu, "x").replace(/\[[^\]]*\]/gu, "x");
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
  return /^(?:[*+]|\{\d*,)/.test(text);
}
