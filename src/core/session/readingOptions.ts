import type { LogRule, ProgressHint, StageDefinition } from "./definition";

/** What the session file says about reading a stage's log; nothing for services. */
export function readingOptions(stage: StageDefinition | undefined): {
  readonly hint?: ProgressHint;
  readonly rules?: readonly LogRule[];
} {
  return { ...(stage?.progress ? { hint: stage.progress } : {}), ...(stage?.rules ? { rules: stage.rules } : {}) };
}
