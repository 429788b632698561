import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isConnectError, isExpected } from "../../src/core/errors";
import type { ConnectorOptions } from "../../src/ssh/connect";
import { fingerprintOf } from "../../src/ssh/knownHosts";
import { endingWithUs } from "../../src/ssh/systemMaster";
import { FakeClock, optionsFor, run, ScriptedPerson } from "./connection";
import { processesWith, until } from "./hostHarness";
import { cleanUpAfterEach, configured, connect, keyOf, masterFor, refusal, served, sshd, type Served } from "./sshHost";
import { makeKey, type Sshd } from "./sshd";

cleanUpAfterEach();

function system(server: Sshd | Served, sshConfigFile: string, more: Partial<ConnectorOptions> = {}): ConnectorOptions {
  return optionsFor(server.folder, { sshConfigFile, sshClient: "system", ...more });
}

describe("commands by the system's ssh", { timeout: 600_000 }, () => {
  it("share one login, and tell how they end", async () => {
    const server = await sshd({ config: ["LogLevel VERBOSE"] });
    const transport = await connect(system(server, configured(server)));
    const channel = await transport.open("cat; echo err >&2; exit 127");
    await channel.write("hello");
    channel.end();
    assert.deepEqual(await run(channel), { stdout: "hello", stderr: "err\n", exit: { kind: "code", code: 127 } });
    const own = await run(await transport.open("echo out; exit 255"));
    assert.deepEqual(own, { stdout: "out\n", stderr: "", exit: { kind: "code", code: 255 } });
    // ssh says 255 here too, and does not pass the signal's name on.
    const killed = await run(await transport.open("exec sh -c 'kill -9 $$'"));
    assert.deepEqual(killed.exit, { kind: "unknown" });
    assert.equal(server.output().match(/Accepted publickey/g)?.length, 1);
  });

  it("keep what they printed for a reader who comes when they have ended", async () => {
    const server = await sshd();
    const transport = await connect(system(server, configured(server)));
    const channels = [await transport.open("echo one; echo two >&2"), await transport.open("seq 1 5000")];
    const quick = await transport.open("true");
    // Nothing to read: it ends by itself.
    assert.deepEqual(await quick.exit, { kind: "code", code: 0 });
    await run(await transport.open("sleep 0.2"));
    const [first, second] = await Promise.all(channels.map(run));
    assert.deepEqual(first, { stdout: "one\n", stderr: "two\n", exit: { kind: "code", code: 0 } });
    assert.ok(second?.stdout.endsWith("\n4999\n5000\n"));
  });

  it("are told lost with the link, whose cause is told once, and leave no process here", async () => {
    const server = await sshd();
    const transport = await connect(system(server, configured(server)));
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    const running = run(await transport.open("exec cat"));
    await server.stop();
    assert.deepEqual((await running).exit, { kind: "unknown" });
    await until("the loss to be told", () => lost.length > 0);
    await assert.rejects(transport.open("true"), isExpected);
    assert.equal(lost.length, 1);
    await until("no ssh of ours", () => processesWith(server.folder).length === 0);
  });

  it("run in whatever the user's configuration asks for otherwise", async () => {
    const server = await sshd();
    const lines = [
      ...["RemoteCommand echo wrong", "RequestTTY force", "ForkAfterAuthentication yes", "StdinNull yes"],
      ...["SessionType none", "LocalForward 127.0.0.1:1 127.0.0.1:1", "ExitOnForwardFailure yes", "ForwardAgent yes"],
      ...["ControlMaster auto", "ControlPersist 60", "PermitLocalCommand yes", `LocalCommand touch ${server.folder}/x`],
    ];
    const transport = await connect(system(server, configured(server, { lines })));
    const channel = await transport.open('cat; echo "${SSH_AUTH_SOCK-none} $(tty)"');
    await channel.write("in ");
    channel.end();
    assert.equal((await run(channel)).stdout, "in none not a tty\n");
    assert.equal(existsSync(join(server.folder, "x")), false);
  });

  it("are refused in plain words where MaxSessions is reached, and end when nobody reads them", async () => {
    const server = await sshd({ config: ["MaxSessions 2"] });
    const transport = await connect(system(server, configured(server)));
    const channel = await transport.open("yes");
    const first = await channel.stdout[Symbol.asyncIterator]().next();
    assert.equal(first.done, false);
    const held = await transport.open("exec cat");
    await assert.rejects(transport.open("true"), (error) => isExpected(error) && error.message.includes("MaxSessions"));
    channel.close();
    await channel.exit;
    await until("sshd to count it out", async () => {
      const next = await transport.open("echo next").catch(() => undefined);
      return next !== undefined && (await run(next)).stdout === "next\n";
    });
    held.close();
  });

  it("are given up with the whole link when the host does not answer for 10 s", async () => {
    const server = await served();
    const clock = new FakeClock();
    const transport = await connect(system(server, server.config, { clock }));
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    for (const socket of server.sockets) socket.pause();
    const opening = transport.open("never answered");
    const refused = assert.rejects(opening, isExpected);
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(10_000);
    await refused;
    assert.deepEqual(lost, ["the host did not answer for 10 s"]);
  });

  it("are not run where trust was taken away", async () => {
    const server = await sshd();
    let trusted = true;
    const transport = await connect(system(server, configured(server), { isTrusted: () => trusted }));
    trusted = false;
    await assert.rejects(transport.open("true"), (error) => isConnectError(error) && error.reason === "untrusted");
    assert.equal((await refusal(system(server, configured(server), { isTrusted: () => false }))).reason, "untrusted");
  });
});

