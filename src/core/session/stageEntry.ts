import { stageDefaults } from "./defaults";
import type { HostDefinition, ServiceDefinition, StageDefinition } from "./definition";
import { listed, readEnvironment } from "./hostEntry";
import { membersOf } from "./matrix";
import { didYouMean } from "./sessionProblems";
import type { KeyPath, SessionProblems } from "./sessionProblems";
import { readRules } from "./ruleEntry";
import type { ServiceInput, SessionInput, StageInput } from "./sessionSchema";
import { unsupportedInHost, unsupportedInService, unsupportedInStage } from "./sessionSupport";
import type { UnsupportedPart } from "./sessionSupport";
import { guessKind } from "./stageKind";
import { keyRangeAt, mapOf, nodeAt } from "./sessionTree";
import type { TreeNode } from "./sessionTree";
import { defined, gpusOf, partsOf, retriesOf } from "./stageParts";
import { parseDuration } from "./units";

/** What stages and services are read with. */
export interface EntryContext {
  readonly text: string;
  readonly root: TreeNode;
  readonly problems: SessionProblems;
  readonly input: SessionInput;
  readonly hosts: ReadonlyMap<string, HostDefinition>;
  readonly defaults: NonNullable<SessionInput["defaults"]>;
  /** The file has syntax errors: nothing in it may be launched. */
  readonly garbled: boolean;
}

/** Makes a stage of what the file says, with the defaults; undefined if there is no host that it could be on. */
export function readStage(context: EntryContext, name: string, own: StageInput): StageDefinition | undefined {
  const { root, problems, defaults } = context;
  const host = hostOf(context, "stages", name, own.host);
  if (host === undefined) return undefined;
  const input: StageInput = { ...defaults, ...own };
  const range = keyRangeAt(root, ["stages", name]);
  const idle = [input.command, input.log, input.logs].every((part) => part === undefined);
  if (idle && problems.brokenKeys("stages", name).length === 0) {
    const message = `\`${name}\` has neither \`command\` nor \`log\`: there is nothing to launch or to watch.`;
    problems.add({ severity: "warning", code: "schema", message, range });
  }
  const env = {
    ...readEnvironment(root, problems, ["defaults", "env"]),
    ...readEnvironment(root, problems, ["stages", name, "env"]),
  };
  const stop = { ...defaults.stop, ...own.stop };
  const place = { root, problems, name };
  const parts = partsOf(place, input, env);
  const members = membersOf(place, input, env);
  return defined<StageDefinition>({
    name,
    kind: input.kind ?? guessKind(name, input.command ?? ""),
    host,
    command: parts.command,
    cwd: parts.cwd,
    log: parts.log,
    env,
    needs: listed(input.needs),
    gpus: parts.gpus,
    progress: parts.progress,
    rules: readRules(context, name, own.rules),
    stalledAfterSeconds: parseDuration(input.stalled_after ?? ""),
    doneWhen: parts.doneWhen,
    outputs: parts.outputs,
    resume: parts.resume,
    retries: retriesOf(input.retries),
    whenBusy: input.when_busy ?? stageDefaults.whenBusy,
    stop: {
      signal: stop.signal ?? stageDefaults.stop.signal,
      graceSeconds: parseDuration(stop.grace ?? "") ?? stageDefaults.stop.graceSeconds,
    },
    members: members.names,
    memberParts: members.parts,
    unsupported: [...unsupportedOf(context, name, host, unsupportedInStage(input)), ...brokenOf(context, name, host)],
    range,
    commandRange: nodeAt(root, ["stages", name, "command"])?.range,
  });
}

/** Makes a service of what the file says; undefined if there is no host that it could be on. */
export function readService(context: EntryContext, name: string, input: ServiceInput): ServiceDefinition | undefined {
  const host = hostOf(context, "services", name, input.host);
  if (host === undefined) return undefined;
  const parts = unsupportedInService(input);
  for (const part of parts) {
    const range = keyRangeAt(context.root, ["services", name, ...part.path]);
    const message = `${part.name} is not supported yet: a service is only watched, by its \`log\`.`;
    context.problems.add({ severity: "warning", code: "unsupported", message, range });
  }
  return defined<ServiceDefinition>({
    name,
    host,
    log: typeof input.log === "string" ? input.log : undefined,
    gpus: gpusOf(input.gpus),
    unsupported: parts.map((part) => `${part.name} is not supported yet`),
    range: keyRangeAt(context.root, ["services", name]),
  });
}

