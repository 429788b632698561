import { deprecatedRules } from "./deprecated";
import { processRules } from "./processes";
import { pythonRules } from "./python";
import type { FailureRule } from "./rule";
import { shellRules } from "./shell";

const all: readonly FailureRule[] = [...deprecatedRules, ...shellRules, ...processRules, ...pythonRules];

/** Rules for lines, in the order they are tried: the first that fits wins. */
export const lineRules: readonly FailureRule[] = all.filter((rule) => rule.scope !== "exception");

/** Rules for exceptions. */
export const exceptionRules: readonly FailureRule[] = all.filter((rule) => rule.scope !== "line");