describe("logging in by the system's ssh", { timeout: 600_000 }, () => {
  it("says why it failed as ssh2 does", async () => {
    const server = await sshd();
    const wrong = join(server.folder, "wrong");
    makeKey(wrong);
    const refused = await refusal(system(server, configured(server, { key: wrong })), true);
    assert.equal(refused.reason, "login-refused");
    assert.match(refused.message, /takes publickey/);
    assert.ok(refused.message.includes(wrong), refused.message);
    const unknown = await refusal(system(server, configured(server, { known: "" })));
    assert.equal(unknown.reason, "host-key-unknown");
    const revoked = `@revoked * ${server.knownHostsLine.split(" ").slice(1).join(" ")}\n`;
    assert.equal((await refusal(system(server, configured(server, { known: revoked })))).reason, "host-key-revoked");
    const nowhere = configured(server, { lines: ["HostName no-such-host.invalid"] });
    assert.equal((await refusal(system(server, nowhere))).reason, "unreachable");
    const misspelt = configured(server, { lines: ["KexAlgorithms curve25519-sha256", "Ciphers nonsense"] });
    assert.equal((await refusal(system(server, misspelt))).reason, "unsupported");
    await server.stop();
    const gone = await refusal(system(server, "/dev/null"));
    assert.equal(gone.reason, "unreachable");
  });

  it("refuses a changed key with both fingerprints and the line, whatever the setting", async () => {
    const server = await sshd();
    const old = fingerprintOf(keyOf(server.hostKeyFile));
    const sshConfigFile = configured(server, { lines: ["StrictHostKeyChecking no"] });
    await server.restartWithNewHostKey();
    const error = await refusal(system(server, sshConfigFile, { prompter: new ScriptedPerson(true) }), true);
    assert.equal(error.reason, "host-key-changed");
    for (const part of [old, fingerprintOf(keyOf(server.hostKeyFile)), `${join(server.folder, "known_hosts")}:1`])
      assert.ok(error.message.includes(part), `${part} in ${error.message}`);
    assert.match(error.message, /Remove the old key with: {2}ssh-keygen -f .* -R /);
  });

  it("asks about an unknown key as over ssh2; a yes is kept by ssh itself", async () => {
    const server = await sshd();
    const sshConfigFile = configured(server, { known: "", lines: ["HashKnownHosts no"] });
    const no = new ScriptedPerson(false);
    assert.equal((await refusal(system(server, sshConfigFile, { prompter: no }), true)).reason, "host-key-refused");
    const yes = new ScriptedPerson(true);
    await connect(system(server, sshConfigFile, { prompter: yes }), true);
    const fingerprint = fingerprintOf(keyOf(server.hostKeyFile));
    assert.deepEqual(yes.questions, [{ host: `[127.0.0.1]:${server.port}`, keyType: "ED25519", fingerprint }]);
    assert.equal(readFileSync(join(server.folder, "known_hosts"), "utf8").trim(), server.knownHostsLine);
  });

  it("asks for a passphrase, hidden; a cancel ends it, and nobody is asked who did not click", async () => {
    const server = await sshd();
    const locked = join(server.folder, "locked");
    makeKey(locked, "secret words");
    writeFileSync(`${server.userKeyFile}.pub`, readFileSync(`${locked}.pub`));
    const sshConfigFile = configured(server, { key: locked });
    const prompter = new ScriptedPerson(false, ["secret words"]);
    await connect(system(server, sshConfigFile, { prompter }), true);
    assert.deepEqual(
      prompter.questions.map((question) => "prompt" in question && [question.prompt, question.secret]),
      [[`Enter passphrase for key '${locked}':`, true]],
    );
    const cancelled = new ScriptedPerson(false, [undefined]);
    assert.equal((await refusal(system(server, sshConfigFile, { prompter: cancelled }), true)).reason, "needs-login");
    assert.equal((await refusal(system(server, sshConfigFile))).reason, "needs-login");
  });

  it("asks for a second factor once for all commands, and does not repeat a refused one", async () => {
    let tries = 0;
    const server = await served({
      authenticate: (context) => {
        if (context.method === "none") context.reject(["publickey"]);
        else if (context.method === "publickey") {
          if (context.signature === undefined) context.accept();
          else context.reject(["keyboard-interactive", "password"], true);
        } else if (context.method === "keyboard-interactive") {
          tries++;
          context.prompt([{ prompt: "Code:", echo: true }], (answers: string[]) => {
            if (answers[0] === "123456") context.accept();
            else context.reject(["keyboard-interactive", "password"]);
          });
        } else {
          tries++;
          context.reject(["password"]);
        }
      },
      exec: (command, channel) => {
        channel.write(command);
        channel.exit(0);
        channel.end();
      },
    });
    const prompter = new ScriptedPerson(false, ["123456"]);
    const transport = await connect(system(server, server.config, { prompter }), true);
    for (const word of ["one", "two", "three"]) assert.equal((await run(await transport.open(word))).stdout, word);
    assert.equal(prompter.questions.length, 1);
    assert.equal(tries, 1);
    const wrong = new ScriptedPerson(false, ["0"]);
    assert.equal((await refusal(system(server, server.config, { prompter: wrong }), true)).reason, "login-refused");
    assert.equal(wrong.questions.length, 1);
    assert.equal(tries, 2);
    const quiet = await refusal(system(server, server.config));
    assert.equal(quiet.reason, "needs-login");
  });

  it("cannot be had without an ssh", async () => {
    const server = await sshd();
    const sshConfigFile = configured(server);
    const error = await refusal(system(server, sshConfigFile, { env: { PATH: server.folder } }));
    assert.equal(error.reason, "unsupported");
    assert.match(error.message, /none on this machine/);
  });

  it("passes words on as they are, never to a shell, and leaves StrictHostKeyChecking to the user", async () => {
    const server = await sshd();
    const calls = join(server.folder, "calls");
    const real = join("/usr/bin", "ssh");
    writeFileSync(
      join(server.folder, "ssh"),
      `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done >>"${calls}"\necho -- >>"${calls}"\nexec ${real} "$@"\n`,
    );
    chmodSync(join(server.folder, "ssh"), 0o755);
    const env = { PATH: `${server.folder}:${process.env["PATH"] ?? ""}` };
    const transport = await connect(system(server, configured(server), { env }));
    const command = "printf '%s' \"$((1+1)) a  b\" 'it''s' `echo x` # $(touch /nowhere)";
    assert.deepEqual(await run(await transport.open(command)), {
      stdout: "2 a  bitsx",
      stderr: "",
      exit: { kind: "code", code: 0 },
    });
    const said = readFileSync(calls, "utf8");
    assert.ok(said.includes(`\n--\nbox\n${command}\n`), said);
    assert.doesNotMatch(said, /StrictHostKeyChecking|UserKnownHostsFile|CheckHostIP|VerifyHostKeyDNS/);
    assert.match(said, /BatchMode=yes/);
  });
});

