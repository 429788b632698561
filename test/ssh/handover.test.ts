import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AuthenticationType } from "ssh2";
import type { ConnectorOptions } from "../../src/ssh/connect";
import { createConnector } from "../../src/ssh/connector";
import { agentKeyTypes, keyTypesIn } from "../../src/ssh/agentKeyTypes";
import { hostAt, KeysInMemory, optionsFor, run, ScriptedPerson } from "./connection";
import { agentWith, cleanUpAfterEach, configured, connect, later, refusal, served, sshd } from "./sshHost";
import { makeKey, type Sshd } from "./sshd";

cleanUpAfterEach();

/** ssh2's types know no GSSAPI. */
const kerberosToo = ["gssapi-with-mic", "publickey"] as unknown as AuthenticationType[];

/** Automatic choice, with what was told of it. */
function automatic(
  server: { readonly folder: string },
  sshConfigFile: string,
  more: Partial<ConnectorOptions> = {},
): { readonly options: ConnectorOptions; readonly told: string[] } {
  const told: string[] = [];
  const quiet = (): void => undefined;
  const logger = { debug: quiet, info: (message: string) => told.push(message), warn: quiet, error: quiet };
  return { options: optionsFor(server.folder, { sshConfigFile, logger, ...more }), told };
}

/** A certificate for the public key beside `file`, signed by a new authority; the authority's public key. */
function certify(server: Sshd, file: string, args: readonly string[]): string {
  const authority = join(server.folder, `ca${args.length}`);
  makeKey(authority);
  execFileSync("ssh-keygen", ["-q", "-s", authority, "-I", "test", ...args, `${file}.pub`], { stdio: "ignore" });
  return readFileSync(`${authority}.pub`, "utf8").split(" ").slice(0, 2).join(" ");
}

/** The public part of a security key, which none of these machines has: only its type counts here. */
function securityKey(file: string): void {
  const text = (word: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(word.length);
    return Buffer.concat([length, Buffer.from(word, "latin1")]);
  };
  const type = "sk-ssh-ed25519@openssh.com";
  const blob = Buffer.concat([text(type), text("k".repeat(32)), text("ssh:")]);
  writeFileSync(`${file}.pub`, `${type} ${blob.toString("base64")} touch me\n`);
}

