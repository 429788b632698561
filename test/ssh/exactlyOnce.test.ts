import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { HostOps } from "../../src/core/ports";
import { createConnector } from "../../src/ssh/connector";
import { hostAt, optionsFor } from "./connection";
import { startSshd, type Sshd } from "./sshd";
import { writeSshConfig } from "./sshConfigFile";

const connections = 5;
const launches = 50;

async function connectTo(t: TestContext, sshd: Sshd): Promise<HostOps> {
  const connector = createConnector(optionsFor(sshd.folder, { sshConfigFile: writeSshConfig(sshd, "box") }));
  const host = { ...hostAt({ kind: "alias", alias: "box" }), stateDir: join(sshd.folder, "state") };
  const ops = await connector.connect(host, false, new AbortController().signal);
  t.after(() => {
    ops.dispose();
  });
  return ops;
}

test(`${launches} launches at once over ${connections} connections start one run, and the others name it`, async (t) => {
  const sshd = await startSshd();
  t.after(() => sshd.stop());
  const started = join(sshd.folder, "started");
  const all = await Promise.all(Array.from({ length: connections }, () => connectTo(t, sshd)));
  const request = {
    session: "night",
    stage: "train",
    member: "0",
    command: `echo $$ >> ${started}; exec sleep 600`,
    env: {},
    launchedFrom: "tester@here",
  };
  const outcomes = await Promise.all(
    Array.from({ length: launches }, (_, i) => {
      const ops = all[i % connections];
      assert.ok(ops);
      return ops.launch(request);
    }),
  );
  const runs = outcomes.flatMap((outcome) => ("record" in outcome ? [outcome.record.run] : []));
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  t.diagnostic(`${count("launched")} launched, ${count("already-running")} refused by the name of the run`);
  assert.equal(count("launched"), 1, JSON.stringify(outcomes.filter(({ kind }) => kind === "refused")));
  assert.equal(count("already-running"), launches - 1);
  assert.equal(runs.length, launches);
  assert.equal(new Set(runs).size, 1);
  assert.equal(readFileSync(started, "utf8").trim().split("\n").length, 1);
  const [first] = all;
  assert.ok(first);
  assert.equal((await first.records("night")).length, 1);
  const stop = { signal: "TERM", graceSeconds: 5, requestedBy: "tester@here" } as const;
  assert.equal((await first.stop("night", runs[0] ?? "", stop)).kind, "stopped");
});

test("a job outlives its connection, the restart of sshd and the death of the program that launched it", async (t) => {
  const sshd = await startSshd();
  t.after(() => sshd.stop());
  const log = join(sshd.folder, "numbers.log");
  const go = join(sshd.folder, "go");
  // It ends with its last line, after it was let go: all lines must be there although nobody was.
  const command = `for n in 1 2 3 4 5; do echo line $n; done; until [ -e ${go} ]; do sleep 0.1; done; for n in 6 7 8; do echo line $n; done`;
  const request = { session: "night", stage: "train", member: "0", command, env: {}, log, launchedFrom: "tester@here" };

  // A process of its own launches and is killed with all it has, as an extension host may be.
  const child = spawn(process.execPath, ["scripts/run.mjs", "test/ssh/launchAndWait.ts"], {
    env: {
      ...process.env,
      ML_TEST_SSHD: JSON.stringify({ ...sshd, knownHostsLine: sshd.knownHostsLine, request }),
    },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const run = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, found] = /^launched (\S+)\n/m.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.on("exit", (code) => {
      reject(new Error(`it ended with ${code ?? "a signal"}: ${said}`));
    });
  });
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await sshd.restartWithNewHostKey();

  const ops = await connectTo(t, sshd);
  const find = async (): Promise<Awaited<ReturnType<HostOps["records"]>>[number] | undefined> =>
    (await ops.records("night")).find((record) => record.run === run);
  assert.equal((await find())?.liveness, "running");
  ops.dispose();

  writeFileSync(go, "");
  const again = await connectTo(t, sshd);
  const over = new AbortController();
  t.after(() => {
    over.abort();
  });
  for await (const records of again.watchRecords("night", over.signal)) {
    const record = records.find((one) => one.run === run);
    if (record?.end === undefined) continue;
    assert.deepEqual(record.end.exit, { kind: "code", code: 0 });
    break;
  }
  assert.equal(readFileSync(log, "utf8"), Array.from({ length: 8 }, (_, i) => `line ${i + 1}\n`).join(""));
});
