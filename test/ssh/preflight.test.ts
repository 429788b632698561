import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { LaunchRequest } from "../../src/core/ports";
import type { PreflightFacts, PreflightQuery } from "../../src/core/preflight";
import type { HostDefinition } from "../../src/core/session/definition";
import { makeTestHost, shells, type TestHost } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) behaviour(name, path);

/** What a launch would meet, under every shell. */
function behaviour(name: string, shell: string): void {
  describe(`looking before a launch under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(shell, makeLocal());
    });
    after(() => {
      host.dispose();
    });
    const facts = async (
      request: Partial<LaunchRequest>,
      changes: Partial<HostDefinition> = {},
      query: Partial<PreflightQuery> = {},
    ): Promise<PreflightFacts> => {
      const ops = await host.connect(changes);
      return ops.preflight({ request: host.request(request), outputs: [], withSetup: true, ...query });
    };
    const program = (at: string, text: string): string => {
      mkdirSync(join(at, ".."), { recursive: true });
      writeFileSync(at, text);
      chmodSync(at, 0o755);
      return at;
    };

    it("resolves the program where a launch would", async () => {
      const tool = program(join(host.home, "my env", "bin", "tool"), "#!/bin/sh\n");
      assert.deepEqual((await facts({ command: "tool --x" })).program, { word: "tool" });
      const folder = { path: ["~/my env/bin"] };
      assert.deepEqual((await facts({ command: "tool --x" }, folder)).program, { word: "tool", path: tool });
      const setup = { setup: ['X="my env"', 'export PATH="$HOME/$X/bin:$PATH"; set -- a b', "set -eu"] };
      assert.deepEqual((await facts({ command: "tool --x" }, setup)).program, { word: "tool", path: tool });
      const relative = await facts({ command: "./tool", cwd: join(host.home, "my env", "bin") });
      assert.deepEqual(relative.program, { word: "./tool", path: tool });
      const env = await facts({ command: "tool", env: { PATH: `${join(host.home, "my env", "bin")}:/usr/bin:/bin` } });
      assert.equal(env.program?.path, tool);
      const moved = program(join(host.home, "moved", "hf"), "#!/gone/venv/bin/python\n");
      assert.deepEqual((await facts({ command: `${moved} download` })).program, {
        word: moved,
        path: moved,
        missingInterpreter: "/gone/venv/bin/python",
      });
      assert.equal((await facts({ command: "$TOOL x" })).program, undefined);
      const broken = await facts({ command: "tool", env: { PATH: "/nowhere" } });
      assert.equal(broken.shellStarts, false);
    });

    it("runs setup only where it may, and says which line failed", async () => {
      const mark = join(host.work, `ran-${name}`);
      const changes = { setup: ["true", `echo noise; touch '${mark}'; (exit 7)`, "false"], env: { "A-B": "x" } };
      const asked = await facts({ command: "true x" }, changes, { withSetup: false });
      assert.equal(asked.setupFailed, undefined);
      assert.equal(existsSync(mark), false);
      const ran = await facts({ command: "sh -c x" }, changes);
      assert.deepEqual(ran.setupFailed, { line: 1, code: 7 });
      assert.equal(ran.program, undefined);
      assert.equal(existsSync(mark), true);
      const leaves = await facts({ command: "sh -c x" }, { setup: ["exit 0"] });
      assert.deepEqual(leaves.setupFailed, { line: 0, code: 1 });
      const behind = await facts({ command: "sh -c x" }, { setup: ["sleep 100 &"] });
      assert.equal(behind.setupFailed, undefined);
      assert.equal(behind.program?.word, "sh");
    });

    it("says how folder, log and state are, and leaves nothing behind", async () => {
      const odd = join(host.work, "a 'b' $(c) é");
      mkdirSync(odd, { recursive: true });
      const good = await facts({ cwd: odd, log: "out.log" });
      assert.deepEqual(good.cwd, { path: odd, state: "ok" });
      assert.deepEqual(good.log, { path: join(odd, "out.log"), state: "ok" });
      assert.equal(good.stateWritable, true);
      assert.deepEqual(readdirSync(odd), []);
      assert.equal((await facts({ cwd: join(odd, "no") })).cwd.state, "missing");
      assert.equal((await facts({ cwd: odd, log: "no/out.log" })).log.state, "no-folder");
      assert.equal((await facts({ cwd: odd, log: host.home })).log.state, "no-file");
      const closed = join(host.work, "closed");
      mkdirSync(closed, { recursive: true });
      chmodSync(closed, 0o555);
      // root may write everywhere.
      const expected = process.getuid?.() === 0 ? "ok" : "closed";
      assert.equal((await facts({ cwd: odd, log: join(closed, "out.log") })).log.state, expected);
      assert.equal((await facts({ cwd: odd })).log.state, "own");
    });

    it("measures the space of log and outputs", async () => {
      const { space } = await facts({ log: "out.log" }, {}, { outputs: ["new/deep/*.jsonl", "/proc/*"] });
      const [first] = space;
      assert.ok(first);
      assert.deepEqual(first.holds, ["log", "outputs"]);
      assert.equal(first.folder, host.work);
      assert.ok(first.freeBytes > 0);
    });

    it("knows whether a port is taken, and by whom", async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const taken = await facts({}, {}, { port });
      assert.equal(taken.port?.taken, true);
      if (taken.port.by !== undefined) assert.match(taken.port.by, new RegExp(`pid ${process.pid}\\)`));
      await new Promise((resolve) => server.close(resolve));
      assert.deepEqual((await facts({}, {}, { port })).port, { number: port, taken: false });
    });

    it("reads GPUs and who holds them, quotas, and names of the env_file", async () => {
      const bin = join(host.home, "..", "bin");
      program(
        join(bin, "nvidia-smi"),
        `#!/bin/sh\ncase $1 in --query-compute*) echo "${process.pid}, GPU-b, 40000" ;; *) printf '0, GPU-a, 12, 81559\\n1, GPU-b, 40010, 81559\\n' ;; esac\n`,
      );
      program(
        join(bin, "quota"),
        "#!/bin/sh\nprintf 'Disk quotas for user x (uid 1):\\n  Filesystem blocks quota limit grace files quota limit grace\\n/dev/a 2000* 1000 3000 6days 10 0 0\\nserver:/home 5 0 0 7 8 9\\n'\n",
      );
      const envFile = join(host.home, "env");
      writeFileSync(envFile, "TOKEN=canary\n", { mode: 0o600 });
      const found = await facts({}, { envFile, secrets: ["TOKEN"] });
      assert.deepEqual(found.envFile, { kind: "read", names: ["TOKEN"] });
      assert.equal(JSON.stringify(found).includes("canary"), false);
      assert.deepEqual(
        found.gpus?.map(({ index, usedMib, holders }) => [index, usedMib, holders.map(({ pid, mib }) => [pid, mib])]),
        [
          [0, 12, []],
          [1, 40010, [[process.pid, 40000]]],
        ],
      );
      assert.notEqual(found.gpus[1]?.holders[0]?.user, undefined);
      assert.deepEqual(found.quotas, [
        { fileSystem: "/dev/a", usedBytes: 2048000, limitBytes: 3072000, usedFiles: 10 },
        { fileSystem: "server:/home", usedBytes: 5120, usedFiles: 7, limitFiles: 9 },
      ]);
      const refused = await facts({}, { envFile: "~/none" });
      assert.equal(refused.envFile.kind, "refused");
    });
  });
}