describe("what ssh2 cannot do goes to the system's ssh", { timeout: 600_000 }, () => {
  it("logs in with a certificate beside the key, and with one that the configuration names", async () => {
    const server = await sshd();
    const key = join(server.folder, "certified");
    makeKey(key);
    const authority = certify(server, key, ["-n", server.user]);
    // Only who holds a certificate of the authority may come in.
    writeFileSync(`${server.userKeyFile}.pub`, `cert-authority ${authority}\n`);
    const { options, told } = automatic(server, configured(server, { key }));
    assert.equal((await run(await (await connect(options)).open("echo in"))).stdout, "in\n");
    assert.match(told.join(), /certified-cert\.pub is a certificate/);
    const other = join(server.folder, "elsewhere-cert.pub");
    writeFileSync(other, readFileSync(`${key}-cert.pub`));
    const bare = join(server.folder, "bare");
    writeFileSync(bare, readFileSync(key), { mode: 0o600 });
    const named = automatic(server, configured(server, { key: bare, lines: [`CertificateFile ${other}`] }));
    await connect(named.options);
    const builtIn = optionsFor(server.folder, { sshConfigFile: configured(server, { key }), sshClient: "built-in" });
    const refused = await refusal(builtIn);
    assert.equal(refused.reason, "unsupported");
    assert.match(refused.message, /certificate.*mlSession\.ssh\.client/);
  });

  it("logs in with a certificate that only the agent holds", async () => {
    const server = await sshd();
    const key = join(server.folder, "certified");
    makeKey(key);
    writeFileSync(`${server.userKeyFile}.pub`, `cert-authority ${certify(server, key, ["-n", server.user])}\n`);
    const SSH_AUTH_SOCK = agentWith(server.folder, [key]);
    assert.deepEqual(await agentKeyTypes(SSH_AUTH_SOCK), ["ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com"]);
    const env = { PATH: process.env["PATH"], SSH_AUTH_SOCK };
    const { options, told } = automatic(server, configured(server, { key: "/nonexistent" }), { env });
    await connect(options);
    assert.match(told.join(), /agent holds a certificate/);
  });

  it("checks a host's certificate where known_hosts names its authority, and refuses one of another", async () => {
    const server = await sshd();
    const authority = certify(server, server.hostKeyFile, ["-h", "-n", "127.0.0.1"]);
    writeFileSync(
      join(server.folder, "sshd_config"),
      `HostCertificate ${server.hostKeyFile}-cert.pub\n${readFileSync(join(server.folder, "sshd_config"), "utf8")}`,
    );
    await server.restart();
    const known = `@cert-authority *,[127.0.0.1]:* ${authority}\n`;
    const { options, told } = automatic(server, configured(server, { known }));
    assert.equal((await run(await (await connect(options)).open("echo known"))).stdout, "known\n");
    assert.match(told.join(), /vouched for by a certificate authority \(.*known_hosts:1\)/);
    const stranger = join(server.folder, "stranger");
    makeKey(stranger);
    const wrong = readFileSync(`${stranger}.pub`, "utf8").split(" ").slice(0, 2).join(" ");
    const other = automatic(server, configured(server, { known: `@cert-authority [127.0.0.1]:* ${wrong}\n` }));
    assert.equal((await refusal(other.options)).reason, "host-key-unknown");
  });

  it("agrees on a post-quantum exchange of keys where the server takes nothing else", async () => {
    const server = await sshd({ config: ["KexAlgorithms sntrup761x25519-sha512@openssh.com"] });
    const sshConfigFile = configured(server);
    const builtIn = await refusal(optionsFor(server.folder, { sshConfigFile, sshClient: "built-in" }));
    assert.equal(builtIn.reason, "unsupported");
    assert.match(builtIn.message, /no algorithm in common/);
    const { options, told } = automatic(server, sshConfigFile);
    assert.equal((await run(await (await connect(options)).open("echo safe"))).stdout, "safe\n");
    assert.match(told.join(), /no algorithm in common/);
  });

  it("remembers for a window which hosts are for the system's ssh, and does not try ssh2 there again", async () => {
    const server = await sshd({ config: ["KexAlgorithms sntrup761x25519-sha512@openssh.com", "LogLevel VERBOSE"] });
    const { options, told } = automatic(server, configured(server));
    const connector = createConnector(options);
    const host = hostAt({ kind: "alias", alias: "box" });
    for (let i = 0; i < 2; i++) (await connector.connect(host, false, new AbortController().signal)).dispose();
    assert.equal(told.length, 1);
    assert.equal(server.output().match(/Unable to negotiate/g)?.length, 1);
  });

  it("offers Kerberos tickets where the host takes them and there is one", async () => {
    const server = await served(
      {
        authenticate: (context) => {
          context.reject(kerberosToo);
        },
      },
      ["GSSAPIAuthentication yes"],
    );
    const klist = (code: number): void => {
      writeFileSync(join(server.folder, "klist"), `#!/bin/sh\nexit ${code}\n`);
      chmodSync(join(server.folder, "klist"), 0o755);
    };
    const env = { PATH: `${server.folder}:${process.env["PATH"] ?? ""}` };
    klist(1);
    const without = automatic(server, server.config, { env });
    assert.equal((await refusal(without.options)).reason, "login-refused");
    assert.deepEqual(server.clients, ["ssh2js1.17.0"]);
    klist(0);
    const { options, told } = automatic(server, server.config, { env });
    assert.equal((await refusal(options)).reason, "login-refused");
    assert.match(told.join(), /Kerberos/);
    assert.match(server.clients.join(), /ssh2js1\.17\.0,ssh2js1\.17\.0,OpenSSH_/);
  });

  it("leaves a security key to the system's ssh after all keys that ssh2 has, and only on a click", async () => {
    const offered: string[] = [];
    const server = await served({
      authenticate: (context) => {
        if (context.method === "publickey") offered.push(context.key.algo);
        context.reject(["publickey"]);
      },
    });
    const touch = join(server.folder, "touch");
    securityKey(touch);
    writeFileSync(server.config, `IdentityFile ${touch}\n${readFileSync(server.config, "utf8")}`);
    const quiet = automatic(server, server.config);
    const error = await refusal(quiet.options);
    assert.equal(error.reason, "needs-login");
    assert.match(error.message, /security key/);
    assert.deepEqual(offered, ["ssh-ed25519"]);
    const clicked = automatic(server, server.config, { prompter: new ScriptedPerson(false) });
    assert.equal((await refusal(clicked.options, true)).reason, "login-refused");
    assert.match(server.clients.at(-1) ?? "", /OpenSSH/);
  });

  it("hands over for smart cards and sockets passed by a ProxyCommand", async () => {
    const server = await sshd();
    for (const [line, why] of [
      ["PKCS11Provider /nonexistent.so", /smart card/],
      ["ProxyUseFdpass yes", /ProxyUseFdpass/],
    ] as const) {
      const sshConfigFile = configured(server, { lines: [line] });
      const refused = await refusal(optionsFor(server.folder, { sshConfigFile, sshClient: "built-in" }));
      assert.equal(refused.reason, "unsupported");
      assert.match(refused.message, why);
    }
  });

  it("never hands over what a person could have answered, nor a key that changed", async () => {
    const server = await sshd();
    const sshConfigFile = configured(server);
    await server.restartWithNewHostKey();
    const { options, told } = automatic(server, sshConfigFile, { trustedKeys: new KeysInMemory() });
    assert.equal((await refusal(options, true)).reason, "host-key-changed");
    assert.deepEqual(told, []);
  });
});

describe("keys of an agent", { timeout: 60_000 }, () => {
  it("are listed by type; what is no agent has none", async () => {
    const server = await sshd();
    const rsa = join(server.folder, "rsa");
    makeKey(rsa, "", "rsa");
    assert.deepEqual(await agentKeyTypes(agentWith(server.folder, [server.userKeyFile, rsa])), [
      "ssh-ed25519",
      "ssh-rsa",
    ]);
    assert.deepEqual(await agentKeyTypes(join(server.folder, "nowhere")), []);
    const answers = [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), Buffer.from([0, 0, 0, 1, 5]), Buffer.alloc(0)];
    for (const [index, answer] of answers.entries()) {
      const socket = join(server.folder, `fake${index}`);
      const fake = createServer((link) => link.end(answer));
      await new Promise<void>((resolve) => fake.listen(socket, resolve));
      later(() => fake.close());
      assert.deepEqual(await agentKeyTypes(socket), []);
    }
  });

  it("are read from any answer without failing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        keyTypesIn(Buffer.from(bytes));
        keyTypesIn(Buffer.concat([Buffer.from([12, 0, 0, 0, 9]), bytes]));
      }),
    );
    const huge = Buffer.from([12, 255, 255, 255, 255, 255, 255, 255, 255]);
    assert.deepEqual(keyTypesIn(huge), []);
  });
});
