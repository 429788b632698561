import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelay } from "../../src/core/backoff";
import { ConnectError, type ConnectFailure } from "../../src/core/errors";
import { FollowedLogs } from "../../src/core/followedLogs";
import { Emitter } from "../../src/core/lifecycle";
import { HostWatch } from "../../src/core/hostWatch";
import { Monitor } from "../../src/core/monitor";
import { OpenSessions } from "../../src/core/openSessions";
import type { HostConnector, HostOps } from "../../src/core/ports";
import type { HostDefinition } from "../../src/core/session/definition";
import { SessionStore } from "../../src/core/session/store";
import { HandClock, settled } from "./handClock";
import { definition, identity, stage } from "./sessions";

/** A host that shows nothing and can be cut. */
function emptyHost(): HostOps & {
  readonly cut: (why: string) => void;
  readonly redefined: HostDefinition[];
} {
  const redefined: HostDefinition[] = [];
  const closed = new Emitter<string>();
  async function* nothing(signal: AbortSignal): AsyncGenerator<never> {
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(new Error("aborted"));
      });
    });
    yield* [];
  }
  const never = (): Promise<never> => Promise.reject(new Error("not asked in this test"));
  return {
    identity,
    onDidClose: closed.event,
    redefined,
    redefine: (host) => {
      redefined.push(host);
    },
    records: () => Promise.resolve([]),
    watchRecords: (_, signal) => nothing(signal),
    launch: never,
    stop: never,
    follow: (_, __, signal) => nothing(signal),
    read: never,
    history: never,
    gpus: (_, signal) => nothing(signal),
    checkOutputs: never,
    tokenCounts: never,
    findTools: never,
    envFileNames: never,
    logWriter: never,
    existing: never,
    setAside: never,
    giveUpRetries: never,
    preflight: never,
    findProgram: never,
    dispose: () => undefined,
    cut: (why) => {
      closed.fire(why);
    },
  };
}

function monitorWith(connect: (interactive: boolean) => Promise<HostOps>): {
  readonly clock: HandClock;
  readonly monitor: Monitor;
  readonly connection: () => string;
  /** The session's file is saved with this host. */
  readonly save: (changes: Partial<HostDefinition>) => void;
} {
  const clock = new HandClock();
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  store.open("s", definition(stage("download")), 0);
  const connector: HostConnector = { connect: (_, interactive) => connect(interactive) };
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const loadWatch = (): Promise<{ readonly HostWatch: typeof HostWatch }> => Promise.resolve({ HostWatch });
  const monitor = new Monitor({ store, logs: new FollowedLogs(), clock, logger, loadWatch }, "s", "gpu8", connector);
  const save = (changes: Partial<HostDefinition>): void => {
    const plain = definition(stage("download"));
    const hosts = [...plain.hosts].map(([name, host]) => [name, { ...host, ...changes }] as const);
    store.open("s", { ...plain, hosts: new Map(hosts) }, clock.now());
    monitor.redefine();
  };
  return { clock, monitor, save, connection: () => store.sessions.get("s")?.hosts.get("gpu8")?.connection.kind ?? "" };
}

test("what needs a person stands until somebody clicks: no refused login is ever tried again", async () => {
  const reasons: ConnectFailure[] = [
    "needs-login",
    "login-refused",
    "host-key-changed",
    "host-key-unknown",
    "untrusted",
  ];
  for (const reason of reasons) {
    let tries = 0;
    const { clock, monitor, connection } = monitorWith(() => {
      tries++;
      return Promise.reject(new ConnectError(reason, "no"));
    });
    await assert.rejects(monitor.connect(true), /no/);
    await clock.pass(24 * 3600_000);
    assert.equal(tries, 1, reason);
    assert.equal(connection(), "failed");
  }
});

