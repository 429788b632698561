import type { HostInput, LogInput, ServiceInput, StageInput } from "./sessionSchema";

/** A valid part of the file that this version cannot do: the key, and which of its inner keys if not all of it. */
export interface UnsupportedPart {
  readonly path: readonly string[];
  /** How it is called in messages, with backticks: `` `log.journal` ``. */
  readonly name: string;
}

function part(...path: readonly string[]): UnsupportedPart {
  return { path, name: `\`${path.join(".")}\`` };
}

function present(input: object, keys: readonly string[], ...before: readonly string[]): UnsupportedPart[] {
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(input));
  return keys.filter((key) => given.get(key) !== undefined).map((key) => part(...before, key));
}

function logParts(log: LogInput | undefined): UnsupportedPart[] {
  return log === undefined || typeof log === "string" ? [] : Object.keys(log).map((key) => part("log", key));
}

function launcherParts(launcher: string | undefined): UnsupportedPart[] {
  return launcher === undefined || launcher === "detached"
    ? []
    : [{ path: ["launcher"], name: `\`launcher: ${launcher}\`` }];
}

const stageKeys = ["logs", "fail_when", "array", "timeout"];
const serviceKeys = ["logs", "start", "cwd", "env", "systemd", "docker", "stop", "ready", "metrics", "until", "port"];

/** What a stage asks for that is not built yet. */
export function unsupportedInStage(stage: StageInput): readonly UnsupportedPart[] {
  return [...present(stage, stageKeys), ...logParts(stage.log), ...launcherParts(stage.launcher)];
}

/** What a host asks for that is not built yet; it keeps every stage of that host from being launched. */
export function unsupportedInHost(host: HostInput): readonly UnsupportedPart[] {
  return launcherParts(host.launcher);
}

/** What a service asks for that is not built yet: services are only watched. */
export function unsupportedInService(service: ServiceInput): readonly UnsupportedPart[] {
  return [...present(service, serviceKeys), ...logParts(service.log)];
}
