import type { Transport } from "../../src/core/ports";
import { createLocalTransport } from "../../src/ssh/localTransport";

const path = process.env["PATH"] ?? "";

/** This machine as a host; the transport takes shell, home and search path from our own environment. */
export function makeLocal(
  loginShell = "/bin/bash",
): (environment: { readonly home: string; readonly bin: string }) => Transport {
  return ({ home, bin }) => {
    process.env["HOME"] = home;
    process.env["SHELL"] = loginShell;
    process.env["PATH"] = `${bin}:${path}`;
    return createLocalTransport(() => true);
  };
}
