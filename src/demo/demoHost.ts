import type { Disposable } from "../core/lifecycle";
import type { Clock, HostConnector, Logger } from "../core/ports";
import type { DemoPlaces } from "./story";

/** What a demo host is made from. */
export interface DemoHostOptions {
  readonly places: DemoPlaces;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly speed: number;
  readonly isTrusted: () => boolean;
}

/** A demo host, however it is played. Disposing it ends all that runs there. */
export interface DemoHost extends Disposable {
  readonly connector: HostConnector;
  /** Starts the model server, which no stage starts, and its log. */
  startServer(): Promise<void>;
}
