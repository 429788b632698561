import type { Clock, HostIdentity, Logger, Transport } from "../core/ports";
import type { HostDefinition } from "../core/session/definition";
import type { ScriptVariables } from "./scriptChannel";

/** What everything that is done on one connected host needs. */
export interface HostSession {
  readonly transport: Transport;
  readonly definition: HostDefinition;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: HostIdentity;
  /** `root`, `host`, `boot` and `uid`, which all scripts use. */
  readonly variables: ScriptVariables;
}
