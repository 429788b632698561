import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { isConnectError, isExpected } from "../../src/core/errors";
import { connectTransport, type ConnectorOptions } from "../../src/ssh/connect";
import type { Transport } from "../../src/core/ports";
import { fingerprintOf } from "../../src/ssh/knownHosts";
import { Asker } from "../../src/ssh/prompts";
import { arrive } from "../../src/ssh/route";
import { Ssh2Transport } from "../../src/ssh/ssh2Transport";
import { resolveHost } from "../../src/ssh/sshConfig";
import { FakeClock, hostAt, KeysInMemory, optionsFor, run, ScriptedPerson } from "./connection";
import { makeKey, startSshd, type Sshd, type SshdOptions } from "./sshd";

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function sshd(options?: SshdOptions): Promise<Sshd> {
  const server = await startSshd(options);
  cleanups.push(() => server.stop());
  return server;
}

/** Known_hosts and an alias `box`, as a user would have them. */
function configured(
  server: Sshd,
  { known = `${server.knownHostsLine}\n`, lines = [] as readonly string[], key = server.userKeyFile } = {},
): string {
  const file = join(server.folder, "config");
  const knownHosts = join(server.folder, "known_hosts");
  writeFileSync(knownHosts, known);
  writeFileSync(
    file,
    [
      "Host box",
      ...lines,
      "HostName 127.0.0.1",
      `Port ${server.port}`,
      `User ${server.user}`,
      `IdentityFile ${key}`,
      `UserKnownHostsFile ${knownHosts}`,
      "GlobalKnownHostsFile /dev/null",
      "",
    ].join("\n"),
  );
  return file;
}

const box = hostAt({ kind: "alias", alias: "box" });

async function connect(options: ConnectorOptions, interactive = false) {
  const transport = await connectTransport(box, interactive, never, options);
  cleanups.push(() => {
    transport.dispose();
  });
  return transport;
}

function keyOf(file: string): Buffer {
  return Buffer.from(readFileSync(`${file}.pub`, "utf8").split(" ")[1] ?? "", "base64");
}

/** An agent of OpenSSH that holds the given keys; its socket. */
function agentWith(folder: string, keys: readonly string[]): string {
  const socket = join(folder, "agent.sock");
  const printed = execFileSync("ssh-agent", ["-s", "-a", socket], { encoding: "utf8" });
  const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(printed)?.[1]);
  cleanups.push(() => process.kill(pid));
  for (const key of keys)
    execFileSync("ssh-add", ["-q", key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: "ignore" });
  return socket;
}

/** SHA-256, by the host, of a text sent to it. */
async function sumOnHost(transport: Transport, text: string): Promise<string> {
  const channel = await transport.open("sha256sum");
  const answer = run(channel);
  for (let at = 0; at < text.length; at += 100_000) await channel.write(text.slice(at, at + 100_000));
  channel.end();
  return (await answer).stdout.slice(0, 64);
}

function sumOfNumbers(count: number): string {
  const hash = createHash("sha256");
  for (let i = 1; i <= count; i++) hash.update(`${i}\n`);
  return hash.digest("hex");
}

/** A transport with its own limits for the renewal of keys, and how many renewals are through. */
async function renewing(server: Sshd, limits: { readonly clock: FakeClock; readonly rekeyBytes: number }) {
  const options = optionsFor(server.folder, { sshConfigFile: configured(server) });
  const host = await resolveHost({ host: "box" }, options);
  const { client, release } = await arrive(host, { ...options, asker: new Asker(undefined), signal: never });
  let renewals = 0;
  client.on("handshake", () => {
    renewals++;
  });
  const { isTrusted, logger } = options;
  const transport = new Ssh2Transport(client, { label: "box", isTrusted, logger, release, ...limits });
  cleanups.push(() => {
    transport.dispose();
  });
  return { transport, renewals: () => renewals };
}

async function refusal(options: ConnectorOptions, interactive = false) {
  const error: unknown = await connect(options, interactive).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(isConnectError(error), `not refused as expected: ${String(error)}`);
  return error;
}

