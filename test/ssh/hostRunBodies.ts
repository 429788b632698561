import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LaunchOutcome, RunRecord } from "../../src/core/ports";
import { makeTestHost, processesWith, until, type MakeTransport, type TestHost } from "./hostHarness";

/** The record of a launch that must have started something. */
export function launched(outcome: LaunchOutcome): RunRecord {
  assert.ok(outcome.kind === "launched", JSON.stringify(outcome));
  return outcome.record;
}

/** Why a launch that must not start anything was refused. */
export function reasonOf(outcome: LaunchOutcome): string {
  assert.ok(outcome.kind === "refused", JSON.stringify(outcome));
  return outcome.reason;
}

/** Runs, records and stops: the same over every transport and under every shell. */
export function runBehaviour(name: string, shell: string, makeTransport: MakeTransport): void {
  describe(`runs under ${name}`, () => {
    let host: TestHost;
    let count = 0;
    before(async () => {
      host = await makeTestHost(shell, makeTransport);
    });
    after(() => {
      host.dispose();
    });
    /** A stage of its own for each test. */
    const stage = (): string => `stage${count++}`;
    const recordOf = async (run: string, session = "night"): Promise<RunRecord> => {
      const found = (await host.ops.records(session)).find((record) => record.run === run);
      assert.ok(found, `no record of ${run}; ${host.warnings.join("; ")}`);
      return found;
    };
    const ended = async (record: RunRecord): Promise<RunRecord> => {
      let now = record;
      await until(
        `the end of ${record.command}`,
        async () => (now = await recordOf(record.run, record.session)).end !== undefined,
      );
      return now;
    };
    /** When the record has all that the job writes of itself. */
    const complete = async (record: RunRecord): Promise<RunRecord> => {
      let now = record;
      await until(
        `what ${record.command} got`,
        async () => (now = await recordOf(record.run, record.session)).environment !== undefined,
      );
      return now;
    };
    const logOf = (record: RunRecord): string => readFileSync(record.log.path, "utf8");

    it("knows the host", () => {
      const { identity } = host.ops;
      assert.equal(identity.uid, process.getuid?.());
      assert.equal(identity.home, host.home);
      assert.ok(Math.abs(identity.clockOffsetMs) < 2000);
      assert.ok(identity.has.has("proc"));
    });

    for (const [command, exit] of [
      ["true", { kind: "code", code: 0 }],
      ["exit 1", { kind: "code", code: 1 }],
      ["surely-missing-program --x", { kind: "code", code: 127 }],
      ["/etc/passwd", { kind: "code", code: 126 }],
      ["exit 255", { kind: "code", code: 255 }],
      ["kill -KILL $$", { kind: "signal", signal: "SIGKILL" }],
      ["surely-missing-program | tee copy.log", { kind: "code", code: 127 }],
    ] as const) {
      it(`records how it ended: ${command}`, async () => {
        const record = await ended(launched(await host.ops.launch(host.request({ stage: stage(), command }))));
        assert.deepEqual(record.end?.exit, exit);
        assert.equal(record.liveness, "ended");
        assert.ok(Math.abs(record.end.at - Date.now()) < 60_000);
      });
    }

    it("keeps the shell's own words for a command that is not there, and says that none was found", async () => {
      const command = "surely-missing-program";
      const record = await ended(launched(await host.ops.launch(host.request({ stage: stage(), command }))));
      assert.equal(logOf(record), "bash: line 1: surely-missing-program: command not found\n");
      assert.equal(record.binary, "");
    });

    it("names the binary that the first word means", async () => {
      const record = await complete(
        launched(await host.ops.launch(host.request({ stage: stage(), command: "A=1 ls /" }))),
      );
      assert.match(record.binary, /^\/.*\/ls$/);
    });

    it("passes commands on as they are", async () => {
      const command = "printf '%s|' \"$0\" 'a  b' \"it's\" '$(x)' `echo tick`\nprintf 'é日本い' # -x\n-notaprogram";
      const record = await ended(launched(await host.ops.launch(host.request({ stage: stage(), command }))));
      assert.equal(record.command, command);
      assert.match(logOf(record), /a {2}b\|it's\|\$\(x\)\|tick\|é日本い.*-notaprogram: command not found/s);
    });

    it("works in folders and with logs of ugly names, and appends", async () => {
      const cwd = join(host.work, "-a b 'q' \"d\" $(touch pwned) é\nnew");
      mkdirSync(cwd);
      const log = "-lo g;$(x)'.log";
      writeFileSync(join(cwd, log), "old\n");
      const request = host.request({ stage: stage(), command: "pwd", cwd, log });
      const record = await ended(launched(await host.ops.launch(request)));
      assert.equal(record.cwd, cwd);
      assert.equal(record.log.path, join(cwd, log));
      assert.equal(record.log.start.offset, 4);
      assert.equal(record.log.start.inode, String(statSync(join(cwd, log)).ino));
      assert.equal(logOf(record), `old\n${cwd}\n`);
      assert.deepEqual(readdirSync(cwd), [log]);
    });

    it("takes names with a dot or a dash in front", async () => {
      const request = host.request({ session: "-night", stage: ".hidden", member: "..x", command: "true" });
      const record = launched(await host.ops.launch(request));
      assert.deepEqual([record.session, record.stage, record.member], ["-night", ".hidden", "..x"]);
      assert.equal((await host.ops.records("-night")).length, 1);
    });

    it("refuses in plain words, and starts nothing", async () => {
      const refused = async (changes: object): Promise<string> => {
        const outcome = await host.ops.launch(host.request({ stage: stage(), command: "touch started", ...changes }));
        return reasonOf(outcome);
      };
      assert.match(await refused({ cwd: join(host.work, "none") }), /working folder .*none does not exist/);
      assert.match(await refused({ log: "none/x.log" }), /log's folder .*none does not exist/);
      assert.match(await refused({ log: "." }), /not a regular file/);
      assert.match(await refused({ session: "../x" }), /cannot be a name/);
      assert.match(await refused({ stage: ".." }), /cannot be a name/);
      assert.match(await refused({ member: "a\nb" }), /cannot be a name/);
      assert.match(await refused({ env: { "A B": "x" } }), /environment variable/);
      assert.ok(!readdirSync(host.work).includes("started"));
    });

    it("gives the job its environment, and no umask of ours", async () => {
      const command = `touch made; stat -c %a made; umask; printf '%s\\n' "$X" "$PYTHONUNBUFFERED" "$CUDA_VISIBLE_DEVICES" "$CUDA_DEVICE_ORDER" "$ML_SESSION_RUN"`;
      const env = { X: "it's $(x)\n2" };
      const request = host.request({ stage: stage(), command, env, gpus: [0, 3] });
      const record = await ended(launched(await host.ops.launch(request)));
      assert.equal(logOf(record), `644\n0022\nit's $(x)\n2\n1\n0,3\nPCI_BUS_ID\n${record.run}\n`);
      assert.doesNotMatch(
        readdirSync(host.state, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && !entry.name.endsWith(".log"))
          .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
          .join(""),
        /it's \$\(x\)\n2/,
      );
    });

    it("keeps its folders from others", async () => {
      launched(await host.ops.launch(host.request({ stage: stage() })));
      for (const entry of readdirSync(host.state, { recursive: true, withFileTypes: true })) {
        const { mode } = statSync(join(entry.parentPath, entry.name));
        if (entry.name !== "output.log") assert.equal(mode & 0o077, 0, `${entry.name} ${mode.toString(8)}`);
      }
    });

    it("runs setup before the command, and says which line failed", async () => {
      const ops = await host.connect({ path: ["~/tools"], setup: ["export FROM_SETUP=yes", "cd /"] });
      const request = host.request({ stage: stage(), command: 'echo "$FROM_SETUP $PWD ${PATH%%:*}"' });
      const record = await ended(launched(await ops.launch(request)));
      assert.equal(logOf(record), `yes / ${host.home}/tools\n`);
      const failing = await host.connect({ setup: ["true", "module load cuda/13.1", "touch never"] });
      const failed = await ended(
        launched(await failing.launch(host.request({ stage: stage(), command: "touch never" }))),
      );
      assert.deepEqual(failed.end?.exit, { kind: "code", code: 127 });
      assert.equal(failed.setupFailed, "module load cuda/13.1");
      assert.match(logOf(failed), /setup line failed with exit code 127: module load cuda\/13.1/);
    });

    it("lets one of two launches win", async () => {
      const other = await host.connect();
      const request = host.request({ stage: stage(), command: "sleep 300" });
      const outcomes = await Promise.all([0, 1, 2, 3].map((i) => (i % 2 === 0 ? host.ops : other).launch(request)));
      assert.deepEqual(outcomes.map((outcome) => outcome.kind).sort(), [
        "already-running",
        "already-running",
        "already-running",
        "launched",
      ]);
      const runs = outcomes.map((outcome) => ("record" in outcome ? outcome.record.run : ""));
      assert.equal(new Set(runs).size, 1);
      await host.ops.stop("night", runs[0] ?? "", { signal: "TERM", graceSeconds: 5, requestedBy: "t" });
    });

    it("takes over the lock of a dead launch", async () => {
      const name = stage();
      await ended(launched(await host.ops.launch(host.request({ stage: name }))));
      const [identity = ""] = readdirSync(join(host.state, "v1"));
      const lock = join(host.state, "v1", identity, "night", name, "0", "launch.lock");
      writeFileSync(lock, `${process.pid} 1 ${host.ops.identity.bootId} 0\n`);
      const outcomes = await Promise.all(
        [0, 1, 2].map(() => host.ops.launch(host.request({ stage: name, command: "sleep 300" }))),
      );
      assert.equal(outcomes.filter((outcome) => outcome.kind === "launched").length, 1);
      assert.equal(outcomes.filter((outcome) => outcome.kind === "already-running").length, 2);
    });

    it("outlives signals to the job's group, and writes the verdict", async () => {
      const record = launched(await host.ops.launch(host.request({ stage: stage(), command: "sleep 300; true" })));
      assert.equal(record.liveness, "running");
      const { pid } = record.process ?? { pid: 0 };
      process.kill(-pid, "SIGHUP");
      const end = (await ended(record)).end;
      assert.deepEqual(end?.exit, { kind: "signal", signal: "SIGHUP" });
    });

    it("outlives the channel and signals to the wrapper", async () => {
      const ops = await host.connect();
      const record = launched(await ops.launch(host.request({ stage: stage(), command: "sleep 300; exit 5" })));
      ops.dispose();
      const [wrapper] = wrapperOf(host, record);
      process.kill(Number(wrapper), "SIGTERM");
      process.kill(Number(wrapper), "SIGHUP");
      assert.equal((await recordOf(record.run)).liveness, "running");
      process.kill(Number(record.process?.pid), "SIGTERM");
      assert.deepEqual((await ended(record)).end?.exit, { kind: "signal", signal: "SIGTERM" });
    });

    it("stops a run with a child that left its group", async () => {
      const command = "setsid sh -c 'sleep 301; :' & trap '' TERM; sleep 302; sleep 303";
      const record = launched(await host.ops.launch(host.request({ stage: stage(), command })));
      const mark = `ML_SESSION_RUN=${record.run}`;
      await until("the job's processes", () => processesWith(mark).length >= 3);
      const other = await host.connect();
      const outcome = await other.stop("night", record.run, {
        signal: "TERM",
        graceSeconds: 1,
        requestedBy: "me@laptop",
      });
      assert.deepEqual(outcome, { kind: "stopped", forced: true });
      assert.deepEqual(processesWith(mark), []);
      const now = await recordOf(record.run);
      assert.equal(now.stopRequestedBy, "me@laptop");
      assert.equal(now.liveness, "ended");
      const again = await other.stop("night", record.run, { signal: "TERM", graceSeconds: 1, requestedBy: "me" });
      assert.deepEqual(again, { kind: "not-running" });
    });

    it("stops politely where it can", async () => {
      const command = "trap 'echo bye; exit 7' INT; while :; do sleep 0.1; done";
      const record = launched(await host.ops.launch(host.request({ stage: stage(), command })));
      const outcome = await host.ops.stop("night", record.run, { signal: "INT", graceSeconds: 10, requestedBy: "me" });
      assert.deepEqual(outcome, { kind: "stopped", forced: false });
      assert.deepEqual((await recordOf(record.run)).end?.exit, { kind: "code", code: 7 });
      assert.equal(logOf(record), "bye\n");
    });

    it("never signals a stranger who got a recorded number", async () => {
      const record = await ended(launched(await host.ops.launch(host.request({ stage: stage() }))));
      const dir = folderOf(host, record);
      writeFileSync(join(dir, "end"), `${" ".repeat(63)}\n`);
      const { bootId } = host.ops.identity;
      for (const forged of [
        `${process.pid} 12345 ${bootId} 0`,
        `1 ${bootId.split("-").at(-1) ?? ""} ${bootId} 0`,
        "-1 0 x 0",
      ]) {
        writeFileSync(join(dir, "process"), `${forged}\n`);
        const outcome = await host.ops.stop("night", record.run, {
          signal: "TERM",
          graceSeconds: 1,
          requestedBy: "me",
        });
        assert.deepEqual(outcome, { kind: "not-running" });
      }
      assert.equal((await recordOf(record.run)).liveness, "gone");
      writeFileSync(join(dir, "process"), `${process.pid} 12345 another-boot 0\n`);
      assert.equal((await recordOf(record.run)).liveness, "rebooted");
    });

    it("does not judge what another host wrote into a shared home", async () => {
      const record = launched(await host.ops.launch(host.request({ session: "shared", command: "sleep 300" })));
      const own = join(host.state, "v1");
      const [identity = ""] = readdirSync(own);
      await complete(record);
      mkdirSync(join(own, "0123-login2"));
      cpSync(join(own, identity, "shared"), join(own, "0123-login2", "shared"), { recursive: true });
      await host.ops.stop("shared", record.run, { signal: "TERM", graceSeconds: 5, requestedBy: "me" });
      writeFileSync(join(own, "0123-login2", "shared", "download", "0", record.run, "end"), `${" ".repeat(63)}\n`);
      const all = await host.ops.records("shared");
      assert.deepEqual(all.map((each) => each.liveness).sort(), ["elsewhere", "ended"]);
    });

    it("leaves damaged records out, with a warning", async () => {
      const record = await complete(await ended(launched(await host.ops.launch(host.request({ session: "damaged" })))));
      const dir = folderOf(host, record);
      cpSync(dir, `${dir}-copy`, { recursive: true });
      writeFileSync(join(`${dir}-copy`, "started"), "\0\x01garbage");
      cpSync(dir, `${dir}-half`, { recursive: true });
      writeFileSync(join(`${dir}-half`, "command"), "");
      writeFileSync(join(`${dir}-half`, "log-start"), "12");
      const before = host.warnings.length;
      assert.deepEqual(
        (await host.ops.records("damaged")).map((each) => each.run),
        [record.run],
      );
      assert.equal(host.warnings.length, before + 2);
    });

    it("shows a newer version's record and does not touch it", async () => {
      const record = launched(await host.ops.launch(host.request({ stage: stage(), command: "sleep 300" })));
      writeFileSync(join(folderOf(host, record), "version"), "2\n");
      assert.equal((await recordOf(record.run)).version, 2);
      const outcome = await host.ops.stop("night", record.run, { signal: "TERM", graceSeconds: 1, requestedBy: "me" });
      assert.equal(outcome.kind, "refused");
    });

    it("watches: all records, then what starts, ends and is gone", async () => {
      const session = "watched";
      const first = await ended(launched(await host.ops.launch(host.request({ session, stage: "a" }))));
      const over = new AbortController();
      const watch = host.ops.watchRecords(session, over.signal)[Symbol.asyncIterator]();
      let told = "";
      // What the job got may be told after its start or its end: then the same is said again, or nothing of a record that
      // is being deleted.
      const next = async (): Promise<readonly string[]> => {
        for (;;) {
          const result = await watch.next();
          const seen = result.done === true ? [] : result.value.map((each) => `${each.stage} ${each.liveness}`);
          if (result.done === true || (seen.length > 0 && seen.join() !== told)) {
            told = seen.join();
            return seen;
          }
        }
      };
      assert.deepEqual(await next(), [`a ${first.liveness}`]);
      const other = await host.connect();
      const b = launched(await other.launch(host.request({ session, stage: "b", command: "sleep 300" })));
      assert.deepEqual(await next(), ["b running"]);
      process.kill(b.process?.pid ?? 0, "SIGKILL");
      assert.deepEqual(await next(), ["b ended"]);
      const c = launched(await other.launch(host.request({ session, stage: "c", command: "sleep 300" })));
      assert.deepEqual(await next(), ["c running"]);
      const [wrapper] = wrapperOf(host, c);
      process.kill(Number(wrapper), "SIGKILL");
      process.kill(c.process?.pid ?? 0, "SIGKILL");
      assert.deepEqual(await next(), ["c gone"]);
      const d = launched(await other.launch(host.request({ session, stage: "d", command: "sleep 300" })));
      assert.deepEqual(await next(), ["d running"]);
      rmSync(folderOf(host, d), { recursive: true });
      assert.deepEqual(await next(), ["d deleted"]);
      const aborted = watch.next();
      over.abort(new Error("enough"));
      await assert.rejects(aborted, /enough/);
    });
  });
}

function folderOf(host: TestHost, record: RunRecord): string {
  const own = join(host.state, "v1");
  const identity = readdirSync(own).find((name) => !name.startsWith("0123-")) ?? "";
  return join(own, identity, record.session, record.stage, record.member, record.run);
}

function wrapperOf(host: TestHost, record: RunRecord): string[] {
  return readFileSync(join(folderOf(host, record), "wrapper"), "utf8").split(" ");
}
