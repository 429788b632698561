import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunRecord } from "../../src/core/ports";
import { kill, makeTestHost, processesWith, until, type MakeTransport, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";

const stopping = { signal: "TERM", graceSeconds: 1, requestedBy: "tester@here" } as const;

/** Two GPUs, a line each at once and then each interval, as long as somebody reads; nothing for a question of another kind. */
const simulated = `#!/bin/sh
for word; do case $word in -lms) next=1 ;; *) [ "\${next-}" = 1 ] && every=$word; next= ;; esac; done
[ -n "\${every-}" ] || exit 0
while :; do
  printf '%s, GPU-%s, NVIDIA H200 (simulated), 98, 131000, 143771, 71, 640.12, 700.00\\n' 0 a 1 b
  sleep "$((every / 1000))"
done
`;

/** The flight recorder of a host, as launches start it: the same under every shell. */
export function recorderBehaviour(name: string, shell: string, makeTransport: MakeTransport, count = 20): void {
  describe(`the flight recorder under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(shell, makeTransport, {}, { recorderSeconds: 1 });
      const smi = join(host.home, "..", "bin", "nvidia-smi");
      writeFileSync(smi, simulated);
      chmodSync(smi, 0o755);
    });
    after(() => {
      host.dispose();
    });
    const flight = (): string => {
      const [folder] = readdirSync(join(host.state, "v1"));
      return join(host.state, "v1", folder ?? "", ".recorder");
    };
    /** All of them, by their command line. */
    const recorders = (): number[] => processesWith(`${join(flight(), "recorder.sh")}\0`).filter(leads);
    /** Another host of the tests on this machine may have a recorder as well. */
    const ofHere = (text: string): number[] => {
      const here = new Set(processesWith(join(host.home, "..")));
      return processesWith(text).filter((pid) => here.has(pid));
    };
    /** The one that has the lock. */
    const owner = (): number | undefined => {
      try {
        const pid = Number(readFileSync(join(flight(), "lock"), "utf8").split(" ")[0]);
        return leads(pid) ? pid : undefined;
      } catch {
        return undefined;
      }
    };
    const spool = (): string =>
      readdirSync(flight())
        .filter((file) => file.startsWith("spool."))
        .sort()
        .map((file) => readFileSync(join(flight(), file), "utf8"))
        .join("");
    const launch = async (member: string): Promise<RunRecord> => {
      const request = host.request({ stage: "s", member, command: "exec sleep 1000", env: { PLAIN: "of the job" } });
      return launched(await host.ops.launch(request));
    };
    const stopAll = async (records: readonly RunRecord[]): Promise<void> => {
      await Promise.all(records.map(({ run }) => host.ops.stop("night", run, stopping)));
    };

    it(`starts once for ${count} launches at once, keeps what is to be kept, and ends with the last of them`, async () => {
      const records = await Promise.all(Array.from({ length: count }, (_, i) => launch(`${i}`)));
      await until("all runs", () => (spool().match(/^S /gm) ?? []).length === count);
      assert.deepEqual(recorders(), [owner()]);
      const environment = readFileSync(`/proc/${owner() ?? 0}/environ`, "utf8");
      assert.doesNotMatch(environment, /ML_SESSION_RUN|ML_ENVIRONMENT|of the job/);
      const [record, ...others] = records;
      assert.ok(record);
      await until("a GPU", () => spool().includes("\nd 1, 98, 131000"));
      appendFileSync(record.log.path, "ten bytes\n");
      const number = new RegExp(`^S (\\d+) night/s/0/${record.run}$`, "m").exec(spool())?.[1] ?? "";
      const grown = new RegExp(`^s ${number} ${record.log.start.inode} 10$`, "m");
      await until("the growth of a log", () => grown.test(spool()));
      assert.match(spool(), /^h \d+\.\d+ \d+ \d+$/m);
      const times = [...spool().matchAll(/^t (\d+)$/gm)].map((match) => Number(match[1]));
      assert.ok(
        times.every((time) => Math.abs(time * 1000 - Date.now()) < 600_000),
        spool(),
      );
      await stopAll(others);
      const one = owner();
      assert.ok(one !== undefined);
      // It needs no connection.
      host.ops.dispose();
      Object.assign(host, { ops: await host.connect() });
      assert.equal(owner(), one);
      await stopAll([record]);
      await until("no recorder", () => !leads(one));
      await until("nothing of it", () => ofHere("GPU-").length + ofHere("recorder.sh\0").length === 0);
      assert.deepEqual(
        readdirSync(flight()).filter((file) => file.includes("lock")),
        [],
      );
    });

    it("counts what a run writes, and a window that was away has it from there", async () => {
      const outputs = join(host.work, "out");
      mkdirSync(outputs);
      writeFileSync(join(outputs, "a 1.jsonl"), "{}\n{}\n");
      const check = {
        files: [],
        outputs: { files: ["out/*.jsonl"], count: "lines" as const },
        watching: { maxAgeSeconds: 0 },
      };
      const request = host.request({ stage: "writes", command: "exec sleep 1000", outputs: check });
      const record = launched(await host.ops.launch(request));
      // Looks are made with `nice`, so on a busy machine they are late.
      await until("its outputs", () => / lines 2 6 \d+ -$/m.test(spool()), 240);
      // The next look may be half a minute away where the first took long: one shell has to do.
      const seen = ["lines 2 6"];
      if (name === "dash") {
        appendFileSync(join(outputs, "b.jsonl"), "{}\n");
        await until("more of them", () => / lines 3 9 \d+ -$/m.test(spool()), 240);
        seen.push("lines 3 9");
      }
      const { runs } = await host.ops.history(0);
      const marks = runs.find(({ run }) => run === record.run)?.outputs ?? [];
      assert.deepEqual([...new Set(marks.map(({ kind, count, bytes }) => `${kind} ${count} ${bytes}`))], seen); // prettier-ignore
      assert.ok(marks.every(({ at, newestAt = 0 }) => newestAt > 0 && newestAt <= at + 2000));
      // What a window asks for is the same question, so the host looks once.
      assert.equal((await host.ops.checkOutputs(check, record.cwd)).count, seen.length + 1);
      assert.equal(readdirSync(join(flight(), "..", ".outputs")).length, 1);
      await stopAll([record]);
      await until("no recorder", () => owner() === undefined);
    });

    it("was killed: the next launch starts another, which goes on with the runs of before", async () => {
      const record = await launch("b");
      await until("its spool", () => spool().includes(record.run));
      const killed = owner() ?? 0;
      kill(killed);
      const before = spool().length;
      const other = await launch("c");
      await until("both runs", () => [record, other].every(({ run }) => spool().slice(before).includes(run)));
      assert.notEqual(owner(), killed);
      await stopAll([record, other]);
      await until("no recorder", () => owner() === undefined);
    });

    it("a launch goes on where it cannot start, and it ends where its folder is gone", async () => {
      rmSync(flight(), { recursive: true });
      writeFileSync(flight(), "");
      const record = await launch("d");
      assert.equal(record.liveness, "running");
      rmSync(flight());
      const other = await launch("e");
      await until("a recorder", () => owner() !== undefined);
      await until("its spool", () => spool().includes(record.run) && spool().includes(other.run));
      const one = owner() ?? 0;
      rmSync(flight(), { recursive: true });
      await until("no recorder", () => !leads(one));
      await stopAll([record, other]);
    });
  });
}

/** Whether a process leads a session of its own; what a shell starts has its command line for a moment. */
function leads(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]) === pid;
  } catch {
    return false; // it has ended
  }
}