describe("logging in to a real sshd", { timeout: 600_000 }, () => {
  it("uses an alias and a key file, and tells how commands end", async () => {
    const server = await sshd();
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server) }));
    const channel = await transport.open("cat; echo err >&2; exit 127");
    await channel.write("hello");
    channel.end();
    assert.deepEqual(await run(channel), { stdout: "hello", stderr: "err\n", exit: { kind: "code", code: 127 } });
    const killed = await run(await transport.open("exec sh -c 'kill -9 $$'"));
    assert.deepEqual(killed.exit, { kind: "signal", signal: "SIGKILL" });
  });

  it("takes user@host:port as it is", async () => {
    const server = await sshd();
    const trustedKeys = new KeysInMemory();
    trustedKeys.kept.push(server.knownHostsLine);
    const sshConfigFile = configured(server, { known: "" });
    writeFileSync(sshConfigFile, `IdentityFile ${server.userKeyFile}\nUserKnownHostsFile /dev/null\n`);
    const address = { kind: "direct", user: server.user, host: "127.0.0.1", port: server.port } as const;
    const transport = await connectTransport(
      hostAt(address),
      false,
      never,
      optionsFor(server.folder, { trustedKeys, sshConfigFile }),
    );
    assert.equal((await run(await transport.open("echo hi"))).stdout, "hi\n");
    transport.dispose();
  });

  it("uses the agent, and of many keys only the named one with IdentitiesOnly", async () => {
    const server = await sshd();
    const others = Array.from({ length: 7 }, (_, index) => join(server.folder, `other${index}`));
    for (const other of others) makeKey(other);
    const SSH_AUTH_SOCK = agentWith(server.folder, [...others, server.userKeyFile]);
    // Only the public part lies beside: the agent has the private one.
    const publicOnly = join(server.folder, "named.pub");
    writeFileSync(publicOnly, readFileSync(`${server.userKeyFile}.pub`));
    const env = { PATH: process.env["PATH"], SSH_AUTH_SOCK };
    const only = configured(server, { key: publicOnly, lines: ["IdentitiesOnly yes"] });
    const transport = await connect(optionsFor(server.folder, { env, sshConfigFile: only }));
    assert.equal((await run(await transport.open("echo agent"))).stdout, "agent\n");
    // Named keys come first even without IdentitiesOnly; with no named key the server's limit of tries is met.
    await connect(optionsFor(server.folder, { env, sshConfigFile: configured(server, { key: publicOnly }) }));
    const tooMany = await refusal(
      optionsFor(server.folder, { env, sshConfigFile: configured(server, { key: "/nonexistent" }) }),
    );
    assert.equal(tooMany.reason, "login-refused");
    assert.match(tooMany.message, /IdentitiesOnly/);
  });

  it("says what the server takes and which keys were offered when it refuses", async () => {
    const server = await sshd();
    const wrong = join(server.folder, "wrong");
    makeKey(wrong);
    const error = await refusal(optionsFor(server.folder, { sshConfigFile: configured(server, { key: wrong }) }), true);
    assert.equal(error.reason, "login-refused");
    assert.ok(error.message.includes(wrong));
    assert.match(error.message, /takes publickey/);
  });

  it("asks for a passphrase, again after a wrong one, and never when nobody clicked", async () => {
    const server = await sshd();
    const locked = join(server.folder, "locked");
    makeKey(locked, "secret words");
    const config = join(server.folder, "authorized");
    writeFileSync(config, readFileSync(`${locked}.pub`));
    writeFileSync(`${server.userKeyFile}.pub`, readFileSync(`${locked}.pub`));
    const sshConfigFile = configured(server, { key: locked });
    const quiet = await refusal(optionsFor(server.folder, { sshConfigFile }));
    assert.equal(quiet.reason, "needs-login");
    const prompter = new ScriptedPerson(false, ["wrong", "secret words"]);
    const transport = await connect(optionsFor(server.folder, { sshConfigFile, prompter }), true);
    assert.equal((await run(await transport.open("echo in"))).stdout, "in\n");
    assert.equal(prompter.questions.length, 2);
    assert.ok(prompter.questions.every((question) => "secret" in question && question.secret));
    const cancelled = await refusal(
      optionsFor(server.folder, { sshConfigFile, prompter: new ScriptedPerson(false, [undefined]) }),
      true,
    );
    assert.equal(cancelled.reason, "login-refused");
  });

  it("goes over a jump host, whose key is checked as well", async () => {
    const gate = await sshd();
    const server = await sshd();
    const config = configured(server, {
      lines: ["ProxyJump gate"],
      known: `${server.knownHostsLine}\n${gate.knownHostsLine}\n`,
    });
    const gateLines = `Host gate\nHostName 127.0.0.1\nPort ${gate.port}\nUser ${gate.user}\nIdentityFile ${gate.userKeyFile}\n`;
    const common = `UserKnownHostsFile ${join(server.folder, "known_hosts")}\nGlobalKnownHostsFile /dev/null\n`;
    writeFileSync(config, `${readFileSync(config, "utf8")}${gateLines}${common}`);
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: config }));
    assert.match((await run(await transport.open("echo $SSH_CONNECTION"))).stdout, new RegExp(` ${server.port}\n$`));
    const lost = new Promise<string>((resolve) => transport.onDidClose(resolve));
    await gate.stop();
    assert.notEqual(await lost, "");
    writeFileSync(join(server.folder, "known_hosts"), `${server.knownHostsLine}\n`);
    const error = await refusal(optionsFor(server.folder, { sshConfigFile: config }));
    assert.equal(error.reason === "host-key-unknown" || error.reason === "unreachable", true);
  });

  it("goes through a ProxyCommand", async () => {
    const server = await sshd();
    const lines = [
      `ProxyCommand ${process.execPath} -e "const s=require('net').connect(%p,'%h');process.stdin.pipe(s).pipe(process.stdout)"`,
    ];
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server, { lines }) }));
    assert.equal((await run(await transport.open("echo through"))).stdout, "through\n");
  });
});