describe("a connection that the user's own ssh shares", { timeout: 600_000 }, () => {
  it("is used by itself, without a login, and its end is told", async () => {
    const server = await sshd({ config: ["LogLevel VERBOSE"] });
    const socket = join(server.folder, "cm");
    const sshConfigFile = configured(server, { lines: ["ControlMaster auto", `ControlPath ${socket}`] });
    const end = await masterFor(sshConfigFile, socket);
    const options = optionsFor(server.folder, { sshConfigFile });
    const transport = await connect(options);
    const lost = new Promise<string>((resolve) => transport.onDidClose(resolve));
    assert.equal((await run(await transport.open("echo over it; exit 4"))).stdout, "over it\n");
    const running = run(await transport.open("exec cat"));
    assert.equal(server.output().match(/Accepted publickey/g)?.length, 1);
    end();
    assert.deepEqual((await running).exit, { kind: "unknown" });
    assert.match(await lost, /shared connection/);
    // It is gone: the next one logs in itself.
    await until("the socket to go", () => !existsSync(socket));
    const next = await connect(options);
    assert.equal((await run(await next.open("echo alone"))).stdout, "alone\n");
    await until("a login", () => server.output().match(/Accepted publickey/g)?.length === 2);
  });

  it("is not ended by us", async () => {
    const server = await sshd();
    const socket = join(server.folder, "cm");
    const sshConfigFile = configured(server, { lines: ["ControlMaster auto", `ControlPath ${socket}`] });
    await masterFor(sshConfigFile, socket);
    const transport = await connect(optionsFor(server.folder, { sshConfigFile }));
    await run(await transport.open("true"));
    transport.dispose();
    const again = await connect(optionsFor(server.folder, { sshConfigFile }));
    assert.equal((await run(await again.open("echo still"))).stdout, "still\n");
  });

  it("is passed over where its socket is stale", async () => {
    const server = await sshd();
    const socket = join(server.folder, "cm");
    writeFileSync(socket, "");
    const sshConfigFile = configured(server, { lines: [`ControlPath ${socket}`] });
    const transport = await connect(optionsFor(server.folder, { sshConfigFile }));
    assert.equal((await run(await transport.open("echo alone"))).stdout, "alone\n");
  });
});

