import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { isConnectError, isExpected } from "../../src/core/errors";
import type { Transport } from "../../src/core/ports";
import { connectTransport, type ConnectorOptions } from "../../src/ssh/connect";
import { FakeClock, hostAt, KeysInMemory, optionsFor, run, ScriptedPerson } from "./connection";
import { startSshServer, type ServerBehaviour, type SshServer } from "./sshServer";

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started(behaviour?: ServerBehaviour): Promise<SshServer> {
  const server = await startSshServer(behaviour);
  cleanups.push(() => server.stop());
  return server;
}

async function connect(
  server: SshServer,
  more: Partial<ConnectorOptions> = {},
  interactive = false,
): Promise<Transport> {
  const folder = mkdtempSync(join(tmpdir(), "transport-"));
  cleanups.push(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const sshConfigFile = join(folder, "config");
  writeFileSync(sshConfigFile, "IdentityFile none\nUserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\n");
  const trustedKeys = new KeysInMemory();
  trustedKeys.kept.push(server.knownHostsLine);
  const address = { kind: "direct", user: "me", host: "127.0.0.1", port: server.port } as const;
  const options = optionsFor(folder, { trustedKeys, sshConfigFile, ...more });
  const transport = await connectTransport(hostAt(address), interactive, never, options);
  cleanups.push(() => {
    transport.dispose();
  });
  return transport;
}

async function refusal(connecting: Promise<Transport>) {
  const error: unknown = await connecting.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(isConnectError(error), `not refused as expected: ${String(error)}`);
  return error;
}

/** Asks two things one after the other, then takes only the right answers. */
function twoQuestions(context: Parameters<NonNullable<ServerBehaviour["authenticate"]>>[0]): void {
  if (context.method !== "keyboard-interactive") {
    context.reject(["keyboard-interactive"]);
    return;
  }
  context.prompt(
    [
      { prompt: "Password:", echo: false },
      { prompt: "Code:", echo: true },
    ],
    (answers: string[]) => {
      if (answers.join() === "secret,123456") context.accept();
      else context.reject(["keyboard-interactive", "password"]);
    },
  );
}

describe("logging in where the host asks", { timeout: 300_000 }, () => {
  it("puts each question by itself, hidden where the host says so", async () => {
    const server = await started({ authenticate: twoQuestions });
    const prompter = new ScriptedPerson(false, ["secret", "123456"]);
    await connect(server, { prompter }, true);
    assert.deepEqual(
      prompter.questions.map((question) => "prompt" in question && [question.prompt, question.secret]),
      [
        ["Password:", true],
        ["Code:", false],
      ],
    );
  });

  it("stops at a cancel, at a refused answer, and asks nobody where nobody clicked", async () => {
    const server = await started({ authenticate: twoQuestions });
    const cancelled = new ScriptedPerson(false, ["secret", undefined]);
    assert.equal((await refusal(connect(server, { prompter: cancelled }, true))).reason, "needs-login");
    const wrong = new ScriptedPerson(false, ["secret", "0"]);
    assert.equal((await refusal(connect(server, { prompter: wrong }, true))).reason, "login-refused");
    assert.equal(wrong.questions.length, 2);
    assert.equal((await refusal(connect(server))).reason, "needs-login");
  });

  it("gives a password once", async () => {
    const server = await started({
      authenticate: (context) => {
        if (context.method === "password" && context.password === "right") context.accept();
        else context.reject(["password"]);
      },
    });
    await connect(server, { prompter: new ScriptedPerson(false, ["right"]) }, true);
    const wrong = new ScriptedPerson(false, ["wrong"]);
    assert.equal((await refusal(connect(server, { prompter: wrong }, true))).reason, "login-refused");
    assert.equal(wrong.questions.length, 1);
  });

  it("says why a host cannot be reached", async () => {
    const server = await startSshServer();
    await server.stop();
    const error = await refusal(connect(server));
    assert.equal(error.reason, "unreachable");
    assert.match(error.message, /nothing listens/);
  });

  it("does nothing in Restricted Mode, and stops where trust was taken away", async () => {
    const server = await started();
    assert.equal((await refusal(connect(server, { isTrusted: () => false }))).reason, "untrusted");
    assert.equal(server.connections.length, 0);
    let trusted = true;
    const transport = await connect(server, { isTrusted: () => trusted });
    trusted = false;
    await assert.rejects(transport.open("true"), (error) => isConnectError(error) && error.reason === "untrusted");
  });
});

describe("commands over a connection", { timeout: 300_000 }, () => {
  it("reads an end without a status as unknown", async () => {
    const server = await started({
      exec: (_command, channel) => {
        channel.write("out");
        channel.stderr.write("err");
        channel.end();
      },
    });
    const transport = await connect(server);
    assert.deepEqual(await run(await transport.open("x")), { stdout: "out", stderr: "err", exit: { kind: "unknown" } });
  });

  it("says in plain words that the host allows no further channel", async () => {
    const server = await started({ acceptSession: () => false });
    const transport = await connect(server);
    await assert.rejects(transport.open("x"), (error) => isExpected(error) && error.message.includes("MaxSessions"));
  });

  it("lets the ninth command wait until one of eight has ended", async () => {
    const commands: string[] = [];
    const server = await started({
      exec: (command, channel) => {
        commands.push(command);
        channel.on("end", () => {
          channel.exit(0);
          channel.end();
        });
        channel.resume();
      },
    });
    const transport = await connect(server);
    const open = await Promise.all(Array.from({ length: 8 }, (_, index) => transport.open(String(index))));
    const ninth = transport.open("ninth");
    const abandoned = new AbortController();
    const tenth = transport.open("tenth", abandoned.signal);
    abandoned.abort();
    await assert.rejects(tenth);
    assert.equal(commands.length, 8);
    open[0]?.end();
    assert.deepEqual(await open[0]?.exit, { kind: "code", code: 0 });
    await ninth;
    assert.equal(commands.at(-1), "ninth");
  });

  it("gives the whole link up when the host does not answer an open for 10 s", async () => {
    const server = await started();
    const clock = new FakeClock();
    const transport = await connect(server, { clock });
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    const held = await transport.open("held");
    for (const socket of server.sockets) socket.pause();
    const opening = transport.open("never answered");
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(10_000);
    await assert.rejects(opening, isExpected);
    assert.deepEqual(await held.exit, { kind: "unknown" });
    assert.deepEqual(lost, ["the host did not answer for 10 s"]);
    await assert.rejects(transport.open("after"), isExpected);
  });

  it("notices by itself that nobody answers any more", async () => {
    const server = await started();
    const transport = await connect(server, { keepaliveMs: 50 });
    const lost = new Promise<string>((resolve) => transport.onDidClose(resolve));
    for (const socket of server.sockets) socket.pause();
    assert.equal(await lost, "the host did not answer for a minute");
  });

  it("ends every command and tells the cause once when the connection breaks", async () => {
    const server = await started();
    const transport = await connect(server);
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    const running = run(await transport.open("x"));
    for (const socket of server.sockets) socket.destroy();
    assert.deepEqual((await running).exit, { kind: "unknown" });
    assert.equal(lost.length, 1);
  });

  it("says nothing of a loss after it was let go, and closes a command whose signal aborts", async () => {
    const server = await started();
    const transport = await connect(server);
    const lost: string[] = [];
    transport.onDidClose((cause) => lost.push(cause));
    const aborter = new AbortController();
    const channel = await transport.open("x", aborter.signal);
    aborter.abort();
    await channel.exit;
    transport.dispose();
    assert.deepEqual(lost, []);
  });
});
