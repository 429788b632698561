import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { createConnector } from "../../src/ssh/connector";
import { hostAt, optionsFor } from "./connection";
import { startSshd } from "./sshd";

it("opens a host over SSH by its alias, down to the host scripts", { timeout: 300_000 }, async () => {
  const server = await startSshd();
  try {
    const sshConfigFile = join(server.folder, "config");
    const knownHosts = join(server.folder, "known_hosts");
    writeFileSync(knownHosts, `${server.knownHostsLine}\n`);
    writeFileSync(
      sshConfigFile,
      `Host box\nHostName 127.0.0.1\nPort ${server.port}\nUser ${server.user}\nIdentityFile ${server.userKeyFile}\nUserKnownHostsFile ${knownHosts}\n`,
    );
    const connector = createConnector(optionsFor(server.folder, { sshConfigFile }));
    const host = await connector.connect(hostAt({ kind: "alias", alias: "box" }), false, new AbortController().signal);
    assert.equal(host.identity.user, server.user);
    host.dispose();
  } finally {
    await server.stop();
  }
});
