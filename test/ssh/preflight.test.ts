import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { LaunchRequest } from "../../src/core/ports";
import type { PreflightFacts, PreflightQuery } from "../../src/core/preflight";
import { hostDefaults, stageDefaults } from "../../src/core/session/defaults";
import type { HostDefinition, SessionDefinition, StageDefinition } from "../../src/core/session/definition";
import { checkSections } from "../../src/core/session/preflightSections";
import { makeTestHost, shells, type TestHost } from "./hostHarness";
import { makeLocal } from "./localHost";
import { openStory, storyId } from "./storyWindow";

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
      const moreLogs = ["", "no/b.log", join(odd, "c 'd' $(e).log")];
      assert.deepEqual((await facts({ cwd: odd, log: "out.log" }, {}, { moreLogs })).moreLogs, [
        { path: "", state: "own" },
        { path: join(odd, "no/b.log"), state: "no-folder" },
        { path: join(odd, "c 'd' $(e).log"), state: "ok" },
      ]);
    });

    it("checks a whole pipeline as one: what is shared once, and what earlier stages are to have written", async () => {
      const mark = join(host.work, `started-${name}`);
      const tried = join(host.work, `tried-${name}`);
      const stage = (own: string, more: Partial<StageDefinition> = {}): StageDefinition => ({
        name: own,
        ...stageDefaults,
        host: "here",
        cwd: host.work,
        command: `touch '${mark}'`,
        ...more,
      });
      const shard = { needs: ["download"], members: ["0", "1"] };
      const stages = [
        stage("download", { doneWhen: { files: [`model-${name}/*.bin`], command: `touch '${mark}'` } }),
        stage("extract", { ...shard, outputs: { files: [`features-${name}/*`], count: "files" } }),
        stage("train", { needs: ["extract"], command: `nowhere-to-be-found '${mark}'` }),
      ];
      const here: HostDefinition = {
        name: "here",
        address: { kind: "local" },
        ...hostDefaults,
        setup: [`echo x >> '${tried}'`],
        stateDir: host.state,
      };
      const definition: SessionDefinition = {
        name: "night",
        hosts: new Map([["here", here]]),
        services: new Map(),
        stages: new Map(stages.map((one) => [one.name, one])),
      };
      const window = openStory(definition, { connect: () => host.connect() });
      await window.open.connect(storyId, undefined, true);
      const check = async (...refs: readonly string[]): Promise<readonly string[]> => {
        const members = refs.map((ref) => ({ stage: ref.split("/")[0] ?? "", member: ref.split("/")[1] ?? "0" }));
        const found = await window.launcher.check(storyId, members);
        return checkSections(window.session(), found).flatMap(({ title, rows }) =>
          rows.flatMap(({ level, says }) => (level === "error" ? [`${title}: ${says}`] : [])),
        );
      };
      const missing = `nothing matches model-${name}/*.bin; download has not run`;
      const notThere = "nowhere-to-be-found is not on the PATH of a launch";
      assert.deepEqual(await check("extract", "extract/1", "train"), [
        `extract (2 members) on here: ${missing}`,
        `train on here: ${notThere}`,
      ]);
      // Once for the members of extract, once for train, and once for the search for its program.
      assert.equal(readFileSync(tried, "utf8"), "x\n".repeat(3));
      assert.deepEqual(await check("download", "extract", "train"), [`train on here: ${notThere}`]);
      program(join(host.work, `model-${name}`, "a.bin"), "x");
      assert.deepEqual(await check("extract"), []);
      assert.deepEqual(await check("train"), [
        `command: ${notThere}`,
        `inputs: 2 of 2 members: nothing matches features-${name}/*; extract has not run`,
      ]);
      assert.equal(existsSync(mark), false, "nothing was started");
      window.close();
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
