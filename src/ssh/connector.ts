import type { HostConnector } from "../core/ports";
import { connectTransport, type ConnectorOptions } from "./connect";
import { openHost } from "./hostOps";
import { inTurn } from "./prompts";

export { connectTransport, type ConnectorOptions, type SshClient } from "./connect";

/** Connects to hosts by SSH, or to this machine, and runs the host scripts there. */
export function createConnector(given: ConnectorOptions): HostConnector {
  const options: ConnectorOptions = { ...given, prompter: inTurn(given.prompter), handedOver: new Set() };
  return {
    connect: async (host, interactive, signal) => {
      const transport = await connectTransport(host, interactive, signal, options);
      try {
        signal.throwIfAborted();
        return await openHost(transport, host, options);
      } catch (error) {
        transport.dispose();
        throw error;
      }
    },
  };
}
