import type { HostIdentity } from "../ports";
import type { HostDefinition } from "./definition";

/** The word in `HostIdentity.has` of a host that is to be watched gently. */
const word = "login-node";

/**
 * Whether a host is watched as a login node, which many people share: looked at less often, and with nothing that the
 * product would otherwise run there for its own sake.
 */
export function isLoginNode({ has }: Pick<HostIdentity, "has">): boolean {
  return has.has(word);
}

/** What a host has, once the session file's word on whether it is a login node went before what was found there. */
export function withLoginNode(has: ReadonlySet<string>, { loginNode }: HostDefinition): ReadonlySet<string> {
  if (loginNode === undefined) return has;
  const others = [...has].filter((one) => one !== word);
  return new Set(loginNode ? [...others, word] : others);
}

/** What is different there, for people. */
export function loginNodeText({ loginNode }: HostDefinition): string {
  const why = loginNode === true ? "as the session file says" : "as it has a scheduler and no GPU";
  return `A login node, ${why}: looked at each 5 s instead of each second, no GPUs, no search for who writes a log, no flight recorder. \`login_node: false\` of the host has all of it done.`;
}
