import { ExpectedError } from "../../errors";
import { parseCount } from "../quantities";
import { compileUserPattern } from "../userPattern";
import { present, type ProgressFormat } from "./format";

/**
 * The format that a session file describes by a regular expression with the groups `done`, `total` and `rate`.
 * @throws ExpectedError in plain words when the pattern has none of the groups, or is refused by `compileUserPattern`
 */
export function hintFormat(pattern: string): ProgressFormat {
  const { match, groups: names } = compileUserPattern(pattern, "progress pattern");
  if (!names.includes("done") && !names.includes("rate"))
    throw new ExpectedError("The progress pattern needs the named group done, as in (?<done>\\d+)/(?<total>\\d+).");
  return {
    key: "pattern",
    trigger: "",
    read: ({ body }) => {
      const groups = match(body);
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
