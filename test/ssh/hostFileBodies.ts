import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GpuReport } from "../../src/core/ports";
import { makeTestHost, until, type MakeTransport, type TestHost } from "./hostHarness";
import { launched, reasonOf } from "./hostRunBodies";

/** Everything that looks at files, programs and GPUs of a host. */
export function fileBehaviour(name: string, shell: string, makeTransport: MakeTransport): void {
  describe(`files, programs and GPUs under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(shell, makeTransport);
    });
    after(() => {
      host.dispose();
    });
    const program = (path: string, body: string): void => {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${body}\n`);
      chmodSync(path, 0o755);
    };

    it("finds programs where a launch does not look, and tells a stub from the real one", async () => {
      program(join(host.home, "ml-env", "bin", "hf"), "echo usage: hf; exit 0");
      const stub = readFileSync("test/fixtures/host/huggingface-cli-stub.txt", "utf8");
      writeFileSync(join(host.home, "stub.txt"), stub);
      program(join(host.work, "venv", "bin", "huggingface-cli"), `cat ${join(host.home, "stub.txt")}; exit 1`);
      const ops = await host.connect({ path: ["~/onpath"] });
      program(join(host.home, "onpath", "hf"), "kill -SEGV $$");
      const tools = await ops.findTools(["hf", "huggingface-cli", "surely-missing"], host.work);
      const own = tools.filter(({ path }) => path.startsWith(host.home) || path.startsWith(host.work));
      assert.deepEqual(
        own.map(({ name, path, onPath, works }) => ({ name, path, onPath, works })),
        [
          { name: "hf", path: join(host.home, "onpath", "hf"), onPath: true, works: false },
          {
            name: "huggingface-cli",
            path: join(host.work, "venv", "bin", "huggingface-cli"),
            onPath: false,
            works: false,
          },
          { name: "hf", path: join(host.home, "ml-env", "bin", "hf"), onPath: false, works: true },
        ],
      );
      assert.match(own[1]?.says ?? "", /`huggingface-cli` is deprecated and no longer works. Use `hf` instead/);
    });

    it("says who writes a log", async () => {
      const path = join(host.work, "a log");
      assert.deepEqual(await host.ops.logWriter(path), {});
      writeFileSync(path, "");
      assert.deepEqual(await host.ops.logWriter(path), { open: false });
      const reading = openSync(path, "r");
      assert.deepEqual(await host.ops.logWriter(path), { open: false });
      const writing = openSync(path, "a");
      assert.deepEqual(await host.ops.logWriter(path), { open: true, pid: process.pid });
      // One that had it open before is only where the search begins.
      assert.deepEqual(await host.ops.logWriter(path, process.ppid), { open: true, pid: process.pid });
      // Asked in one moment, each gets the answer about its own.
      const other = join(host.work, "another $log");
      writeFileSync(other, "");
      const asked = [join(host.work, "none"), path, other].map((one) => host.ops.logWriter(one));
      assert.deepEqual(await Promise.all(asked), [{}, { open: true, pid: process.pid }, { open: false }]);
      closeSync(reading);
      closeSync(writing);
    });

    const sampled = async (
      script: string,
      rounds: number,
      enough: (report: GpuReport) => boolean = () => true,
    ): Promise<GpuReport[]> => {
      const bin = join(host.home, "..", "bin", "nvidia-smi");
      program(bin, script);
      const over = new AbortController();
      const reports: GpuReport[] = [];
      try {
        for await (const report of host.ops.gpus(0.2, over.signal)) {
          reports.push(report);
          if (reports.length >= rounds && enough(report)) break;
        }
      } finally {
        over.abort();
      }
      return reports;
    };
    const line = (index: number): string =>
      `${index}, GPU-${index}, NVIDIA H200, 99, 1011, 143771, [N/A], 692.18, [Not Supported]`;

    it("gives rounds of GPU samples, and no number that the driver does not give", async () => {
      const reports = await sampled(`while :; do printf '%s\\n' '${line(0)}' '${line(1)}'; sleep 0.2; done`, 3);
      for (const report of reports) {
        assert.ok(report.kind === "samples");
        assert.deepEqual(
          report.samples.map(({ index, uuid }) => [index, uuid]),
          [
            [0, "GPU-0"],
            [1, "GPU-1"],
          ],
        );
        const { at, ...rest } = report.samples[0] ?? { at: 0 };
        assert.ok(Math.abs(at - Date.now()) < 60_000);
        assert.deepEqual(rest, {
          index: 0,
          uuid: "GPU-0",
          name: "NVIDIA H200",
          utilisation: 99,
          memoryUsedMib: 1011,
          memoryTotalMib: 143771,
          powerW: 692.18,
        });
      }
    });

    it("follows what changes, a GPU that falls off the bus, and another one in its place", async () => {
      const used = (index: number, uuid: string, mib: number): string =>
        `${index}, ${uuid}, NVIDIA H200, 99, ${mib}, 143771, 50, 692.18, 700.00`;
      const rounds = [
        [used(0, "GPU-0", 1), used(1, "GPU-1", 1)],
        [used(0, "GPU-0", 1), used(1, "GPU-1", 2)],
        [used(0, "GPU-0", 3)],
        [used(0, "GPU-0", 3)],
        [used(0, "GPU-0", 3), used(1, "GPU-2", 2), used(2, "GPU-3", 7)],
        [used(0, "GPU-0", 4), used(1, "GPU-2", 2), used(2, "GPU-3", 8)],
      ];
      const script = rounds.map((lines) => `printf '%s\\n' ${lines.map((one) => `'${one}'`).join(" ")}; sleep 0.5`);
      const last = (report: GpuReport): boolean =>
        report.kind === "samples" && report.samples.some(({ memoryUsedMib }) => memoryUsedMib === 8);
      const reports = await sampled(`${script.join("\n")}\nexec sleep 60`, 3, last);
      const seen = reports.map((report) =>
        report.kind === "samples"
          ? report.samples.map(({ uuid, memoryUsedMib }) => `${uuid} ${memoryUsedMib ?? ""}`)
          : [],
      );
      // What is missing is known when the next round begins; how a round is cut then does not matter, only what it says last.
      assert.deepEqual(seen[0], ["GPU-0 1", "GPU-1 1"]);
      assert.deepEqual(seen[1], ["GPU-0 1", "GPU-1 2"]);
      assert.ok(seen.some((round) => round.join() === "GPU-0 3"));
      assert.ok(seen.flat().includes("GPU-2 2"));
      assert.ok(seen.flat().includes("GPU-3 7"));
    });

    it("asks for less where the driver does not know a field", async () => {
      const script = `case "$*" in *power.limit*) echo 'Field "power.limit" is not a valid field to query.'; exit 2;; esac
while :; do echo '0, GPU-0, Old GPU, [N/A], 1, 2, 50'; sleep 0.2; done`;
      const [report] = await sampled(script, 1);
      assert.ok(report?.kind === "samples");
      assert.equal(report.samples[0]?.temperatureC, 50);
      assert.ok(!("utilisation" in report.samples[0]));
    });

    it("says why there are no samples", async () => {
      const broken = await sampled(
        "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9",
        1,
      );
      assert.deepEqual(broken, [
        {
          kind: "unavailable",
          reason: "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.",
        },
      ]);
    });

    it("records the verdict on a full disk", { skip: cannotMount() }, async () => {
      const disk = join(host.home, "small");
      mkdirSync(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", disk]);
      try {
        const ops = await host.connect({ stateDir: disk });
        const command = `dd if=/dev/zero of='${disk}/fill' bs=1k 2>/dev/null; exit 3`;
        const record = launched(await ops.launch(host.request({ session: "full", command, log: "x.log" })));
        await until("the verdict", async () => {
          const [now] = await ops.records("full");
          return now?.end?.exit.kind === "code" && now.end.exit.code === 3;
        });
        assert.ok(record.run !== "");
        const again = await ops.launch(
          host.request({ session: "full", stage: "other", command: "true", log: "x.log" }),
        );
        assert.match(reasonOf(again), /is the disk full/);
      } finally {
        execFileSync("umount", ["-l", disk]);
      }
    });

    it("leaves nothing on the host but its state folder", () => {
      assert.deepEqual(readdirSync(host.state), ["v1"]);
    });
  });
}

/** Why a file system cannot be mounted here, else false. */
function cannotMount(): string | false {
  return process.getuid?.() === 0 ? false : "only root can mount the small file system of this test";
}
