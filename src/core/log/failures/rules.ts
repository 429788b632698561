import { compileRules } from "./compile";
import { deprecatedRules } from "./deprecated";
import { distributedRules } from "./distributed";
import { environmentRules } from "./environment";
import { gpuRules } from "./gpu";
import { gpuRuntimeRules } from "./gpuRuntimes";
import { hubRules } from "./hub";
import { localisedRules } from "./localised";
import { networkRules } from "./network";
import { outputRules } from "./outputs";
import { processRules } from "./processes";
import { pythonRules } from "./python";
import type { FailureRule } from "./rule";
import { schedulerRules } from "./schedulers";
import { servingRules } from "./serving";
import { shellRules } from "./shell";
import { storageRules } from "./storage";

const all: readonly FailureRule[] = [
  ...deprecatedRules,
  ...shellRules,
  ...environmentRules,
  ...schedulerRules,
  ...processRules,
  ...storageRules,
  ...gpuRules,
  ...gpuRuntimeRules,
  ...hubRules,
  ...distributedRules,
  ...servingRules,
  ...compileRules,
  ...outputRules,
  ...networkRules,
  ...pythonRules,
  ...localisedRules,
];

/** Rules for lines, in the order they are tried: the first that fits wins. */
export const lineRules: readonly FailureRule[] = all.filter((rule) => rule.scope !== "exception");

/** Rules for exceptions. */
export const exceptionRules: readonly FailureRule[] = all.filter((rule) => rule.scope !== "line");
