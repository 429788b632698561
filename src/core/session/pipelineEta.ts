import type { SessionDefinition } from "./definition";
import type { Eta } from "./eta";
import { isActive, isOver, lastSeen } from "./judge";
import type { Member, SessionEta, Stage } from "./model";

/** The ETA of the member that will be last. */
export function slowest(members: readonly Member[]): Eta | undefined {
  let last: Eta | undefined;
  for (const { eta, state } of members) {
    if (eta && isActive(lastSeen(state)) && (!last || finishOf(eta) > finishOf(last))) last = eta;
  }
  return last;
}

/**
 * When the whole pipeline will be through: the latest finish among the stages at work. Stages that never ran have no
 * time to add; they are named, so that the figure is not taken for more than it is.
 */
export function pipelineEta(
  definition: SessionDefinition,
  stages: ReadonlyMap<string, Stage>,
  before: SessionEta,
): SessionEta {
  let last: Eta | undefined;
  const untimed: string[] = [];
  for (const name of definition.stages.keys()) {
    const stage = stages.get(name);
    if (!stage || isOver(lastSeen(stage.state))) continue;
    if (stage.eta && (!last || finishOf(stage.eta) > finishOf(last))) last = stage.eta;
    if (!stage.eta) untimed.push(name);
  }
  if (last === before.eta && untimed.join() === before.untimed.join()) return before;
  return last ? { eta: last, untimed } : { untimed };
}

function finishOf(eta: Eta): number {
  return eta.at + eta.eta * 1000;
}
