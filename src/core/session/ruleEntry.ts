import { isExpected } from "../errors";
import { UserRules } from "../log/failures/userRules";
import type { LogRule } from "./definition";
import type { KeyPath, SessionProblems } from "./sessionProblems";
import type { RuleInput, SessionInput } from "./sessionSchema";
import { keyRangeAt, nodeAt } from "./sessionTree";
import type { TreeNode } from "./sessionTree";

interface RuleContext {
  readonly root: TreeNode;
  readonly problems: SessionProblems;
  readonly defaults: NonNullable<SessionInput["defaults"]>;
}

const noRemedy = "Look at this line and at those above it in the log.";

/** The rules of a stage: its own, then those of `defaults`. What is wrong is said where it is written, and drops out. */
export function readRules(
  { root, problems, defaults }: RuleContext,
  stage: string,
  own: readonly RuleInput[] | undefined,
): readonly LogRule[] | undefined {
  const usable = (inputs: readonly RuleInput[] | undefined, path: KeyPath): LogRule[] =>
    (inputs ?? []).flatMap((input, index) => {
      const rule = ruleOf(input);
      const fault = rule === undefined ? incomplete(input) : faultOf(rule);
      if (fault === undefined) return rule === undefined ? [] : [rule];
      const at = [...path, index];
      problems.addBroken("schema", at, nodeAt(root, at)?.range ?? keyRangeAt(root, at), fault);
      return [];
    });
  const rules = [...usable(own, ["stages", stage, "rules"]), ...usable(defaults.rules, ["defaults", "rules"])];
  return rules.length === 0 ? undefined : rules;
}

function ruleOf({ pattern, ignore, kind, severity, cause, remedy, permanent }: RuleInput): LogRule | undefined {
  if (ignore === true) {
    const others = [kind, severity, cause, remedy, permanent].some((part) => part !== undefined);
    return others ? undefined : { pattern, ignore };
  }
  if (kind === undefined || cause === undefined) return undefined;
  return {
    pattern,
    ignore: false,
    kind,
    severity: severity ?? "error",
    permanent: permanent ?? false,
    cause,
    remedy: remedy ?? noRemedy,
  };
}

function incomplete({ ignore }: RuleInput): string {
  return ignore === true
    ? "A rule with `ignore: true` has no other key than `pattern`: lines that fit it are harmless."
    : "A rule needs `kind` and `cause` beside `pattern`, or `ignore: true`.";
}

/** Asks the one who will use the rule, so that the file and the log reader cannot disagree. */
function faultOf(rule: LogRule): string | undefined {
  try {
    new UserRules([rule]);
    return undefined;
  } catch (error) {
    if (isExpected(error)) return error.message;
    throw error;
  }
}
