import { ConnectError } from "../../core/errors";
import { combine, toDisposable } from "../../core/lifecycle";
import type { HostConnector } from "../../core/ports";
import type { DemoHost, DemoHostOptions } from "../demoHost";
import { vllmScore } from "../night";
import { MemoryConnections, MemoryOps } from "./memoryOps";
import { MemoryProcesses } from "./processes";
import { playScore } from "./programs";

/** The demo host in memory, for platforms that have no shell to play it with. */
export function memoryDemo(options: DemoHostOptions): DemoHost {
  const { places, clock, logger, speed, isTrusted } = options;
  const host = new MemoryProcesses(options);
  const connections = new MemoryConnections();
  const ended = new AbortController();
  const connector: HostConnector = {
    connect: async (definition, _interactive, signal) => {
      if (!isTrusted())
        throw new ConnectError("untrusted", "Nothing is connected in Restricted Mode. Trust this workspace first.");
      await clock.sleep(1, AbortSignal.any([signal, ended.signal]));
      return connections.add(new MemoryOps({ host, definition, home: places.home, clock, isTrusted }));
    },
  };
  const startServer = (): Promise<void> => {
    const write = (text: string): void => {
      host.files.append(`${places.data}/vllm.log`, text);
    };
    const call = { files: host.files, clock, speed, write, signal: ended.signal };
    playScore(vllmScore(speed, clock.now()), places.data, call).catch((error: unknown) => {
      if (!ended.signal.aborted) logger.error("The demo's server log stopped.", error);
    });
    return Promise.resolve();
  };
  const all = combine(
    toDisposable(() => {
      host.dispose();
    }),
    connections,
    toDisposable(() => {
      ended.abort(new Error("the demo has ended"));
    }),
  );
  return { connector, startServer, ...all };
}
