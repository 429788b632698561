import type { HostDefinition, ParsedSessionFile, SessionDefinition } from "./definition";
import { fillPlaceholders } from "./placeholders";
import { readHost } from "./hostEntry";
import { SessionProblems } from "./sessionProblems";
import { checkReferences } from "./sessionReferences";
import type { SessionInput } from "./sessionSchema";
import { keyRangeAt, mapOf, nodeAt, readTree } from "./sessionTree";
import type { TreeNode } from "./sessionTree";
import { validateSession } from "./sessionValidation";
import { knownHost, readService, readStage } from "./stageEntry";
import type { EntryContext } from "./stageEntry";
import { isName, nameRule, refuseUnsafeTexts } from "./unsafeText";

/**
 * Reads a session file: syntax, aliases, placeholders, schema, references. Never throws. A part that is wrong is an
 * error at its place and drops out; what is left of its stage can be watched and says in `unsupported` why it cannot
 * be launched, since a command without the `gpus` or `env` that were meant is not the command that was meant. The
 * definition is undefined if there is no session name that runs could be recorded by.
 */
export function parseSessionFile(text: string): ParsedSessionFile {
  const problems = new SessionProblems();
  const { root: written, garbled } = readTree(text, problems);
  if (written === undefined) {
    if (problems.list.length === 0) problems.add(emptyFile);
    return { definition: undefined, problems: problems.list };
  }
  const root = refuseUnsafeTexts(fillPlaceholders(text, written, problems), problems);
  const input = validateSession(root, problems);
  const definition = input && define({ text, root, problems, input, garbled });
  return { definition, problems: problems.list };
}

const emptyFile = {
  severity: "error",
  code: "schema",
  message: "The file is empty: a session file has `session`, `hosts` and `stages`.",
  range: { from: 0, to: 0 },
} as const;

interface Reading {
  readonly text: string;
  readonly root: TreeNode;
  readonly problems: SessionProblems;
  readonly input: SessionInput;
  readonly garbled: boolean;
}

function define(reading: Reading): SessionDefinition | undefined {
  const { root, problems, input } = reading;
  const hosts = defineHosts(reading);
  const context: EntryContext = { ...reading, hosts, defaults: input.defaults ?? {} };
  if (context.defaults.host !== undefined) knownHost(context, ["defaults", "host"], context.defaults.host);
  const stages = named(reading, "stages").map((name) => readStage(context, name, input.stages?.[name] ?? {}));
  const services = named(reading, "services").map((name) => readService(context, name, input.services?.[name] ?? {}));
  if (input.notify) {
    const range = keyRangeAt(root, ["notify"]);
    const message = "`notify` is not supported yet: no messages are sent.";
    problems.add({ severity: "warning", code: "unsupported", message, range });
  }
  const checked = checkReferences({
    root,
    problems,
    stages: stages.filter((stage) => stage !== undefined),
    services: services.filter((service) => service !== undefined),
  });
  const node = nodeAt(root, ["session"]);
  if (!isName(input.session)) {
    if (node) problems.addBroken("unsafe", ["session"], node.range, `\`session\` ${nameRule}`);
    return undefined;
  }
  return node && { name: input.session, hosts, ...checked };
}

function defineHosts(reading: Reading): Map<string, HostDefinition> {
  const { root, problems, input } = reading;
  const hosts = new Map<string, HostDefinition>();
  for (const name of named(reading, "hosts")) {
    const host = readHost(root, problems, name, input.hosts?.[name] ?? {});
    if (host) hosts.set(name, host);
  }
  const written = mapOf(mapOf(root).get("hosts")?.node).size;
  if (hosts.size === 0 && written === 0) {
    const message = "There are no `hosts`: say where the stages run, as `hosts: { gpu8: { ssh: gpu8 } }`.";
    problems.add({ severity: "error", code: "schema", message, range: keyRangeAt(root, ["hosts"]) });
  }
  return hosts;
}

/** Names of a section's entries in the order of the file (objects put numbers first). Wrong names drop out. */
function named({ root, problems, input }: Reading, section: "hosts" | "stages" | "services"): string[] {
  const valid = new Set(Object.keys(input[section] ?? {}));
  return [...mapOf(nodeAt(root, [section]))].flatMap(([name, entry]) => {
    if (!valid.has(name)) return [];
    if (isName(name)) return [name];
    problems.addBroken("unsafe", [section, name], entry.keyRange, `The name \`${name.slice(0, 80)}\` ${nameRule}`);
    return [];
  });
}
