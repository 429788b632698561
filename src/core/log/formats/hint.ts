import { ExpectedError } from "../../errors";
import { parseCount } from "../quantities";
import { present, type ProgressFormat } from "./format";

/** Text a user's pattern sees: it may need time that grows with the square of the length, or worse. */
const seenText = 500;
/** A repeat of something that itself repeats, `(a+)+`: time may grow without bound. */
const nestedRepeat = /\((?:[^()\\]|\\.)*(?:[+*]|\{\d+,\})(?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,)/;

/**
 * The format that a session file describes by a regular expression with the groups `done`, `total` and `rate`.
 * @throws ExpectedError in plain words when the pattern is no regular expression, has none of the groups, or repeats a repeat
 */
export function hintFormat(pattern: string): ProgressFormat {
  if (nestedRepeat.test(pattern)) {
    throw new ExpectedError(
      "The progress pattern repeats a group that repeats by itself, which can take endless time. Write it without the inner repeat.",
    );
  }
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
  try {
    const compiled = new RegExp(pattern, "u");
    if (/\(\?<(?:done|rate)>/.test(pattern)) return compiled;
  } catch {
    throw new ExpectedError(`The progress pattern is no valid regular expression: ${pattern}`);
  }
  throw new ExpectedError("The progress pattern needs the named group done, as in (?<done>\\d+)/(?<total>\\d+).");
}
