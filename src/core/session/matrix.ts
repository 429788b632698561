import { stageDefaults } from "./defaults";
import type { MemberParts } from "./definition";
import type { StageInput } from "./sessionSchema";
import { keyRangeAt } from "./sessionTree";
import { partsOf, type StagePlace } from "./stageParts";
import { isName } from "./unsafeText";

/** More members than this are a mistake in a range. */
const mostMembers = 256;

/** The members of a stage. Without a `matrix` one, `0`, that is the stage as it is written. */
export interface Members {
  readonly names: readonly string[];
  readonly parts?: ReadonlyMap<string, MemberParts>;
}

/** One value for each name of the matrix. */
type Combination = ReadonlyMap<string, string>;

/**
 * Makes a member of each combination of the matrix's values, the last name changing fastest; its name is the values
 * joined by `-`. What is wrong is said where it is written, and leaves the stage with the member `0`.
 */
export function membersOf(place: StagePlace, input: StageInput, env: Readonly<Record<string, string>>): Members {
  const one: Members = { names: stageDefaults.members };
  if (input.matrix === undefined) return one;
  const refuse = (message: string): Members => {
    const { root, problems, name } = place;
    const path = ["stages", name, "matrix"];
    problems.addBroken("schema", path, keyRangeAt(root, path), message);
    return one;
  };
  let combinations: readonly Combination[] = [new Map()];
  for (const [name, written] of Object.entries(input.matrix)) {
    const values = valuesOf(written);
    if (values === undefined || values.length === 0)
      return refuse(`\`${name}\` must be a range such as \`0..7\` or a list of values.`);
    if (combinations.length * values.length > mostMembers) return refuse(`It makes more than ${mostMembers} members.`);
    combinations = combinations.flatMap((before) => values.map((value) => new Map(before).set(name, value)));
  }
  const parts = new Map<string, MemberParts>();
  for (const values of combinations) {
    const member = [...values.values()].join("-");
    if (!isName(member)) return refuse(`\`${member.slice(0, 80)}\` cannot be a member's name: use letters and digits.`);
    if (parts.has(member)) return refuse(`Two members would be called \`${member}\`.`);
    const filled = filledIn(env, values) as Readonly<Record<string, string>>;
    parts.set(member, partsOf(place, filledIn(input, values) as StageInput, filled));
  }
  warnOfOneLog(place, input, parts);
  return { names: [...parts.keys()], parts };
}

function valuesOf(written: string | readonly (string | number | boolean)[]): readonly string[] | undefined {
  if (typeof written !== "string") return written.map(String);
  const [, first, last] = /^\s*(\d{1,9})\s*\.\.\s*(\d{1,9})\s*$/.exec(written) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === undefined || from > to || to - from >= mostMembers * 4) return undefined;
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
}

/** The value with `{{name}}` filled in wherever a text holds it; names of others were filled in or refused before. */
function filledIn(value: unknown, values: Combination): unknown {
  if (typeof value === "string") {
    return value.replace(/\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g, (whole, name: string) => values.get(name) ?? whole);
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, values));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner, values)]));
}

function warnOfOneLog(place: StagePlace, input: StageInput, parts: ReadonlyMap<string, MemberParts>): void {
  const logs = new Set([...parts.values()].map(({ log }) => log));
  if (typeof input.log !== "string" || parts.size < 2 || logs.size === parts.size) return;
  const { root, problems, name } = place;
  const path = ["stages", name, "log"];
  const message = "Several members write to one log, so what they say cannot be told apart: put a name of `matrix` in.";
  problems.add({ severity: "warning", code: "schema", message, range: keyRangeAt(root, path) });
}
