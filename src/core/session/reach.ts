import type { ConnectionState, RemoteHost, Session } from "./model";

/** Whether a host cannot be reached now, be it that it is tried again this moment. Not for what waits for a person. */
export function isAway(connection: ConnectionState): boolean {
  switch (connection.kind) {
    case "lost":
      return true;
    case "failed":
      return connection.reason === "unreachable";
    case "connecting":
      return connection.again === true;
    default:
      return false;
  }
}

/**
 * Whether all hosts of a session are away, so that the cause is hardly theirs: there is no network, or it is not the one
 * that leads to them. A single host may be down by itself, and this machine is always there.
 */
export function allAway({ hosts }: Pick<Session, "hosts">): boolean {
  const remote: readonly RemoteHost[] = [...hosts.values()].filter(
    ({ definition, connection }) => definition.address.kind !== "local" && connection.kind !== "not-connected",
  );
  return remote.length > 1 && remote.every(({ connection }) => isAway(connection));
}