describe("host keys of a real sshd", { timeout: 600_000 }, () => {
  it("finds a host in a hashed file", async () => {
    const server = await sshd();
    const sshConfigFile = configured(server);
    execFileSync("ssh-keygen", ["-H", "-f", join(server.folder, "known_hosts")], { stdio: "ignore" });
    await connect(optionsFor(server.folder, { sshConfigFile }));
  });

  it("asks about an unknown key, remembers a yes in its own store, and never writes to the user's file", async () => {
    const server = await sshd();
    const sshConfigFile = configured(server, { known: "" });
    const trustedKeys = new KeysInMemory();
    assert.equal((await refusal(optionsFor(server.folder, { sshConfigFile, trustedKeys }))).reason, "host-key-unknown");
    const no = await refusal(
      optionsFor(server.folder, { sshConfigFile, trustedKeys, prompter: new ScriptedPerson(false) }),
      true,
    );
    assert.equal(no.reason, "host-key-refused");
    assert.deepEqual(trustedKeys.kept, []);
    const prompter = new ScriptedPerson(true);
    await connect(optionsFor(server.folder, { sshConfigFile, trustedKeys, prompter }), true);
    const fingerprint = fingerprintOf(keyOf(server.hostKeyFile));
    assert.deepEqual(prompter.questions, [{ host: `[127.0.0.1]:${server.port}`, keyType: "ssh-ed25519", fingerprint }]);
    assert.deepEqual(trustedKeys.kept, [server.knownHostsLine]);
    assert.equal(readFileSync(join(server.folder, "known_hosts"), "utf8"), "");
    await connect(optionsFor(server.folder, { sshConfigFile, trustedKeys }));
  });

  it("follows StrictHostKeyChecking", async () => {
    const server = await sshd();
    const strict = configured(server, { known: "", lines: ["StrictHostKeyChecking yes"] });
    const refused = await refusal(
      optionsFor(server.folder, { sshConfigFile: strict, prompter: new ScriptedPerson(true) }),
      true,
    );
    assert.equal(refused.reason, "host-key-unknown");
    const trustedKeys = new KeysInMemory();
    const acceptNew = configured(server, { known: "", lines: ["StrictHostKeyChecking accept-new"] });
    await connect(optionsFor(server.folder, { sshConfigFile: acceptNew, trustedKeys }));
    assert.deepEqual(trustedKeys.kept, [server.knownHostsLine]);
  });

  it("refuses a changed key with both fingerprints and the command that removes the old one", async () => {
    const server = await sshd();
    const old = fingerprintOf(keyOf(server.hostKeyFile));
    const sshConfigFile = configured(server, { lines: ["StrictHostKeyChecking no"] });
    await server.restartWithNewHostKey();
    const error = await refusal(optionsFor(server.folder, { sshConfigFile, prompter: new ScriptedPerson(true) }), true);
    assert.equal(error.reason, "host-key-changed");
    const knownHosts = join(server.folder, "known_hosts");
    for (const part of [old, fingerprintOf(keyOf(server.hostKeyFile)), `${knownHosts}:1`])
      assert.ok(error.message.includes(part), part);
    const command = /ssh-keygen -f .*$/m.exec(error.message)?.[0] ?? "";
    execFileSync("sh", ["-c", command], { stdio: "ignore" });
    assert.equal(
      (
        await refusal(
          optionsFor(server.folder, { sshConfigFile: configured(server, { known: readFileSync(knownHosts, "utf8") }) }),
        )
      ).reason,
      "host-key-unknown",
    );
  });

  it("refuses a revoked key", async () => {
    const server = await sshd();
    const known = `${server.knownHostsLine}\n@revoked * ${server.knownHostsLine.split(" ").slice(1).join(" ")}\n`;
    const error = await refusal(optionsFor(server.folder, { sshConfigFile: configured(server, { known }) }), true);
    assert.equal(error.reason, "host-key-revoked");
  });
});

