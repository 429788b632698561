import type { GpuSample } from "../ports";
import { memberLabel } from "./applyGpus";
import { escapeMarkdown, plainLine } from "./markdown";
import { isActive, lastSeen } from "./judge";
import type { Gpu, RemoteHost, Session } from "./model";
import { nodeId, type TreeNode } from "./nodes";
import { row, type Row } from "./rows";
import { connectionText, join } from "./stateWords";
import { amount, clockTime, count, decimal, gpuMemory, list } from "./words";

/*
 * The GPUs view: host → GPU. contextValue: `gpuHost` and `gpu`.
 */

/** After so long without a sample a number is said with its time. Samples come every few seconds. */
const staleMs = 30_000;

/** The rows of a session in the GPUs view; `alone`: no other session is open. */
export function gpuRows(session: Session, now: number, alone: boolean): readonly Row[] {
  return [...session.hosts.values()].map((host) => {
    const stale = staleSince(host, now);
    const node: TreeNode = { kind: "host", session: session.id, host: host.definition.name };
    return row({
      // VS Code keeps a row folded that had nothing below it when it was first drawn; with another id it is a new one.
      id: host.gpus.length === 0 ? `${nodeId(node)}/none` : nodeId(node),
      node,
      label: plainLine(host.definition.name),
      description: plainLine(join(hostText(host, now), alone ? undefined : session.definition.name)),
      icon: "server",
      tooltip: () => `**${escapeMarkdown(host.definition.name)}** · ${escapeMarkdown(hostText(host, now))}`,
      contextValue: "gpuHost",
      children: host.gpus.map((gpu) =>
        gpuRow(session, host, gpu, stale === undefined ? undefined : clockTime(stale, now)),
      ),
    });
  });
}

/** Since when the host's numbers are old; undefined while they are fresh. */
function staleSince(host: RemoteHost, now: number): number | undefined {
  const { seenAt, connection } = host;
  if (seenAt === undefined) return undefined;
  return connection.kind === "connected" && now - seenAt < staleMs ? undefined : seenAt;
}

function hostText(host: RemoteHost, now: number): string {
  const { gpus, gpusUnavailable, connection } = host;
  const away = connection.kind === "connected" ? undefined : connectionText(connection, now);
  if (gpus.length === 0) return away ?? gpusUnavailable ?? "no sample yet";
  const powers = gpus.flatMap(({ sample }) => sample.powerW ?? []);
  const stale = staleSince(host, now);
  return join(
    whichGpus(gpus),
    powers.length === 0 ? undefined : watts(powers.reduce((sum, power) => sum + power, 0)),
    stale === undefined ? undefined : `as of ${clockTime(stale, now)}`,
    away ?? gpusUnavailable,
  );
}

function whichGpus(gpus: readonly Gpu[]): string {
  const names = [...new Set(gpus.map((gpu) => shortName(gpu.name)))];
  return names.length === 1 ? `${gpus.length} × ${names[0] ?? ""}` : amount(gpus.length, "GPU");
}

function shortName(name: string): string {
  return name.replace(/^NVIDIA /, "");
}

function watts(value: number): string {
  return value >= 1000 ? `${decimal(value / 1000)} kW` : `${count(value)} W`;
}

function gpuRow(session: Session, host: RemoteHost, gpu: Gpu, asOf: string | undefined): Row {
  const { sample, index, name } = gpu;
  const alike = host.gpus.every((other) => other.name === name);
  const usedBy = gpu.usedBy.filter((user) => runs(session, user));
  return row({
    node: { kind: "gpu", session: session.id, host: host.definition.name, index },
    label: String(index),
    description: plainLine(
      join(
        asOf === undefined ? undefined : `as of ${asOf}`,
        ...sampleParts(sample),
        usedBy.length === 0 ? undefined : list(usedBy),
        // Else the host's row says it.
        alike ? undefined : shortName(name),
      ),
    ),
    icon: "chip",
    ...(asOf !== undefined && { color: "disabledForeground" }),
    tooltip: () => gpuTooltip(gpu),
    contextValue: "gpu",
  });
}

/** A stage that waits or has ended holds no GPU, whatever the session file gives it. */
function runs(session: Session, user: string): boolean {
  const service = session.services.get(user);
  if (service) return isActive(lastSeen(service.member.state));
  const whole = session.stages.get(user);
  if (whole) return whole.members.some(({ state }) => isActive(lastSeen(state)));
  // Names in a session file have no blanks.
  const stage = user.slice(0, user.indexOf(" "));
  const members = session.stages.get(stage)?.members ?? [];
  return members.some(({ name, state }) => user === memberLabel(stage, name) && isActive(lastSeen(state)));
}

/** What the driver gave; a number it does not give is not said. */
function sampleParts(sample: GpuSample): readonly string[] {
  const { utilisation, memoryUsedMib, memoryTotalMib, temperatureC, powerW } = sample;
  const parts = [
    utilisation === undefined ? undefined : `${count(utilisation)} %`,
    gpuMemory(memoryUsedMib, memoryTotalMib),
    temperatureC === undefined ? undefined : `${count(temperatureC)} °C`,
    powerW === undefined ? undefined : watts(powerW),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? ["the driver gives no numbers"] : parts;
}

function gpuTooltip(gpu: Gpu): string {
  const { sample, name, usedBy } = gpu;
  const limit = sample.powerLimitW === undefined ? undefined : `Power limit ${watts(sample.powerLimitW)}`;
  return [
    `**GPU ${gpu.index}** · ${escapeMarkdown(name)}`,
    escapeMarkdown(join(...sampleParts(sample))),
    usedBy.length === 0 ? undefined : `Given to ${escapeMarkdown(list(usedBy))} by the session file`,
    limit,
    escapeMarkdown(sample.uuid),
  ]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}
