import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import ssh2, { type Client, type ClientChannel, type ConnectConfig } from "ssh2";
import type { Logger } from "../../src/core/ports";
import { newKeyPair, startServer } from "../../src/demo/ssh/embeddedServer";
import { processesOf } from "../../src/demo/ssh/leftovers";

const quiet: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const linux = { skip: process.platform !== "linux" };

interface Started {
  readonly home: string;
  readonly config: ConnectConfig;
  readonly stop: () => void;
}

async function server(t: TestContext): Promise<Started> {
  const home = await mkdtemp(join(tmpdir(), "demo-server-"));
  const host = newKeyPair();
  const client = newKeyPair();
  const env = { HOME: home, PATH: "/usr/bin:/bin", USER: "demo" };
  const options = { user: "demo", hostKey: host.private, clientKey: client.public, cwd: home, env, logger: quiet };
  const started = await startServer(options);
  const stop = (): void => {
    started.dispose();
  };
  t.after(async () => {
    stop();
    await rm(home, { recursive: true, force: true });
  });
  const config = { host: "127.0.0.1", port: started.port, username: "demo", privateKey: client.private };
  return { home, config, stop };
}

async function login(t: TestContext, config: ConnectConfig): Promise<Client> {
  const client = new ssh2.Client();
  t.after(() => client.end());
  client.connect(config);
  await once(client, "ready");
  client.on("error", () => undefined);
  return client;
}

function open(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error !== undefined) {
        reject(error);
        return;
      }
      results.set(channel, listen(channel));
      resolve(channel);
    });
  });
}

interface Result {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
  readonly signal: string | undefined;
}

const results = new WeakMap<ClientChannel, Promise<Result>>();

/** Listens at once: a short command's end may come in the same packet as its beginning. */
async function listen(channel: ClientChannel): Promise<Result> {
  const seen = { out: "", err: "" };
  channel.setEncoding("latin1").on("data", (data: string) => (seen.out += data));
  channel.stderr.setEncoding("latin1").on("data", (data: string) => (seen.err += data));
  let end: [number | null, string | undefined] = [null, undefined];
  channel.on("exit", (code: number | null, signal?: string) => (end = [code, signal]));
  await once(channel, "close");
  return { ...seen, code: end[0], signal: end[1] };
}

async function result(channel: ClientChannel): Promise<Result> {
  const promise = results.get(channel);
  assert.ok(promise);
  return promise;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

test("commands run with their own home, and both outputs and the exit code arrive", linux, async (t) => {
  const { home, config } = await server(t);
  const client = await login(t, config);
  const run = async (command: string): Promise<Result> => result(await open(client, command));
  assert.deepEqual(await run("pwd; echo $HOME; echo no >&2; exit 3"), {
    out: `${home}\n${home}\n`,
    err: "no\n",
    code: 3,
    signal: undefined,
  });
  assert.equal((await run("nohup huggingface-cli download x </dev/null")).code, 127);
  assert.equal((await run("kill -KILL $$")).signal, "SIGKILL");
  assert.equal((await run("tr '\\0' x </dev/zero | head -c 5000000")).out.length, 5_000_000);
  assert.equal((await run("tr '\\0' x </dev/zero | head -c 5000000 >&2")).err.length, 5_000_000);
});

test("what the client sends is the command's input, also when the command does not want it", linux, async (t) => {
  const { config } = await server(t);
  const client = await login(t, config);
  const counted = await open(client, "wc -c");
  counted.end("y".repeat(3_000_000));
  assert.equal((await result(counted)).out.trim(), "3000000");
  const deaf = await open(client, "exec true");
  deaf.end("y".repeat(3_000_000));
  assert.equal((await result(deaf)).code, 0);
});

test("channels of one connection run side by side", linux, async (t) => {
  const { config } = await server(t);
  const client = await login(t, config);
  const channels = await Promise.all(Array.from({ length: 8 }, () => open(client, "read -r line; echo $line")));
  const ends = channels.map(result);
  for (const [index, channel] of channels.entries()) channel.end(`line ${index}\n`);
  assert.deepEqual(
    (await Promise.all(ends)).map((each) => each.out),
    channels.map((_, index) => `line ${index}\n`),
  );
});

test(
  "signals reach the whole group; so does the end of a channel, of a connection and of the server",
  linux,
  async (t) => {
    const { home, config, stop } = await server(t);
    const client = await login(t, config);
    const group = "sleep 300 & sleep 300; :";
    const signalled = await open(client, group);
    const ended = result(signalled);
    await until(() => processesOf(home).length >= 3);
    signalled.signal("TERM");
    assert.equal((await ended).signal, "SIGTERM");
    await until(() => processesOf(home).length === 0);

    const closed = await open(client, group);
    await until(() => processesOf(home).length >= 3);
    closed.close();
    await until(() => processesOf(home).length === 0);

    const cut = await login(t, config);
    await open(cut, `trap '' HUP; ${group}`);
    await until(() => processesOf(home).length >= 3);
    cut.destroy();
    await until(() => processesOf(home).length === 0);

    await open(client, group);
    await until(() => processesOf(home).length >= 3);
    stop();
    await until(() => processesOf(home).length === 0);
  },
);

test("nobody else gets in, and nothing but commands is offered", linux, async (t) => {
  const { config } = await server(t);
  const refused = async (changed: ConnectConfig): Promise<void> => {
    const client = new ssh2.Client();
    client.connect(changed);
    const [error] = (await once(client, "error")) as [Error];
    assert.match(error.message, /authentication/);
    client.end();
  };
  const { privateKey, ...open } = config;
  await refused({ ...open, password: "demo" });
  await refused(open);
  await refused({ ...open, privateKey: newKeyPair().private });
  await refused({ ...config, username: "root" });
  assert.notEqual(privateKey, undefined);
  const client = await login(t, config);
  await assert.rejects(
    new Promise((_, reject) =>
      client.shell((error) => {
        reject(error ?? new Error("a shell"));
      }),
    ),
    /Unable|failed|reject/i,
  );
  await assert.rejects(
    new Promise((_, reject) =>
      client.sftp((error) => {
        reject(error ?? new Error("sftp"));
      }),
    ),
    /Unable|failed|reject/i,
  );
  await assert.rejects(
    new Promise((_, reject) =>
      client.forwardOut("127.0.0.1", 1, "127.0.0.1", 22, (error) => {
        reject(error ?? new Error("a tunnel"));
      }),
    ),
    /open failure/i,
  );
});
