import assert from "node:assert/strict";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import type { AuthContext, ServerChannel } from "ssh2";
import { isConnectError } from "../../src/core/errors";
import { FollowedLogs } from "../../src/core/followedLogs";
import { HostWatch } from "../../src/core/hostWatch";
import { Monitor } from "../../src/core/monitor";
import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { HostDefinition } from "../../src/core/session/definition";
import type { HostConnector } from "../../src/core/ports";
import { SessionStore } from "../../src/core/session/store";
import type { Prompter } from "../../src/core/trust";
import { createConnector, type ConnectorOptions } from "../../src/ssh/connector";
import { inTurn } from "../../src/ssh/prompts";
import { HandClock } from "../unit/handClock";
import { FakeClock, hostAt, optionsFor, run, ScriptedPerson } from "./connection";
import { until } from "./hostHarness";
import { cleanUpAfterEach, connect, later, refusal, served, type Served } from "./sshHost";

cleanUpAfterEach();

const box = hostAt({ kind: "alias", alias: "box" });

/** A key, and then a code: as hosts with a second factor have it. Counts what is tried. */
function keyAndCode(tried: string[]): (context: AuthContext) => void {
  return (context) => {
    if (context.method === "publickey" && context.signature === undefined) context.accept();
    else if (context.method === "publickey") context.reject(["keyboard-interactive", "password"], true);
    else if (context.method === "keyboard-interactive") {
      tried.push(context.method);
      context.prompt([{ prompt: "Verification code:", echo: false }], (answers: string[]) => {
        if (answers[0] === "123456") context.accept();
        else context.reject(["keyboard-interactive", "password"]);
      });
    } else {
      if (context.method !== "none") tried.push(context.method);
      context.reject(["publickey"]);
    }
  };
}

function echoing(command: string, channel: ServerChannel): void {
  channel.write(command);
  channel.exit(0);
  channel.end();
}

/** A monitor of `box` with time by hand, and what its row says. */
function monitored(options: ConnectorOptions): {
  readonly monitor: Monitor;
  readonly clock: HandClock;
  readonly row: () => string;
  /** How often it has tried to connect. */
  readonly calls: () => number;
} {
  const clock = new HandClock();
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  const host: HostDefinition = { ...box, ...hostDefaults };
  const stage = { name: "train", ...stageDefaults, host: "box", command: "true" };
  const definition = {
    name: "night",
    hosts: new Map([["box", host]]),
    services: new Map(),
    stages: new Map([["train", stage]]),
  };
  store.open("s", definition, 0);
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const loadWatch = (): Promise<{ readonly HostWatch: typeof HostWatch }> => Promise.resolve({ HostWatch });
  const context = { store, logs: new FollowedLogs(), clock, logger, loadWatch };
  const connector = createConnector({ ...options, clock: optionsFor("").clock });
  let calls = 0;
  const counting: HostConnector = {
    connect: (...asked) => {
      calls++;
      return connector.connect(...asked);
    },
  };
  const monitor = new Monitor(context, "s", "box", counting);
  later(() => {
    monitor.dispose();
  });
  const row = (): string => {
    const connection = store.sessions.get("s")?.hosts.get("box")?.connection;
    return connection?.kind === "failed" ? connection.reason : (connection?.kind ?? "none");
  };
  return { monitor, clock, row, calls: () => calls };
}

