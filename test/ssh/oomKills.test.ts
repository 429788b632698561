import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { OomKills } from "../../src/core/ports";
import { makeTestHost, shells, until, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";
import { makeLocal } from "./localHost";

/** Whether files of the kernel can be played here: by mounts that only the host of the test sees. */
const cannotMount =
  spawnSync("unshare", ["--mount", "mount", "--bind", "/dev/null", "/proc/vmstat"]).status === 0
    ? false
    : "mount is not allowed here";

/** This process's own control group: below which folder its files are, in either version. */
function groupFile(version: 1 | 2): string {
  const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const fields = lines.map((line) => line.split(":"));
  if (version === 2)
    return join((fields.find(([number]) => number === "0") ?? ["", "", "/"])[2] ?? "/", "memory.events");
  const own = fields.find(([, controllers = ""]) => controllers.split(",").includes("memory"));
  return join("memory", own?.[2] ?? "/", "memory.oom_control");
}

/** A kernel whose counts a test sets. */
interface PlayedKernel {
  readonly folder: string;
  readonly shell: string;
  readonly vmstat: string;
  /** The control group's file in the version that is played. */
  group(version: 1 | 2): string;
}

function playKernel(): PlayedKernel {
  const folder = mkdtempSync(join(tmpdir(), "kernel-"));
  const shell = join(folder, "login");
  const vmstat = join(folder, "vmstat");
  const groups = join(folder, "cgroup");
  mkdirSync(groups);
  writeFileSync(vmstat, "");
  const mounts = `mount --bind '${vmstat}' /proc/vmstat && mount --bind '${groups}' /sys/fs/cgroup`;
  writeFileSync(shell, `#!/bin/sh\nexec unshare --mount /bin/sh -c "${mounts} && exec /bin/sh \\"\\$@\\"" sh "$@"\n`);
  chmodSync(shell, 0o755);
  return { folder, shell, vmstat, group: (version) => join(groups, groupFile(version)) };
}

for (const { name, path } of shells) {
  describe(`who sent SIGKILL, under ${name}`, { skip: cannotMount }, () => {
    const kernel = playKernel();
    let host: TestHost;
    let stages = 0;
    before(async () => {
      host = await makeTestHost(path, makeLocal(kernel.shell));
    });
    after(() => {
      host.dispose();
      rmSync(kernel.folder, { recursive: true, force: true });
    });
    /** Writes files before the run, and others right before the job is killed; what its record says of them. */
    const recordOf = async (
      first: Readonly<Record<string, string>>,
      then: Readonly<Record<string, string>>,
    ): Promise<OomKills | undefined> => {
      for (const [file, text] of Object.entries(first)) write(file, text);
      const writes = Object.entries(then).map(([file, text]) => `printf '${text}' >'${file}'`);
      const command = [...writes, "kill -KILL $$"].join("; ");
      const { run } = launched(await host.ops.launch(host.request({ stage: `s${stages++}`, command })));
      let end: Awaited<ReturnType<typeof host.ops.records>>[number]["end"];
      await until("its end", async () => {
        end = (await host.ops.records("night")).find((record) => record.run === run)?.end;
        return end !== undefined;
      });
      assert.deepEqual(end?.exit, { kind: "signal", signal: "SIGKILL" });
      return end.oomKills;
    };
    const stat = (kills: number): string => `nr_free_pages 7\\noom_kill ${kills}\\nzswpin 3\\n`;
    const real = (text: string): string => text.replaceAll("\\n", "\n");
    const write = (file: string, text: string): void => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, real(text));
    };

    it("cannot be told where the kernel counts nothing", async () => {
      assert.equal(await recordOf({ [kernel.vmstat]: "nr_free_pages 7\\n" }, {}), undefined);
    });

    it("counts those of the whole machine", async () => {
      const { vmstat } = kernel;
      assert.deepEqual(await recordOf({ [vmstat]: stat(4) }, { [vmstat]: stat(6) }), { host: 2 });
      assert.deepEqual(await recordOf({ [vmstat]: stat(6) }, {}), { host: 0 });
    });

    for (const version of [1, 2] as const) {
      it(`counts those of the control group (cgroup v${version})`, async () => {
        const { vmstat } = kernel;
        const group = kernel.group(version);
        const events = (kills: number): string =>
          version === 2 ? `low 0\\noom 3\\noom_kill ${kills}\\n` : `under_oom 0\\noom_kill ${kills}\\n`;
        const grown = await recordOf(
          { [vmstat]: stat(9), [group]: events(1) },
          { [vmstat]: stat(10), [group]: events(2) },
        );
        assert.deepEqual(grown, { group: 1, host: 1 });
        assert.deepEqual(await recordOf({ [vmstat]: stat(9) }, { [vmstat]: stat(10) }), { group: 0, host: 1 });
      });
    }
  });
}