describe("limits of a real sshd", { timeout: 600_000 }, () => {
  it("says in plain words that MaxSessions is reached, and works on when a channel is free again", async () => {
    const server = await sshd({ config: ["MaxSessions 2"] });
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server) }));
    const held = await transport.open("exec cat");
    await transport.open("exec cat");
    await assert.rejects(transport.open("true"), (error) => isExpected(error) && error.message.includes("MaxSessions"));
    held.end();
    assert.deepEqual(await held.exit, { kind: "code", code: 0 });
    assert.equal((await run(await transport.open("echo again"))).stdout, "again\n");
  });

  it("carries 8 MB each way through the server's renewals of the session keys, in order", async () => {
    const server = await sshd({ config: ["RekeyLimit 1M 30"] });
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server) }));
    const { stdout, exit } = await run(await transport.open("seq 1 1200000"));
    assert.deepEqual(exit, { kind: "code", code: 0 });
    assert.equal(stdout.length, 8_488_896);
    assert.ok(stdout.endsWith("\n1199999\n1200000\n"));
    assert.equal(await sumOnHost(transport, stdout), createHash("sha256").update(stdout).digest("hex"));
  });

  it("renews the session keys itself, by bytes and by the hour, while data goes both ways", async () => {
    const server = await sshd();
    const clock = new FakeClock();
    const { transport, renewals } = await renewing(server, { clock, rekeyBytes: 1 << 20 });
    const [{ stdout }, sum] = await Promise.all([
      transport.open("seq 1 1200000").then(run),
      sumOnHost(transport, "x".repeat(8 << 20)),
    ]);
    assert.equal(createHash("sha256").update(stdout).digest("hex"), sumOfNumbers(1_200_000));
    assert.equal(
      sum,
      createHash("sha256")
        .update("x".repeat(8 << 20))
        .digest("hex"),
    );
    assert.ok(renewals() >= 4, `${renewals()} renewals over 16 MB`);
    const before = renewals();
    clock.pass(3_600_000);
    // The next command's bytes wait for the new keys.
    assert.equal((await run(await transport.open("echo on"))).stdout, "on\n");
    assert.equal(renewals(), before + 1);
  });

  it("ends a command that nobody reads when it is closed, and runs the next one", async () => {
    const server = await sshd();
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server) }));
    const channel = await transport.open("yes");
    const first = await channel.stdout[Symbol.asyncIterator]().next();
    assert.equal(first.done, false);
    channel.close();
    await channel.exit;
    await assert.rejects(channel.write("x"), isExpected);
    assert.equal((await run(await transport.open("echo next"))).stdout, "next\n");
  });

  it("keeps on the host what nobody reads yet", async () => {
    const server = await sshd();
    const transport = await connect(optionsFor(server.folder, { sshConfigFile: configured(server) }));
    const counter = join(server.folder, "written");
    const channel = await transport.open(
      `yes | dd bs=65536 count=400 iflag=fullblock 2>${counter}; echo done >>${counter}`,
    );
    // Another command's round trips give the flood all the time it needs to fill the windows.
    for (let i = 0; i < 5; i++) await run(await transport.open("true"));
    assert.ok(!readFileSync(counter, "utf8").includes("done"));
    const { stdout } = await run(channel);
    assert.equal(stdout.length, 400 * 65536);
  });
});