for (const sshClient of ["built-in", "system"] as const) {
  const options = (server: Served, more: Partial<ConnectorOptions> = {}): ConnectorOptions =>
    optionsFor(server.folder, { sshConfigFile: server.config, sshClient, ...more });

  describe(`a login with a second factor (${sshClient})`, { timeout: 300_000 }, () => {
    it("is asked for it once, whatever is done over it, and never by itself", async () => {
      const tried: string[] = [];
      const server = await served({ authenticate: keyAndCode(tried), exec: echoing });
      const prompter = new ScriptedPerson(false, ["123456"]);
      const transport = await connect(options(server, { prompter }), true);
      const words = ["a", "b", "c", "d", "e"];
      const answers = await Promise.all(words.map(async (word) => (await run(await transport.open(word))).stdout));
      assert.deepEqual(answers, words);
      assert.deepEqual(tried, ["keyboard-interactive"]);
      assert.equal(prompter.questions.length, 1);
      assert.equal(server.connections.length, 1);
      // The link is lost: who comes back by himself asks nobody, and answers nothing.
      for (const socket of server.sockets) socket.destroy();
      const again = await refusal(options(server, { prompter }));
      assert.equal(again.reason, "needs-login");
      assert.deepEqual(tried, ["keyboard-interactive"]);
      assert.equal(prompter.questions.length, 1);
    });

    it("that was refused is not repeated by itself, and says so, for as long as nobody clicks", async () => {
      const tried: string[] = [];
      const server = await served({ authenticate: keyAndCode(tried) });
      const { monitor, clock, row, calls } = monitored(
        options(server, { prompter: new ScriptedPerson(false, ["000000"]) }),
      );
      await assert.rejects(monitor.connect(true), (error) => isConnectError(error) && error.reason === "login-refused");
      assert.equal(row(), "login-refused");
      const { length } = server.connections;
      for (let minute = 0; minute < 60; minute++) await clock.pass(60_000);
      assert.deepEqual(tried, ["keyboard-interactive"]);
      assert.equal(calls(), 1);
      assert.equal(server.connections.length, length);
      assert.equal(row(), "login-refused");
    });

    it("that nobody was asked for stands as needs-login, and is not tried again by itself", async () => {
      const tried: string[] = [];
      const server = await served({ authenticate: keyAndCode(tried) });
      const { monitor, clock, row, calls } = monitored(options(server));
      await assert.rejects(monitor.connect(false), (error) => isConnectError(error) && error.reason === "needs-login");
      const { length } = server.connections;
      for (let minute = 0; minute < 60; minute++) await clock.pass(60_000);
      assert.deepEqual(tried, []);
      assert.equal(calls(), 1);
      assert.equal(server.connections.length, length);
      assert.equal(row(), "needs-login");
    });
  });

  describe(`time limits of a login (${sshClient})`, { timeout: 300_000 }, () => {
    it("stand still while somebody thinks", async () => {
      const tried: string[] = [];
      const server = await served({ authenticate: keyAndCode(tried), exec: echoing });
      const clock = new FakeClock();
      let answer: ((code: string) => void) | undefined;
      const prompter: Prompter = {
        confirmHostKey: () => Promise.resolve(false),
        ask: () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      };
      const connecting = connect(options(server, { clock, prompter }), true);
      await until("the question", () => answer !== undefined);
      for (let minute = 0; minute < 30; minute++) clock.pass(60_000);
      answer?.("123456");
      assert.equal((await run(await (await connecting).open("in time"))).stdout, "in time");
    });

    it("end one that a host does not answer", async () => {
      const silent = createServer((socket: Socket) => socket.on("error", () => undefined));
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const sockets: Socket[] = [];
      silent.on("connection", (socket) => sockets.push(socket));
      later(() => {
        for (const socket of sockets) socket.destroy();
        silent.close();
      });
      const server = await served({}, ["HostName 127.0.0.1", `Port ${(silent.address() as AddressInfo).port}`]);
      const clock = new FakeClock();
      const refused = refusal(options(server, { clock }));
      await until("a connection", () => sockets.length > 0);
      const ticking = setInterval(() => {
        clock.pass(1000);
      }, 5);
      const error = await refused.finally(() => {
        clearInterval(ticking);
      });
      assert.equal(error.reason, "unreachable");
      assert.match(error.message, /did not answer for 20 s/);
    });
  });

  it(
    `a connection that breaks at any moment is an error in words, never one that nobody hears (${sshClient})`,
    { timeout: 300_000 },
    async () => {
      const unheard: unknown[] = [];
      const hear = (error: unknown): void => {
        unheard.push(error);
      };
      process.on("uncaughtException", hear);
      process.on("unhandledRejection", hear);
      try {
        const cut = (socket: Socket | undefined): void => {
          socket?.resetAndDestroy();
        };
        for (const moment of ["connect", "auth", "partial", "session"] as const) {
          const server = await served({
            authenticate: (context) => {
              if (moment === "auth" || (moment === "partial" && context.method === "publickey"))
                cut(server.sockets.at(-1));
              else if (context.method === "none") context.reject(["publickey"]);
              else context.accept();
            },
            exec: () => {
              cut(server.sockets.at(-1));
            },
            onConnection: () => {
              if (moment === "connect") cut(server.sockets.at(-1));
            },
          });
          const connecting = connect(options(server));
          if (moment === "session") {
            const transport = await connecting;
            const lost = new Promise((resolve) => transport.onDidClose(resolve));
            const ended = transport.open("x").then(run, () => undefined);
            assert.notEqual((await ended)?.exit.kind, "code");
            await lost;
          } else {
            await assert.rejects(
              connecting,
              (error) => isConnectError(error) && error.reason === "unreachable",
              moment,
            );
          }
        }
      } finally {
        process.off("uncaughtException", hear);
        process.off("unhandledRejection", hear);
      }
      assert.deepEqual(unheard, []);
    },
  );

  it(
    `nothing of the user's is forwarded, and nothing is compressed, whatever is configured (${sshClient})`,
    { timeout: 300_000 },
    async () => {
      const wishes: string[] = [];
      const agreed: unknown[] = [];
      const server = await served(
        {
          exec: echoing,
          onConnection: (connection) => {
            connection.on("handshake", ({ cs, sc }) => agreed.push([cs.compress, sc.compress]));
            connection.on("session", () => undefined);
            connection.on("request", (_accept, reject, name) => {
              wishes.push(name);
              reject?.();
            });
          },
          onSession: (session) => {
            session.on("auth-agent", (_accept, reject) => {
              wishes.push("auth-agent");
              reject();
            });
            session.on("x11", () => wishes.push("x11"));
            session.on("env", (_accept, reject, info) => {
              wishes.push(`env ${info.key}`);
              reject();
            });
          },
        },
        ["ForwardAgent yes", "ForwardX11 yes", "RemoteForward 1234 127.0.0.1:1"],
      );
      const transport = await connect(
        options(server, { env: { PATH: process.env["PATH"], SSH_AUTH_SOCK: "/nowhere" } }),
      );
      assert.equal((await run(await transport.open("plain"))).stdout, "plain");
      assert.deepEqual(wishes, []);
      assert.deepEqual(agreed, [["none", "none"]]);
    },
  );
}

describe("questions", () => {
  it("are put one at a time, in order, also when one of them fails", async () => {
    let open = 0;
    const seen: string[] = [];
    const prompter: Prompter = {
      confirmHostKey: async ({ host }) => {
        assert.equal(++open, 1);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        seen.push(host);
        return true;
      },
      ask: async ({ prompt }) => {
        assert.equal(++open, 1);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        seen.push(prompt);
        if (prompt === "bad") throw new Error("the box would not open");
        return prompt;
      },
    };
    const person = inTurn(prompter);
    const ask = (prompt: string): Promise<string | undefined> => person.ask({ title: "", prompt, secret: true });
    const key = { keyType: "ssh-ed25519", fingerprint: "SHA256:x" };
    const answers = await Promise.allSettled([
      ask("one"),
      ask("bad"),
      person.confirmHostKey({ ...key, host: "gpu8" }),
      ask("two"),
    ]);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      ["fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(seen, ["one", "bad", "gpu8", "two"]);
  });
});