type Section = "stages" | "services";

/** The host that an entry is on: its own, the default one or the only one. What is wrong is said where it is written. */
function hostOf(context: EntryContext, section: Section, name: string, own: string | undefined): string | undefined {
  const { defaults } = context;
  const asked = own ?? defaults.host;
  if (asked === undefined) return unnamedHost(context, section, name);
  const path = own === undefined ? ["defaults", "host"] : [section, name, "host"];
  return knownHost(context, path, asked) ? asked : undefined;
}

/** Whether a name is a host's; says so where it is written if not. */
export function knownHost({ root, problems, hosts }: EntryContext, path: KeyPath, asked: string): boolean {
  if (hosts.has(asked)) return true;
  // A host that is there but wrong has its own error.
  if (nodeAt(root, ["hosts", asked]) !== undefined) return false;
  const near = didYouMean(asked, hosts.keys());
  const hint = near === undefined ? "" : ` Did you mean \`${near}\`?`;
  const range = nodeAt(root, path)?.range ?? keyRangeAt(root, path);
  problems.addBroken("reference", path, range, `There is no host \`${asked}\` in \`hosts\`.${hint}`);
  return false;
}

/** The host of an entry that names none: the only one of the file. */
function unnamedHost({ root, problems, hosts }: EntryContext, section: Section, name: string): string | undefined {
  // A wrong `host` was reported already, and another host must not stand in for it.
  if ([...problems.brokenKeys(section, name), ...problems.brokenKeys("defaults")].includes("host")) return undefined;
  const written = [...mapOf(nodeAt(root, ["hosts"])).keys()];
  const [only] = hosts.keys();
  if (written.length <= 1) return only;
  const message = `\`${name}\` needs a \`host\`, since there are several: ${written.join(", ")}.`;
  problems.addBroken("reference", [section, name, "host"], keyRangeAt(root, [section, name]), message);
  return undefined;
}

/** Says once for each place what is not supported yet, and gives the stage's own list of it. */
function unsupportedOf(
  { root, problems, input }: EntryContext,
  name: string,
  host: string,
  own: readonly UnsupportedPart[],
): string[] {
  const report = (path: readonly string[], message: string): void => {
    problems.add({ severity: "warning", code: "unsupported", message, range: keyRangeAt(root, path) });
  };
  for (const { path, name: called } of own) {
    const inStage = nodeAt(root, ["stages", name, ...path]) !== undefined;
    report(
      inStage ? ["stages", name, ...path] : ["defaults", ...path],
      `${called} is not supported yet: the stage can be watched, but not launched.`,
    );
  }
  const ofHost = unsupportedInHost(input.hosts?.[host] ?? {});
  for (const { path, name: called } of ofHost)
    report(
      ["hosts", host, ...path],
      `${called} is not supported yet: stages of this host can be watched, but not launched.`,
    );
  return [
    ...own.map(({ name: called }) => `${called} is not supported yet`),
    ...ofHost.map(({ name: called }) => `${called} of host \`${host}\` is not supported yet`),
  ];
}

/** Why the stage must not be launched although all of it is supported: parts that dropped out because they are wrong. */
function brokenOf({ problems, garbled }: EntryContext, name: string, host: string): string[] {
  const quoted = (keys: readonly string[]): string => keys.map((key) => `\`${key}\``).join(", ");
  const own = problems.brokenKeys("stages", name);
  const common = problems.brokenKeys("defaults");
  const ofHost = problems.brokenKeys("hosts", host);
  return [
    ...(garbled ? ["the session file has a syntax error"] : []),
    ...(own.length > 0 ? [`${quoted(own)} is wrong in the session file`] : []),
    ...(common.length > 0 ? [`${quoted(common)} is wrong in the session file's \`defaults\``] : []),
    ...(ofHost.length > 0 ? [`${quoted(ofHost)} of host \`${host}\` is wrong in the session file`] : []),
  ];
}
