import { hostDefaults } from "./defaults";
import type { HostDefinition } from "./definition";
import { parseHostAddress } from "./hostAddress";
import type { KeyPath, SessionProblems } from "./sessionProblems";
import type { HostInput } from "./sessionSchema";
import { keyRangeAt, mapOf, nodeAt } from "./sessionTree";
import type { TreeNode } from "./sessionTree";

/** Makes a host of what the file says; undefined if its address cannot be used. */
export function readHost(
  root: TreeNode,
  problems: SessionProblems,
  name: string,
  input: HostInput,
): HostDefinition | undefined {
  const path = ["hosts", name, "ssh"];
  const node = nodeAt(root, path);
  // An `ssh` that was wrong in itself must not silently become an alias by the host's name.
  if (input.ssh === undefined && problems.brokenKeys("hosts", name).includes("ssh")) return undefined;
  const address = parseHostAddress(input.ssh ?? name);
  if (!address.ok) {
    const range = node?.range ?? keyRangeAt(root, path);
    problems.addBroken(address.unsafe ? "unsafe" : "schema", path, range, `\`ssh\` ${address.message}`);
    return undefined;
  }
  return {
    name,
    address: address.address,
    path: listed(input.path),
    setup: listed(input.setup),
    shell: input.shell ?? hostDefaults.shell,
    env: readEnvironment(root, problems, ["hosts", name, "env"]),
    secrets: readSecrets(root, problems, name, input),
    ...(input.env_file === undefined ? {} : { envFile: input.env_file }),
    stateDir: input.state_dir ?? hostDefaults.stateDir,
    ...(input.login_node === undefined ? {} : { loginNode: input.login_node }),
  };
}

/** Names of secrets; one that no shell could hold is said at its place. */
function readSecrets(root: TreeNode, problems: SessionProblems, host: string, input: HostInput): readonly string[] {
  const path = ["hosts", host, "secrets"];
  return [...new Set(input.secrets ?? [])].filter((name) => {
    if (variableName.test(name)) return true;
    const message = `The variable's name \`${name.slice(0, 80)}\` ${variableRule}`;
    problems.addBroken("unsafe", path, nodeAt(root, path)?.range ?? keyRangeAt(root, path), message);
    return false;
  });
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const variableRule = "must be letters, digits and `_`, and not begin with a digit.";

/** One or many, as a list. */
export function listed<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

/** An `env` map with its values as they are written: `0.10` and `true` are texts to a shell. */
export function readEnvironment(
  root: TreeNode,
  problems: SessionProblems,
  path: KeyPath,
): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [name, { node, keyRange }] of mapOf(nodeAt(root, path))) {
    if (node.value === null || typeof node.value === "object") continue;
    if (variableName.test(name)) {
      values.set(name, typeof node.value === "string" ? node.value : node.source);
    } else {
      problems.addBroken(
        "unsafe",
        [...path, name],
        keyRange,
        `The variable's name \`${name.slice(0, 80)}\` ${variableRule}`,
      );
    }
  }
  return Object.fromEntries(values);
}
