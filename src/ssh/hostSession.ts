import type { Clock, HostIdentity, Logger, Transport } from "../core/ports";
import type { HostDefinition } from "../core/session/definition";
import type { Control } from "./control";
import type { LogLooks } from "./logLooks";
import type { LogWriters } from "./logWriters";
import type { ScriptVariables } from "./scriptChannel";
import type { TailSeats } from "./tailSeats";

/** What everything that is done on one connected host needs. */
export interface HostSession {
  readonly transport: Transport;
  readonly definition: HostDefinition;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: HostIdentity;
  readonly control: Control;
  readonly seats: TailSeats;
  readonly looks: LogLooks;
  readonly writers: LogWriters;
  /** `root`, `host`, `boot`, `uid`, `silence_limit` and `pace`, the seconds between looks, which all scripts use. */
  readonly variables: ScriptVariables;
  /** How often the flight recorder looks, if not as always; for tests. */
  readonly recorderSeconds?: number | undefined;
}
