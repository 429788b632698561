import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConnectError } from "../core/errors";
import type { Disposable } from "../core/lifecycle";
import type { Clock, HostConnector, Logger } from "../core/ports";
import type { DemoHost } from "./demoHost";
import { memoryDemo } from "./memory/memoryDemo";
import { whyNoRealHost } from "./ssh/demoHome";
import { sshDemo } from "./ssh/sshDemo";
import { eveningLaunches, hostDefinition, hostName, placesIn, sessionFileText, type DemoPlaces } from "./story";

/** The demo night, ready to begin. All of it ends with `dispose`. */
export interface DemoSession extends Disposable {
  readonly folder: string;
  /** Path of the `ml-session.yaml` that was written into the folder. */
  readonly sessionFile: string;
  /** Connects to the demo host and to nothing else, whatever a changed session file asks for. */
  readonly connector: HostConnector;
  /** How it is played in fact: `memory` also where `ssh` was asked for and the machine lacks what that needs. */
  readonly mode: "ssh" | "memory";
  /** Starts the night: the inference and the server, and the download that dies at once. Resolves when all are started. */
  start(): Promise<void>;
}

/** What the caller gives. */
export interface DemoOptions {
  readonly mode: "ssh" | "memory";
  /** An empty folder that the caller owns and removes afterwards. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isTrusted: () => boolean;
  /** How many times faster than the ten minutes that the night takes by itself. */
  readonly speed?: number;
}

/** How long after the inference the download is launched, so that a viewer sees it happen. */
const downloadAfterMs = 1500;

/** Prepares the demo: writes the session file and the demo host below `folder`. Nothing is played before `start`. */
export async function createDemo(options: DemoOptions): Promise<DemoSession> {
  const { folder, logger } = options;
  await mkdir(folder, { recursive: true });
  const why = options.mode === "ssh" ? whyNoRealHost(process.platform, folder) : undefined;
  if (why !== undefined) logger.info(`The demo host is played in memory: ${why}.`);
  const mode = why === undefined ? options.mode : "memory";
  const places = placesIn(mode === "ssh" ? join(folder, hostName) : "/home/demo");
  const sessionFile = join(folder, "ml-session.yaml");
  await writeFile(sessionFile, sessionFileText(places));
  const hostOptions = { ...options, places, speed: options.speed ?? 1 };
  const host = mode === "ssh" ? await sshDemo(hostOptions) : memoryDemo(hostOptions);
  const ended = new AbortController();
  return {
    folder,
    sessionFile,
    connector: onlyDemoHost(host.connector, ended.signal),
    mode,
    start: () => begin(options, places, host, ended.signal),
    dispose: () => {
      ended.abort(new Error("the demo has ended"));
      host.dispose();
    },
  };
}

async function begin(options: DemoOptions, places: DemoPlaces, host: DemoHost, ended: AbortSignal): Promise<void> {
  await host.startServer();
  const ops = await host.connector.connect(hostDefinition, false, ended);
  try {
    const { inference, download } = eveningLaunches(places);
    await ops.launch(inference);
    await options.clock.sleep(downloadAfterMs, ended);
    await ops.launch(download);
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    ops.dispose();
  }
}

/** An edited session file must not make the demo reach for other machines. Once it has ended, a retry is of no use. */
function onlyDemoHost(connector: HostConnector, ended: AbortSignal): HostConnector {
  return {
    connect: async (definition, interactive, signal) => {
      const { address } = definition;
      if (ended.aborted) throw new ConnectError("unsupported", "The demo has ended.");
      if (address.kind !== "alias" || address.alias !== hostName)
        throw new ConnectError("unsupported", `The demo has one host, ${hostName}; it connects to no other.`);
      return connector.connect(definition, interactive, signal);
    },
  };
}
