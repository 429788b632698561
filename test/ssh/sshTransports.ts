import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { after } from "node:test";
import { connectTransport, type SshClient } from "../../src/ssh/connect";
import { hostAt, optionsFor } from "./connection";
import type { MakeTransport } from "./hostHarness";
import { startSshd, type Sshd } from "./sshd";

/** Hosts over a real sshd each, whose sessions have the test's own home and search path. */
export function makeOverSsh(sshClient: SshClient): MakeTransport {
  const servers = new Map<string, Promise<Sshd>>();
  after(async () => {
    for (const server of servers.values()) await (await server).stop();
  });
  return async ({ home, bin }) => {
    const environment = `SetEnv HOME=${home} SHELL=/bin/bash PATH=${bin}:${process.env["PATH"] ?? ""}`;
    let starting = servers.get(home);
    if (starting === undefined) {
      starting = startSshd({ config: [environment, 'ForceCommand exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"'] });
      servers.set(home, starting);
    }
    const server = await starting;
    const sshConfigFile = join(server.folder, "config");
    const knownHosts = join(server.folder, "known_hosts");
    writeFileSync(knownHosts, `${server.knownHostsLine}\n`);
    const lines = ["Host box", "HostName 127.0.0.1", `Port ${server.port}`, `User ${server.user}`];
    lines.push(`IdentityFile ${server.userKeyFile}`, `UserKnownHostsFile ${knownHosts}`);
    writeFileSync(sshConfigFile, `${lines.join("\n")}\n`);
    const options = optionsFor(server.folder, { sshConfigFile, sshClient });
    const never = new AbortController().signal;
    return connectTransport(hostAt({ kind: "alias", alias: "box" }), false, never, options);
  };
}
