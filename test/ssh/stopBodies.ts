import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { RunRecord, StopOutcome } from "../../src/core/ports";
import { makeTestHost, processesWith, shadow, until, type MakeTransport, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";

const patience = 60;
const nobody = 65534;

/** Stopping what a run has started, and nothing else: the same under every shell. */
export function stopBehaviour(name: string, shell: string, makeTransport: MakeTransport): void {
  describe(`stopping under ${name}`, () => {
    let host: TestHost;
    let count = 0;
    const planted: ChildProcess[] = [];
    before(async () => {
      host = await makeTestHost(shell, makeTransport);
      writeFileSync(join(host.work, "nvidia-smi"), fakeSmi(host.work));
      chmodSync(join(host.work, "nvidia-smi"), 0o755);
      shadow(host, "nvidia-smi", join(host.work, "nvidia-smi"));
      setApps(host, []);
    });
    after(() => {
      for (const one of planted) one.kill("SIGKILL");
      host.dispose();
    });
    const launch = async (command: string): Promise<RunRecord> =>
      launched(await host.ops.launch(host.request({ stage: `stop${count++}`, command })));
    const stop = (run: string, graceSeconds = 5): Promise<StopOutcome> =>
      host.ops.stop("night", run, { signal: "TERM", graceSeconds, requestedBy: "me@laptop" });
    const plant = (args: readonly string[], env: Record<string, string>, uid?: number): ChildProcess => {
      const child = spawn("/bin/sleep", args, {
        env: { PATH: "/usr/bin:/bin", ...env },
        stdio: "ignore",
        ...(uid === undefined ? {} : { uid, gid: uid }),
      });
      planted.push(child);
      return child;
    };

    it("finds workers in sessions of their own: setsid, double fork, and those with an empty environment", async () => {
      const worker = (seconds: number): string => `sleep ${seconds}`;
      const command = [
        `setsid ${worker(30_001)} &`,
        `(setsid sh -c '${worker(30_002)} & exit' &)`,
        `setsid sh -c 'for i in 1 2; do setsid ${worker(30_003)} & done; wait' &`,
        `env -i /usr/bin/setsid /bin/sleep 30004 &`,
        `sleep 30005; true`,
      ].join("\n");
      const record = await launch(command);
      const workers = (): number[] => [30_001, 30_002, 30_003, 30_004, 30_005].flatMap((n) => sleepers(n));
      await until("six workers", () => workers().length === 6, patience);
      const outcome = await stop(record.run);
      assert.equal(outcome.kind, "stopped", JSON.stringify(outcome));
      assert.deepEqual(workers(), []);
    });

    it("leaves look-alikes alone: another mark, the mark's text elsewhere, another user", async () => {
      const record = await launch("sleep 30011; true");
      const mark = `ML_SESSION_RUN=${record.run}`;
      const alikes = [
        plant(["30011"], { ML_SESSION_RUN: "20261201T220000Z-00000000" }),
        plant(["30011"], { ML_SESSION_RUN: `${record.run}x` }),
        plant(["30011"], { [`OLD_ML_SESSION_RUN`]: record.run }),
        plant(["30011"], { NOTE: `see ${mark}` }),
        plant(["30011"], {}),
      ];
      const inArguments = spawn("/bin/sh", ["-c", "sleep 30012; :", mark], { stdio: "ignore", detached: true });
      planted.push(inArguments);
      const foreign = process.getuid?.() === 0 ? plant(["30013"], { ML_SESSION_RUN: record.run }, nobody) : undefined;
      await until("what is planted", () => sleepers(30_012).length === 1, patience);
      const outcome = await stop(record.run);
      assert.ok(outcome.kind === "stopped", JSON.stringify(outcome));
      for (const one of [...alikes, inArguments, ...(foreign ? [foreign] : [])]) {
        assert.ok(isAlive(one.pid), `${one.spawnargs.join(" ")} is unharmed`);
      }
      if (foreign) {
        assert.match((outcome.others ?? []).join(), new RegExp(`process ${foreign.pid ?? 0} \\(sleep\\) of nobody`));
      }
      const again = await stop(record.run);
      assert.equal(again.kind, "not-running");
      process.kill(-(inArguments.pid ?? 0), "SIGKILL");
    });

    it("ends what is left of a run that failed by itself, and leaves its verdict", async () => {
      const record = await launch("setsid sleep 30021 & sleep 0.2; exit 3");
      await until("the end", async () => (await recordOf(host, record.run)).end !== undefined, patience);
      assert.equal(sleepers(30_021).length, 1);
      assert.equal((await stop(record.run)).kind, "stopped");
      assert.deepEqual(sleepers(30_021), []);
      const now = await recordOf(host, record.run);
      assert.deepEqual(now.end?.exit, { kind: "code", code: 3 });
      assert.equal(now.stopRequestedBy, undefined);
    });

    it("does not say stopped while the driver still counts memory of what it ended", async () => {
      const record = await launch("sleep 30031; true");
      const [worker] = await sleeper(30_031);
      setApps(host, [`${worker ?? 0}, GPU-a, 71000`, `${process.pid}, GPU-a, 6000`, `${process.pid}, GPU-b, 1`]);
      const outcome = await stop(record.run);
      assert.ok(outcome.kind === "not-stopped", JSON.stringify(outcome));
      assert.match(outcome.survivors.join(), new RegExp(`71000 MiB of GPU memory that process ${worker ?? 0} held`));
      setApps(host, []);
    });

    it("names who else is on the GPUs that the run used, and touches none of them", async () => {
      const record = await launch("sleep 30041; true");
      const [worker] = await sleeper(30_041);
      const other = plant(["30042"], {});
      const away = plant(["30043"], {});
      setApps(host, [`${worker ?? 0}, GPU-a, 71000`, `${other.pid ?? 0}, GPU-a, 6000`, `${away.pid ?? 0}, GPU-b, 9`]);
      const stopping = stop(record.run);
      await until("the worker's end", () => sleepers(30_041).length === 0, patience);
      setApps(host, [`${other.pid ?? 0}, GPU-a, 6000`, `${away.pid ?? 0}, GPU-b, 9`]);
      const outcome = await stopping;
      assert.ok(outcome.kind === "stopped", JSON.stringify(outcome));
      assert.match((outcome.others ?? []).join(), /\(sleep\) of .* holds 6000 MiB of a GPU that this run used/);
      assert.equal(outcome.others?.length, 1);
      assert.ok(isAlive(other.pid) && isAlive(away.pid));
    });

    it("says what a restart would meet: outputs, the newest checkpoint, what is left of older runs, GPUs", async () => {
      setApps(host, []);
      const cwd = join(host.work, "what 'is' $(there) é");
      mkdirSync(join(cwd, "out", "checkpoint-500"), { recursive: true });
      const stage = `stop${count}`;
      const record = await launch("setsid sleep 30051 & exit 1");
      writeFileSync(join(cwd, "out", "-a b.jsonl"), "x\n".repeat(18_000));
      writeFileSync(join(cwd, "out", "part\n2.jsonl"), "half a line");
      mkdirSync(join(cwd, "out", "checkpoint-1500"));
      writeFileSync(join(cwd, "out", "latest"), "checkpoint-1500");
      const [left] = await sleeper(30_051);
      setApps(host, [`${left ?? 0}, GPU-b, 71680`]);
      const work = await host.ops.existing({
        session: "night",
        stage,
        member: "0",
        cwd,
        outputs: ["out/*.jsonl", "none/*.jsonl"],
        countLines: true,
        checkpointsInCwd: true,
      });
      const [output] = work.outputs;
      assert.equal(work.outputs.length, 1);
      assert.equal(output?.pattern, "out/*.jsonl");
      assert.equal(output.lines, 18_000);
      assert.ok(output.bytes >= 36_000);
      assert.match(work.checkpoint?.path ?? "", /\/checkpoint-1500$/);
      assert.ok(Math.abs((work.checkpoint?.at ?? 0) - work.now) < 120_000);
      assert.deepEqual(work.processes, [{ run: record.run, pid: left, name: "sleep", live: false }]);
      assert.deepEqual(
        work.gpuHolders.map(({ pid, gpu, own, run, memoryMib }) => ({ pid, gpu, own, run, memoryMib })),
        [{ pid: left, gpu: 1, own: true, run: record.run, memoryMib: 71_680 }],
      );
      assert.equal((await stop(record.run)).kind, "not-stopped", "the driver still counts its memory");
      setApps(host, []);
      assert.deepEqual(sleepers(30_051), []);
    });
  });
}

function fakeSmi(folder: string): string {
  return `#!/bin/sh
case $* in
*--query-compute-apps=*) cat '${folder}/apps' ;;
*--query-gpu=index,uuid*) printf '0, GPU-a\\n1, GPU-b\\n' ;;
esac
`;
}

function setApps(host: TestHost, lines: readonly string[]): void {
  // Made whole: whoever reads in between would find no process at all.
  writeFileSync(join(host.work, "apps.new"), lines.map((line) => `${line}\n`).join(""));
  renameSync(join(host.work, "apps.new"), join(host.work, "apps"));
}

/** Living `sleep SECONDS` of whatever parent. */
function sleepers(seconds: number): number[] {
  return processesWith(`sleep\0${seconds}\0`);
}

async function sleeper(seconds: number): Promise<number[]> {
  await until(`sleep ${seconds}`, () => sleepers(seconds).length === 1, patience);
  return sleepers(seconds);
}

async function recordOf(host: TestHost, run: string): Promise<RunRecord> {
  const found = (await host.ops.records("night")).find((one) => one.run === run);
  assert.ok(found);
  return found;
}

function isAlive(pid: number | undefined): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid ?? 0}/stat`, "utf8"));
  } catch {
    return false;
  }
}
