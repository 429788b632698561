import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { connectTransport, type ConnectorOptions, type SshClient } from "../../src/ssh/connect";
import { fingerprintOf } from "../../src/ssh/knownHosts";
import { hostAt, KeysInMemory, optionsFor, run, ScriptedPerson } from "./connection";
import { cleanUpAfterEach, connect, keyOf, later, refusal, sshd } from "./sshHost";
import { makeKey, type Sshd } from "./sshd";

cleanUpAfterEach();

/** A host behind a gate: each an sshd with keys of its own, each with a known_hosts file of its own. */
interface Behind {
  readonly folder: string;
  readonly gate: Sshd;
  readonly server: Sshd;
  readonly sshConfigFile: string;
  readonly knownOf: (which: "gate" | "server") => string;
  readonly options: (more?: Partial<ConnectorOptions>) => ConnectorOptions;
}

async function behindGate(
  more: { readonly gate?: readonly string[]; readonly box?: readonly string[] } = {},
): Promise<Behind> {
  // The gate lets nobody run anything, as many do: it forwards only.
  const gate = await sshd({ config: ["LogLevel VERBOSE", "ForceCommand /bin/false"] });
  const server = await sshd({ config: ["LogLevel VERBOSE"] });
  const folder = mkdtempSync(join(tmpdir(), "jump-"));
  later(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const knownOf = (which: "gate" | "server"): string => join(folder, `known_${which}`);
  writeFileSync(knownOf("gate"), `${gate.knownHostsLine}\n`);
  writeFileSync(knownOf("server"), `${server.knownHostsLine}\n`);
  const block = (name: string, to: Sshd, which: "gate" | "server", lines: readonly string[]): string =>
    [
      `Host ${name}`,
      ...lines,
      ...["HostName 127.0.0.1", `Port ${to.port}`, `User ${to.user}`, `IdentityFile ${to.userKeyFile}`],
      ...["IdentitiesOnly yes", `UserKnownHostsFile ${knownOf(which)}`, "GlobalKnownHostsFile /dev/null", ""],
    ].join("\n");
  const sshConfigFile = join(folder, "config");
  const box = block("box", server, "server", ["ProxyJump gate", ...(more.box ?? [])]);
  writeFileSync(sshConfigFile, box + block("gate", gate, "gate", more.gate ?? []));
  const options = (others: Partial<ConnectorOptions> = {}): ConnectorOptions =>
    optionsFor(folder, { sshConfigFile, ...others });
  return { folder, gate, server, sshConfigFile, knownOf, options };
}

for (const sshClient of ["built-in", "system"] as const) {
  describe(`through a jump host (${sshClient})`, { timeout: 600_000 }, () => {
    it("each hop has its own user, key and known hosts, and the end of one is the end of all", async () => {
      const { gate, server, options } = await behindGate();
      const transport = await connect(options({ sshClient }));
      const came = (await run(await transport.open("echo $SSH_CONNECTION"))).stdout;
      assert.match(came, new RegExp(` ${server.port}\n$`));
      for (const each of [gate, server]) assert.equal(each.output().match(/Accepted publickey/g)?.length, 1);
      const lost = new Promise<string>((resolve) => transport.onDidClose(resolve));
      await gate.stop();
      assert.notEqual(await lost, "");
    });

    it("a changed key of the jump host alone is refused, whatever it is set to, and nothing is asked", async () => {
      for (const setting of ["ask", "accept-new", "no"]) {
        const { gate, server, knownOf, options } = await behindGate({ gate: [`StrictHostKeyChecking ${setting}`] });
        const old = fingerprintOf(keyOf(gate.hostKeyFile));
        await gate.restartWithNewHostKey();
        const prompter = new ScriptedPerson(true);
        const error = await refusal(options({ sshClient, prompter }), true);
        assert.equal(error.reason, "host-key-changed", `${setting}: ${error.message}`);
        for (const part of [old, fingerprintOf(keyOf(gate.hostKeyFile)), `${knownOf("gate")}:1`])
          assert.ok(error.message.includes(part), `${part} in ${error.message}`);
        assert.deepEqual(prompter.questions, []);
        assert.doesNotMatch(server.output(), /Connection from/);
      }
    });

    it("an unknown key of the jump host is asked for by its own name; unasked it is refused", async () => {
      const { gate, knownOf, options } = await behindGate();
      writeFileSync(knownOf("gate"), "");
      const trustedKeys = new KeysInMemory();
      const quiet = await refusal(options({ sshClient, trustedKeys }));
      assert.ok(["host-key-unknown", "needs-login"].includes(quiet.reason), quiet.message);
      const prompter = new ScriptedPerson(true);
      await connect(options({ sshClient, trustedKeys, prompter }), true);
      const [question, ...others] = prompter.questions;
      assert.deepEqual(others, []);
      assert.ok(question !== undefined && "fingerprint" in question);
      assert.equal(question.host, `[127.0.0.1]:${gate.port}`);
      assert.equal(question.fingerprint, fingerprintOf(keyOf(gate.hostKeyFile)));
    });

    it("a changed key behind an unchanged jump host is refused as well", async () => {
      const { server, options } = await behindGate();
      await server.restartWithNewHostKey();
      assert.equal((await refusal(options({ sshClient }))).reason, "host-key-changed");
    });

    it("a refusal by the jump host is told as one", async () => {
      const { gate, options } = await behindGate();
      makeKey(join(gate.folder, "other"));
      writeFileSync(`${gate.userKeyFile}.pub`, readFileSync(join(gate.folder, "other.pub")));
      // The pair beside each other does not fit any more, so only the private half is left to offer.
      const error = await refusal(options({ sshClient }), true);
      assert.equal(error.reason, "login-refused", error.message);
    });
  });
}

describe("names and files of host keys", { timeout: 600_000 }, () => {
  it("HostKeyAlias stands for the host, and two UserKnownHostsFile are both read", async () => {
    const { folder, server, sshConfigFile, knownOf, options } = await behindGate({ box: ["HostKeyAlias lab-8"] });
    writeFileSync(knownOf("server"), `lab-8 ${server.knownHostsLine.split(" ").slice(1).join(" ")}\n`);
    for (const sshClient of ["built-in", "system"] as const) await connect(options({ sshClient }));
    const second = join(folder, "second known");
    writeFileSync(second, readFileSync(knownOf("server")));
    writeFileSync(knownOf("server"), "# nothing here\n");
    const text = readFileSync(sshConfigFile, "utf8");
    const first = `UserKnownHostsFile ${knownOf("server")}`;
    writeFileSync(sshConfigFile, text.replace(first, `${first} "${second}"`));
    for (const sshClient of ["built-in", "system"] as const) await connect(options({ sshClient }));
  });

  it("a hop may be written with user and port", async () => {
    const { folder, gate, sshConfigFile, options } = await behindGate();
    const text = readFileSync(sshConfigFile, "utf8").replace(
      "ProxyJump gate",
      `ProxyJump ${gate.user}@127.0.0.1:${gate.port}`,
    );
    const common = `Host 127.0.0.1\nIdentityFile ${gate.userKeyFile}\nUserKnownHostsFile ${join(folder, "known_gate")}\n`;
    writeFileSync(sshConfigFile, text + common);
    const sshClient: SshClient = "built-in";
    await connect(options({ sshClient }));
  });

  it("what is not a host at the end of a jump is said to be the jump host's trouble", async () => {
    const { folder, server, options } = await behindGate();
    const { port } = server;
    await server.stop();
    const error = await refusal(options({ sshClient: "built-in" }));
    assert.equal(error.reason, "unreachable");
    assert.match(error.message, new RegExp(`jump host gate does not reach 127.0.0.1:${port}`));
    const loop = hostAt({ kind: "alias", alias: "round" });
    const sshConfigFile = join(folder, "round");
    const hop = (name: string, over: string): string => `Host ${name}\nHostName 127.0.0.1\nPort 1\nProxyJump ${over}\n`;
    writeFileSync(sshConfigFile, hop("round", "about") + hop("about", "round"));
    await assert.rejects(
      connectTransport(loop, false, new AbortController().signal, options({ sshConfigFile, sshClient: "built-in" })),
      /more than 8 jump hosts/,
    );
  });
});
