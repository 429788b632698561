import type { MonitorContext } from "./monitorContext";
import type { HostCost, HostOps } from "./ports";

/** After connecting: what is done once is not what watching costs. */
const firstAfterMs = 30_000;
/** The first figure comes soon; after it seldom, since asking costs something too. */
const firstSpanMs = 60_000;
const everyMs = 5 * 60_000;

/** Tells what watching costs the host, until aborted; nothing where the host cannot tell. */
export async function watchCost(
  context: Pick<MonitorContext, "clock">,
  ops: HostOps,
  signal: AbortSignal,
  tell: (cost: { readonly cpuShare: number; readonly bytesPerSecond: number }) => void,
): Promise<void> {
  const { clock } = context;
  await clock.sleep(firstAfterMs, signal);
  let last: { readonly cost: HostCost; readonly at: number } | undefined;
  while (!signal.aborted) {
    const cost = await ops.cost?.();
    const at = clock.now();
    const first = cost !== undefined && last === undefined;
    if (cost && last && at > last.at) {
      const ms = at - last.at;
      // A channel whose end nobody has waited for yet takes its time with it for a moment.
      const cpuMs = Math.max(0, cost.cpuMs - last.cost.cpuMs);
      tell({ cpuShare: cpuMs / ms, bytesPerSecond: (1000 * (cost.bytes - last.cost.bytes)) / ms });
    }
    last = cost && { cost, at };
    await clock.sleep(first ? firstSpanMs : everyMs, signal);
  }
}
