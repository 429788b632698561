import { networkInterfaces } from "node:os";
import type { Disposable } from "./core/lifecycle";

/** Looking costs a system call; nothing of Node tells of a change. */
const lookMs = 5000;

/** Calls when the addresses of this machine have changed: another network, a VPN that came or went. */
export function onNetworkChange(changed: () => void): Disposable {
  let before = addresses();
  const timer = setInterval(() => {
    const now = addresses();
    if (now === before) return;
    before = now;
    changed();
  }, lookMs);
  timer.unref();
  return {
    dispose: () => {
      clearInterval(timer);
    },
  };
}

function addresses(): string {
  const all = Object.entries(networkInterfaces()).flatMap(([name, found]) =>
    (found ?? []).filter(({ internal }) => !internal).map(({ address }) => `${name} ${address}`),
  );
  return all.sort().join("\n");
}
