import type * as vscode from "vscode";
import type { PipelineMemory } from "./core/pipelineRunner";
import type { PipelinePlan } from "./core/session/model";

const memoryKey = "mlSession.pipelines";

/**
 * Plans of pipelines, kept with the workspace so that a reload goes on with them.
 * @param passing the session whose plans are not kept: the demo begins anew each time
 */
export function keptPipelines(memory: vscode.Memento, passing: string): PipelineMemory {
  const all = (): Readonly<Record<string, unknown>> => memory.get<Readonly<Record<string, unknown>>>(memoryKey, {});
  return {
    read: (session) => {
      const plan = all()[session];
      return isPlan(plan) ? plan : undefined;
    },
    write: (session, plan) => {
      if (session === passing) return;
      const others = Object.entries(all()).filter(([id]) => id !== session);
      void memory.update(memoryKey, Object.fromEntries(plan ? [...others, [session, plan]] : others));
    },
  };
}

/** What another version kept is no plan of ours. */
function isPlan(value: unknown): value is PipelinePlan {
  if (typeof value !== "object" || value === null) return false;
  const { stages, again, leftOut, givenUp, regardless, ways } = value as Partial<Record<keyof PipelinePlan, unknown>>;
  const lists = [stages, leftOut, givenUp, regardless].every(
    (list) => Array.isArray(list) && list.every((name) => typeof name === "string"),
  );
  return lists && [again, ways].every((map) => typeof map === "object" && map !== null);
}
