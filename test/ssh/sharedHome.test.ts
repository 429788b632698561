import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { HostOps, LaunchRequest, RunRecord } from "../../src/core/ports";
import { createConnector } from "../../src/ssh/connector";
import { hostAt, optionsFor } from "./connection";
import { startSshd, type Sshd } from "./sshd";
import { writeSshConfig } from "./sshConfigFile";

/** Whether this process may give a part of the machine another name and machine id. */
function canBeTwoHosts(): boolean {
  try {
    execFileSync("unshare", ["--mount", "--uts", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const skip =
  canBeTwoHosts() && existsSync("/etc/machine-id")
    ? false
    : "no /etc/machine-id, or unshare --mount --uts is not allowed: there is only one host";

test("two hosts that share one home leave each other's runs alone, and judge their own", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "shared-home-"));
  const machine = join(folder, "machine-id");
  writeFileSync(machine, `${"ab".repeat(16)}\n`);
  // What a login there finds as its machine: another name and another id, over the same file system.
  const login = join(folder, "login1.sh");
  const name = `hostname login1 && mount --bind ${machine} /etc/machine-id && eval "$SSH_ORIGINAL_COMMAND"`;
  writeFileSync(login, `#!/bin/sh\nexec unshare --mount --uts sh -c '${name}'\n`, { mode: 0o755 });
  const gpu8 = await startSshd();
  const login1 = await startSshd({ config: [`ForceCommand ${login}`] });
  const opened: HostOps[] = [];
  t.after(async () => {
    for (const ops of opened) ops.dispose();
    await Promise.all([gpu8.stop(), login1.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const connect = async (sshd: Sshd): Promise<HostOps> => {
    const connector = createConnector(optionsFor(sshd.folder, { sshConfigFile: writeSshConfig(sshd, "box") }));
    const host = { ...hostAt({ kind: "alias", alias: "box" }), stateDir: join(folder, "state") };
    const ops = await connector.connect(host, false, new AbortController().signal);
    opened.push(ops);
    return ops;
  };
  const here = await connect(gpu8);
  const there = await connect(login1);
  assert.equal(there.identity.hostname, "login1");
  assert.notEqual(here.identity.machineId, there.identity.machineId);

  const request: LaunchRequest = {
    session: "shared",
    stage: "train",
    member: "0",
    command: "exec sleep 300",
    env: {},
    launchedFrom: "tester@here",
  };
  const { run, process: job } = await launched(here, request);

  const seenThere = (await there.records("shared")).find((record) => record.run === run);
  assert.equal(seenThere?.liveness, "elsewhere");
  assert.equal(seenThere.recordedOn.hostname, here.identity.hostname);
  assert.equal((await there.stop("shared", run, stopRequest)).kind, "refused");

  // It dies without a word: its own host says so, the other still does not judge.
  const pid = job?.pid ?? 0;
  const wrapper = Number(
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[1],
  );
  for (const victim of [wrapper, pid]) if (victim > 1) process.kill(victim, "SIGKILL");
  await gone(pid);
  assert.equal((await here.records("shared")).find((record) => record.run === run)?.liveness, "gone");
  assert.equal((await there.records("shared")).find((record) => record.run === run)?.liveness, "elsewhere");

  // The stage may run on the other host by its own record; nothing of the first is overwritten.
  await launched(there, { ...request, command: "exit 3" });
  const all = await there.records("shared");
  assert.equal(all.filter((record) => record.recordedOn.hostname === "login1").length, 1);
  assert.ok(all.some((record) => record.run === run));
});

const stopRequest = { signal: "TERM", graceSeconds: 1, requestedBy: "tester@there" } as const;

async function launched(ops: HostOps, request: LaunchRequest): Promise<RunRecord> {
  const outcome = await ops.launch(request);
  if (outcome.kind !== "launched") throw new Error(JSON.stringify(outcome));
  return outcome.record;
}

async function gone(pid: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const wait = spawn("tail", [`--pid=${pid}`, "-s", "0.1", "-f", "/dev/null"], { stdio: "ignore" });
    wait.on("exit", () => {
      resolve();
    });
  });
}
