import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConnectorOptions } from "../../src/ssh/connect";
import { optionsFor, run } from "./connection";
import { cleanUpAfterEach, configured, connect, sshd } from "./sshHost";
import type { Sshd } from "./sshd";

cleanUpAfterEach();

function system(server: Sshd, sshConfigFile: string, more: Partial<ConnectorOptions> = {}): ConnectorOptions {
  return optionsFor(server.folder, { sshConfigFile, sshClient: "system", ...more });
}

describe("the system's ssh", { timeout: 600_000 }, () => {
  it("carries commands over one login, and tells how they end", async () => {
    const server = await sshd({ config: ["LogLevel VERBOSE"] });
    const transport = await connect(system(server, configured(server)));
    const channel = await transport.open("cat; echo err >&2; exit 127");
    await channel.write("hello");
    channel.end();
    assert.deepEqual(await run(channel), { stdout: "hello", stderr: "err\n", exit: { kind: "code", code: 127 } });
    const own = await run(await transport.open("echo out; exit 255"));
    assert.deepEqual(own, { stdout: "out\n", stderr: "", exit: { kind: "code", code: 255 } });
    const killed = await run(await transport.open("exec sh -c 'kill -9 $$'"));
    assert.deepEqual(killed.exit, { kind: "unknown" });
    assert.equal(server.output().match(/Accepted publickey/g)?.length, 1);
  });
});
