import type { HostConnector } from "../core/ports";
import { connectTransport, type ConnectorOptions } from "./connect";
import { openHost } from "./hostOps";

export { connectTransport, type ConnectorOptions } from "./connect";

/** Connects to hosts by SSH, or to this machine, and runs the host scripts there. */
export function createConnector(options: ConnectorOptions): HostConnector {
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