test("a host that is away is tried again by itself, ever more patiently, and never asks", async () => {
  const asked: boolean[] = [];
  let away = true;
  const { clock, monitor, connection } = monitorWith((interactive) => {
    asked.push(interactive);
    return away ? Promise.reject(new ConnectError("unreachable", "no route")) : Promise.resolve(emptyHost());
  });
  await assert.rejects(monitor.connect(true), /no route/);
  await clock.pass(60_000);
  const inAMinute = asked.length;
  assert.ok(inAMinute > 5 && inAMinute < 20, `${inAMinute} tries in a minute`);
  await clock.pass(3600_000);
  assert.ok(asked.length < inAMinute + 60 + 120, `${asked.length} tries in an hour`);
  away = false;
  await clock.pass(31_000);
  assert.equal(connection(), "connected");
  assert.deepEqual([...new Set(asked.slice(1))], [false]);
  monitor.dispose();
});

test("a lost link comes back by itself within a second of the network's return", async () => {
  const hosts: ReturnType<typeof emptyHost>[] = [];
  const { clock, monitor, connection } = monitorWith(() => {
    const host = emptyHost();
    hosts.push(host);
    return Promise.resolve(host);
  });
  await monitor.connect(true);
  assert.equal(connection(), "connected");
  hosts[0]?.cut("the link broke");
  await settled();
  assert.equal(connection(), "lost");
  await clock.pass(1000);
  assert.equal(connection(), "connected");
  assert.equal(hosts.length, 2);
  monitor.disconnect();
  await clock.pass(3600_000);
  assert.equal(connection(), "not-connected");
  assert.equal(hosts.length, 2);
});

test("after a lost link a try that hangs is begun anew, with the patience that the host has needed before", async () => {
  for (const { needed, patience } of [
    { needed: 300, patience: 5000 },
    { needed: 7000, patience: 21_000 },
  ]) {
    const tries: number[] = [];
    const late: HostOps[] = [];
    const hosts: ReturnType<typeof emptyHost>[] = [];
    const { clock, monitor, connection } = monitorWith(async () => {
      tries.push(clock.now());
      const host = emptyHost();
      hosts.push(host);
      if (tries.length === 2) {
        await clock.sleep(10 * patience);
        return { ...host, dispose: () => late.push(host) };
      }
      await clock.sleep(needed);
      return host;
    });
    const connecting = monitor.connect(true);
    await clock.pass(needed);
    await connecting;
    hosts[0]?.cut("the link broke");
    await clock.pass(1000 + patience + 1000 + needed);
    assert.equal(connection(), "connected", `${needed}`);
    const [, second = 0, third = 0] = tries;
    assert.ok(third - second >= patience && third - second <= patience + 1000, `${third - second} ms`);
    assert.equal(tries.length, 3);
    await clock.pass(10 * patience);
    assert.equal(late.length, 1, "a host that comes after all is let go");
    assert.equal(connection(), "connected");
    monitor.dispose();
  }
});

test("the patience with a host that answers ever more slowly grows, and nobody is hurried at the first try", async () => {
  let needed = 300;
  const { clock, monitor, connection } = monitorWith(async () => {
    const host = emptyHost();
    hosts.push(host);
    await clock.sleep(needed);
    return host;
  });
  const hosts: ReturnType<typeof emptyHost>[] = [];
  const connecting = monitor.connect(true);
  await clock.pass(needed);
  await connecting;
  needed = 15_000;
  hosts[0]?.cut("the link broke");
  await clock.pass(5000 + 10_000 + needed + 4000);
  assert.equal(connection(), "connected");
  assert.equal(hosts.length, 4);
  monitor.dispose();

  const first = monitorWith(() => clock.sleep(60_000).then(emptyHost));
  const slow = first.monitor.connect(true);
  await clock.pass(60_000);
  await slow;
  assert.equal(first.connection(), "connected");
  first.monitor.dispose();
});

test("what the session file says of a host counts at once; a host that is somewhere else now is let go", async () => {
  const hosts: ReturnType<typeof emptyHost>[] = [];
  let arrive: () => void = () => undefined;
  const { clock, monitor, connection, save } = monitorWith(async () => {
    const host = emptyHost();
    hosts.push(host);
    await new Promise<void>((resolve) => {
      arrive = resolve;
    });
    return host;
  });
  save({ path: ["/too-early"] });
  const connecting = monitor.connect(true);
  await settled();
  save({ path: ["/while-connecting"] });
  arrive();
  await connecting;
  assert.deepEqual(hosts[0]?.redefined.at(-1)?.path, ["/while-connecting"]);
  save({ path: ["/a"] });
  assert.deepEqual(hosts[0].redefined.at(-1)?.path, ["/a"]);
  assert.equal(connection(), "connected");
  save({ address: { kind: "alias", alias: "elsewhere" } });
  assert.equal(connection(), "not-connected");
  await clock.pass(3600_000);
  assert.equal(hosts.length, 1);
});

