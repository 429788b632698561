import { ExpectedError } from "../core/errors";
import type { TokenQuery, TokenReport } from "../core/tokenCounts";
import matchesScript from "../host/matches.sh";
import outputsScript from "../host/outputs.sh";
import tokenCountsScript from "../host/tokenCounts.sh";
import type { HostSession } from "./hostSession";
import { listed } from "./outputs";

/** Read at one time, so that no host is busy with it for long. */
const mostBytes = 16 * 1024 * 1024;

/** See `HostOps.tokenCounts`. */
export async function tokenCounts(
  session: HostSession,
  { files, field, known, whole }: TokenQuery,
  cwd: string | undefined,
): Promise<TokenReport> {
  const answer = await session.control.ask([matchesScript, outputsScript, tokenCountsScript], {
    ...session.variables,
    cwd: cwd ?? "",
    ...listed("output", files),
    ...listed(
      "known",
      [...known].map(([id, offset]) => `${id} ${String(offset)}`),
    ),
    field,
    most: mostBytes,
    whole: whole ? 1 : 0,
    watching: 0,
  });
  return reportOf(answer);
}

/** What the lines mean stands in tokenCounts.sh. */
function reportOf(answer: readonly string[]): TokenReport {
  const facts = new Map<string, readonly (readonly string[])[]>();
  for (const line of answer) {
    const [mark, word = "", ...parts] = line.split(" ");
    if (mark === "@") facts.set(word, [...(facts.get(word) ?? []), parts]);
  }
  const pairs = (word: string): (readonly [string, string])[] =>
    (facts.get(word) ?? []).map(([first = "", second = ""]) => [first, second]);
  const [[lines, without, ended] = []] = facts.get("lines") ?? [];
  return {
    read: new Map(pairs("file").map(([id, offset]) => [id, numberOf(offset)])),
    counts: new Map(pairs("count").map(([value, number]) => [numberOf(value), numberOf(number)])),
    lines: numberOf(lines),
    without: numberOf(without),
    ended: numberOf(ended),
    restBytes: numberOf(facts.get("rest")?.[0]?.[0]),
    shorter: facts.has("shorter"),
    tookMs: numberOf(facts.get("took")?.[0]?.[0]),
  };
}

function numberOf(text: string | undefined): number {
  const value = Number(text === "" ? undefined : text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new ExpectedError("What the host answered about the tokens of the outputs cannot be understood.");
}
