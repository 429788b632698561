import type { SessionDefinition } from "./definition";
import type { Eta } from "./eta";
import { isActive, isOver, lastSeen } from "./judge";
import type { Member, SessionEta, Stage } from "./model";

/**
 * The ETA of the member that will be last. Members that wait for their turn come after those at work, as many at a time
 * as now, and take as long as the others did: a stage of which one of eight runs is not nearly through.
 * @param before the stage's last one: the same object is given again where nothing is new
 */
export function slowest(members: readonly Member[], before: Eta | undefined): Eta | undefined {
  let last: Eta | undefined;
  const active = members.filter(({ state }) => isActive(lastSeen(state)));
  for (const { eta } of active) if (eta && (!last || finishOf(eta) > finishOf(last))) last = eta;
  const waiting = members.filter(({ state }) => isIdle(lastSeen(state).kind)).length;
  if (!last || waiting === 0) return last;
  const rounds = Math.ceil(waiting / active.length);
  const { typical, shortest, longest } = lengthsOf(members);
  const eta: Eta = {
    ...last,
    eta: last.eta + rounds * typical,
    lo: last.lo + rounds * shortest,
    hi: last.hi + rounds * longest,
  };
  return before && JSON.stringify(before) === JSON.stringify(eta) ? before : eta;
}

function isIdle(kind: Member["state"]["kind"]): boolean {
  return kind === "waiting" || kind === "blocked";
}

/** How long members take, seconds: those that have ended well, else by what is expected of those at work. */
function lengthsOf(members: readonly Member[]): Readonly<Record<"typical" | "shortest" | "longest", number>> {
  const ended = members.flatMap(({ run, state }) => {
    const { kind } = lastSeen(state);
    return run?.end && (kind === "finished" || kind === "finished-unchecked")
      ? [(run.end.at - run.startedAt) / 1000]
      : [];
  });
  const expected = members.flatMap(({ eta, state, since }) =>
    eta && isActive(lastSeen(state)) ? [Math.max(0, (eta.at - since) / 1000) + eta.eta] : [],
  );
  const known = ended.length > 0 ? ended : expected;
  const typical = known.reduce((sum, length) => sum + length, 0) / Math.max(1, known.length);
  const [few, many] = [Math.min(...known), Math.max(...known)];
  // One or two say little of how much they differ.
  return { typical, shortest: Math.min(few, typical * 0.8), longest: Math.max(many, typical * 1.25) };
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
