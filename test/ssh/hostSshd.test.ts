import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { HostDefinition } from "../../src/core/session/definition";
import type { HostOps, Transport } from "../../src/core/ports";
import { connectTransport } from "../../src/ssh/connect";
import { openHost } from "../../src/ssh/hostOps";
import { hostAt, optionsFor } from "./connection";
import { Follower } from "./hostFollowBodies";
import { commandOf, isOfRecorder, kill, processesWith, realClock, until, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";
import { startRelay, type Relay } from "./relay";
import { startSshd, type Sshd } from "./sshd";

/** A real sshd whose sessions carry a mark, so that what they leave is found, and an empty home, so that no start-up file waits. */
interface Remote {
  readonly server: Sshd;
  readonly work: string;
  readonly mark: string;
  /** What all connections go over. */
  readonly relay: Relay;
  readonly connect: (silenceSeconds?: number) => Promise<HostOps>;
}

async function withRemote(config: readonly string[], body: (remote: Remote) => Promise<void>): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "mls-sshd-"));
  const mark = `MLS_TEST_MARK=${work}`;
  const server = await startSshd({ config: [...config, `SetEnv ${mark} HOME=${work}`] });
  const relay = await startRelay(server.port);
  const open: HostOps[] = [];
  try {
    const sshConfigFile = join(server.folder, "config");
    const knownHosts = join(server.folder, "known_hosts");
    writeFileSync(knownHosts, `${server.knownHostsLine.replace(String(server.port), String(relay.port))}\n`);
    const lines = ["Host box", "HostName 127.0.0.1", `Port ${relay.port}`, `User ${server.user}`];
    lines.push(`IdentityFile ${server.userKeyFile}`, `UserKnownHostsFile ${knownHosts}`);
    writeFileSync(sshConfigFile, `${lines.join("\n")}\n`);
    const definition: HostDefinition = {
      ...hostAt({ kind: "alias", alias: "box" }),
      stateDir: join(work, "state"),
    };
    const connect = async (silenceSeconds?: number): Promise<HostOps> => {
      const transport: Transport = await connectTransport(
        definition,
        false,
        new AbortController().signal,
        optionsFor(server.folder, { sshConfigFile }),
      );
      const ops = await openHost(transport, definition, {
        clock: realClock,
        logger: optionsFor(server.folder).logger,
        ...(silenceSeconds === undefined ? {} : { silenceSeconds }),
      });
      open.push(ops);
      return ops;
    };
    await body({ server, work, mark, relay, connect });
  } finally {
    for (const ops of open) ops.dispose();
    await relay.stop();
    await server.stop();
    for (const pid of processesWith(mark)) kill(pid);
    rmSync(work, { recursive: true, force: true });
  }
}

/** Twelve logs, a watch of the records and one of the GPUs, and a launch beside them all. */
async function twelveLogs({ work, connect }: Remote): Promise<void> {
  const ops = await connect();
  const over = new AbortController();
  const paths = Array.from({ length: 12 }, (_, index) => join(work, `log ${index}`));
  // The last one is made while it is waited for.
  for (const path of paths.slice(0, 11)) writeFileSync(path, "one\n");
  const host = { ops } as TestHost;
  const followers = paths.map((path) => new Follower(host, path, { kind: "end", bytes: 1e9 }));
  const watch = ops.watchRecords("night", over.signal)[Symbol.asyncIterator]();
  const gpus = ops.gpus(1, over.signal)[Symbol.asyncIterator]();
  assert.equal((await watch.next()).done, false);
  assert.equal((await gpus.next()).done, false);
  await until("the last one is missing", () => followers[11]?.kinds[0] === "missing", 60);
  for (const [index, path] of paths.entries()) appendFileSync(path, `two ${index}\n`);
  await until(
    () => `all twelve to be read: ${followers.map(({ text }) => JSON.stringify(text)).join(" ")}`,
    () => followers.every(({ text }, index) => text === `${index === 11 ? "" : "one\n"}two ${index}\n`),
    60,
  );
  const request = { session: "night", stage: "a", member: "0", command: "exit 3", env: {}, launchedFrom: "t@l" };
  const record = launched(await ops.launch({ ...request, cwd: work }));
  const seen = await watch.next();
  assert.equal(seen.done === true ? undefined : seen.value[0]?.run, record.run);
  over.abort(new Error("enough"));
  await Promise.all(followers.map((follower) => follower.stop()));
}

describe("a host over OpenSSH", () => {
  for (const sessions of [1, 2, 10]) {
    it(`follows twelve logs and launches where MaxSessions is ${sessions}`, { timeout: 240_000 }, () =>
      withRemote([`MaxSessions ${sessions}`], twelveLogs),
    );
  }

  it(
    "leaves nothing but the job and the recorder of the night behind an sshd that was killed",
    { timeout: 240_000 },
    () =>
      withRemote([], async ({ server, work, mark, connect }) => {
        const ops = await connect();
        const log = join(work, "job.log");
        mkdirSync(join(work, "cwd"));
        const request = {
          session: "night",
          stage: "a",
          member: "0",
          command: "sleep 300",
          env: {},
          launchedFrom: "t@l",
        };
        const record = launched(await ops.launch({ ...request, cwd: join(work, "cwd"), log }));
        const follower = new Follower({ ops } as TestHost, log, { kind: "end", bytes: 1e9 });
        const watch = ops.watchRecords("night", new AbortController().signal)[Symbol.asyncIterator]();
        await watch.next();
        await until("opened", () => follower.kinds.includes("opened"), 60);
        const lost = watch.next().catch(() => undefined);
        for (const pid of sessionsOf(server)) kill(pid);
        await lost;
        await follower.done;
        const others = (): number[] => processesWith(mark).filter((pid) => !ofJob(pid, record.run));
        await until(
          () => `only the job: ${others().map(commandOf).join("; ")}`,
          () => others().length === 0,
          60,
        );
        assert.ok(processesWith(`ML_SESSION_RUN=${record.run}`).length > 0);
      }),
  );

  it("ends what it runs there after a silence, and goes on when asked again", { timeout: 240_000 }, () =>
    withRemote([], async ({ mark, relay, connect, work }) => {
      const ops = await connect(6);
      const over = new AbortController();
      writeFileSync(join(work, "log"), "one\n");
      const follower = new Follower({ ops } as TestHost, join(work, "log"), { kind: "end", bytes: 1e9 });
      const watch = ops.watchRecords("night", over.signal)[Symbol.asyncIterator]();
      await watch.next();
      // Both sides hear nothing of each other.
      await relay.suffer("stall");
      await assert.rejects(async () => {
        while ((await watch.next()).done !== true);
      });
      await follower.stop();
      await until("nothing runs", () => processesWith(mark).length === 0, 60);
      await relay.suffer();
      assert.deepEqual(await ops.records("night"), []);
    }),
  );
});

/** Processes of logged-in sessions: sshd's children and theirs. */
function sessionsOf(server: Sshd): number[] {
  const daemon = readFileSync(join(server.folder, "pid"), "utf8").trim();
  const below = (pid: string): string[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return below(daemon).map(Number);
}

/** The job, the wrapper that writes its verdict, and what remembers the night as long as a job runs. */
function ofJob(pid: number, run: string): boolean {
  return commandOf(pid).includes(run) || processesWith(`ML_SESSION_RUN=${run}`).includes(pid) || isOfRecorder(pid);
}