describe("a system whose ssh shares no connections (Windows)", { timeout: 600_000 }, () => {
  it("has one command at a time for each login, and tells ssh's end from the command's", async () => {
    const server = await sshd();
    const transport = await connect(system(server, configured(server), { platform: "win32" }));
    const held = await transport.open("cat; exit 255");
    await assert.rejects(
      transport.open("true"),
      (error) => isExpected(error) && error.message.includes("one for each"),
    );
    held.end();
    assert.deepEqual((await run(held)).exit, { kind: "code", code: 255 });
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    const killed = await run(await transport.open("exec sh -c 'kill -9 $$'"));
    assert.deepEqual(killed.exit, { kind: "unknown" });
    assert.deepEqual(lost, []);
    const running = run(await transport.open("exec cat"));
    await server.stop();
    assert.deepEqual((await running).exit, { kind: "unknown" });
    await until("the loss to be told", () => lost.length === 1);
  });

  it("asks nothing there, and says what would have been needed", async () => {
    const server = await sshd();
    const wrong = join(server.folder, "wrong");
    makeKey(wrong);
    const transport = await connect(system(server, configured(server, { key: wrong }), { platform: "win32" }), true);
    await assert.rejects(transport.open("true"), (error) => isConnectError(error) && error.reason === "login-refused");
  });
});

it("a program that ends with us does so when our end of its input is gone, and tells its own exit code", async () => {
  const [shell = "", ...words] = endingWithUs("sleep");
  const mark = `${300 + process.pid / 1e7}`;
  const child = spawn(shell, [...words, mark], { stdio: ["pipe", "ignore", "ignore"] });
  await until("it to run", () => processesWith(mark).length > 0);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.stdin.destroy();
  await ended;
  await until("nothing is left", () => processesWith(mark).length === 0);
  const [, ...other] = endingWithUs("sh");
  const exiting = spawn(shell, [...other, "-c", "exit 7"], { stdio: ["pipe", "ignore", "ignore"] });
  assert.equal(await new Promise((resolve) => exiting.on("exit", resolve)), 7);
  exiting.stdin.destroy();
});