test("patience grows by doubling to half a minute, and never in step", () => {
  for (const now of [0, 1, 12_345, 1_790_000_000_000]) {
    const waits = Array.from({ length: 12 }, (_, tries) => retryDelay(tries, now));
    waits.forEach((wait, tries) => {
      const most = Math.min(30_000, 500 * 2 ** tries);
      assert.ok(wait <= most && wait >= most * 0.75, `${wait} of ${most}`);
    });
  }
  assert.ok(new Set([1, 2, 3, 4, 5].map((now) => retryDelay(20, now))).size === 5);
});

test("a link that breaks again and again is tried ever more patiently; one that held is tried at once", async () => {
  const hosts: ReturnType<typeof emptyHost>[] = [];
  const { clock, monitor } = monitorWith(() => {
    const host = emptyHost();
    hosts.push(host);
    return Promise.resolve(host);
  });
  await monitor.connect(true);
  for (let n = 0; n < 100; n++) {
    hosts.at(-1)?.cut("it broke at once");
    await clock.pass(1000);
  }
  assert.ok(hosts.length < 15, `${hosts.length} connections in 100 s`);
  await clock.pass(60_000);
  const before = hosts.length;
  hosts.at(-1)?.cut("it broke after a minute");
  await clock.pass(1000);
  assert.equal(hosts.length, before + 1);
  monitor.dispose();
});

test("a link that gives no sign of life when it is asked is made anew at once; one that does is kept", async () => {
  const hosts: ReturnType<typeof emptyHost>[] = [];
  let answers = true;
  const { clock, monitor, connection } = monitorWith(() => {
    const host = emptyHost();
    hosts.push(host);
    const ping = (): Promise<void> => (answers ? Promise.resolve() : new Promise<void>(() => undefined));
    return Promise.resolve({ ...host, ping });
  });
  await monitor.connect(true);
  await monitor.check();
  await clock.pass(60_000);
  assert.equal(hosts.length, 1);
  answers = false;
  void monitor.check();
  await clock.pass(10_000);
  assert.equal(hosts.length, 2);
  assert.equal(connection(), "connected");
  monitor.dispose();
});

test("after a sleep, and when another host is back, what is away is tried at once", async () => {
  const clock = new HandClock();
  const store = new SessionStore(() => ({ dispose: () => undefined }));
  const tries: string[] = [];
  let away = true;
  const connector: HostConnector = {
    connect: (host) => {
      tries.push(host.name);
      return away ? Promise.reject(new ConnectError("unreachable", "no route")) : Promise.resolve(emptyHost());
    },
  };
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const loadWatch = (): Promise<{ readonly HostWatch: typeof HostWatch }> => Promise.resolve({ HostWatch });
  const open = new OpenSessions({ store, logs: new FollowedLogs(), clock, logger, loadWatch });
  const plain = definition(stage("download"));
  const [host] = plain.hosts.values();
  assert.ok(host);
  const hosts = new Map(["gpu8", "other"].map((name) => [name, { ...host, name }]));
  open.open("s", { ...plain, hosts }, connector);
  await assert.rejects(open.connect("s", undefined, true), /no route/);
  await clock.pass(600_000);
  tries.length = 0;
  await clock.sleepThrough(3600_000);
  assert.deepEqual([...tries].sort(), ["gpu8", "other"], "both at once after the lid was opened");
  away = false;
  tries.length = 0;
  await open.connect("s", "gpu8", false);
  await settled();
  assert.deepEqual([...tries].sort(), ["gpu8", "other"], "one is back, so the other is tried");
  open.dispose();
});
