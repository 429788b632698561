import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { OutputCheck, OutputReport, RunRecord } from "../../src/core/ports";
import { verdictCheck } from "../../src/core/session/outputChecks";
import { stage } from "../unit/sessions";
import { makeTestHost, shadow, shells, until, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";
import { makeLocal } from "./localHost";

/** What busybox brings of the programs that the scripts call. */
const applets = "find xargs stat awk grep wc dd sed tr sort head tail cut ls timeout mktemp cat ln rm mv mkdir date";

for (const { name, path } of shells) {
  describe(`what a stage wrote, under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(path, makeLocal());
      if (name === "busybox") for (const applet of applets.split(" ")) shadow(host, applet, path);
    });
    after(() => {
      host.dispose();
    });
    let folders = 0;
    /** A folder of its own; its name is as odd as names get. */
    const folder = (): string => {
      const made = join(host.work, `-o'$(x) "ü${++folders}`);
      mkdirSync(made);
      return made;
    };
    const check = (asked: Partial<OutputCheck>, cwd = host.work): Promise<OutputReport> =>
      host.ops.checkOutputs({ files: [], ...asked }, cwd);
    const missing = async (asked: Partial<OutputCheck>, cwd?: string): Promise<string> => {
      const { ok, detail } = await check(asked, cwd);
      assert.equal(ok, false, detail);
      return detail;
    };
    const watching = { maxAgeSeconds: 0 };
    const filesOf = (pattern: string): string[] => {
      const found = execFileSync("find", [host.state, "-type", "f", "-name", pattern], { encoding: "utf8" });
      return found.split("\n").filter(Boolean);
    };

    it("sums sizes of files, globs, folders and links, each file once", async () => {
      const cwd = folder();
      mkdirSync(join(cwd, "blobs"));
      writeFileSync(join(cwd, "blobs", "x"), "12345");
      symlinkSync("blobs/x", join(cwd, "a file.bin"));
      symlinkSync("nowhere", join(cwd, "Adangling.bin"));
      writeFileSync(join(cwd, "b.bin"), "123");
      const { tookMs, newestAt, ...bins } = await check({ files: ["*.bin"] }, cwd);
      assert.deepEqual(bins, { ok: true, bytes: 8, files: 2, detail: "2 files, 8 B" });
      assert.ok(tookMs !== undefined && tookMs >= 0);
      assert.ok(newestAt !== undefined && Math.abs(newestAt - Date.now()) < 600_000);
      assert.equal((await check({ files: [cwd] }, "/")).bytes, 8);
      assert.equal(await missing({ files: ["*.bin", "none-*", "b'$(x)\n"] }, cwd), "nothing matches none-*; nothing matches b'$(x)?"); // prettier-ignore
      assert.equal(await missing({ files: ["Adang*"] }, cwd), "nothing matches Adang*");
      assert.equal(await missing({ files: ["."], minBytes: 9 }, cwd), "8 of 9 B are there");
      assert.equal((await check({ files: [`${cwd}/`], minBytes: 8 })).ok, true);
      truncateSync(join(cwd, "b.bin"), 5_000_000_000);
      assert.equal((await check({ files: ["b.bin"], minBytes: 5e9 }, cwd)).bytes, 5_000_000_000);
      assert.equal(await missing({ files: ["b.bin"], minBytes: 25e9 }, cwd), "5 of 25 GB are there");
      assert.equal(
        await missing({ files: ["b.bin"], minBytes: 5_000_000_001 }, cwd),
        "5,000,000,000 of 5,000,000,001 bytes are there",
      );
    });

    it("counts lines and files of ten thousand outputs, whatever their names are", async () => {
      const cwd = folder();
      for (let i = 0; i < 10_000; i++) writeFileSync(join(cwd, `output ${i}.jsonl`), '{"a": 1}\n{"b": 2}');
      for (const odd of ["-rf", "$(x)", "`y`", "a\nb", "'", '"', "tab\tü", "end ", "\\n", "%s", "[a]"])
        writeFileSync(join(cwd, `${odd}.jsonl`), "1\n2\n");
      symlinkSync("output 1.jsonl", join(cwd, "latest.jsonl"));
      const lines = { files: ["*.jsonl"], count: "lines" } as const;
      const whole = await check({ outputs: lines, outputsAtLeast: 20_022 }, cwd);
      assert.deepEqual([whole.ok, whole.count, whole.files], [true, 20_022, 10_011]);
      assert.equal(whole.detail, "20,022 lines, 10,011 files, 170 kB");
      assert.equal(await missing({ outputs: lines, outputsAtLeast: 25_000 }, cwd), "20,022 of 25,000 lines are there");
      const files = { files: ["*.jsonl"], count: "files" } as const;
      assert.equal(await missing({ outputs: files, outputsAtLeast: 10_012 }, cwd), "10,011 of 10,012 files are there");
      const bytes = { files: ["output*"], count: "bytes" } as const;
      assert.equal((await check({ outputs: bytes, outputsAtLeast: 170_000 }, cwd)).count, 170_000);
      // While it is written an unfinished line is no output yet.
      assert.equal((await check({ outputs: lines, watching }, cwd)).count, 10_022);
    });

    it("counts only what was added while a stage writes, and what was written again as well", async () => {
      const cwd = folder();
      const outputs = { files: ["out/*.jsonl"], count: "lines" } as const;
      const now = async (): Promise<number | undefined> => (await check({ outputs, watching }, cwd)).count;
      assert.equal(await now(), 0);
      mkdirSync(join(cwd, "out"));
      writeFileSync(join(cwd, "out", "a \n"), "no output");
      writeFileSync(join(cwd, "out", " a b .jsonl"), "1\n2\n3");
      writeFileSync(join(cwd, "out", "c\nd.jsonl"), "1\n");
      const next = async (expected: number): Promise<void> => {
        // Answers are as old as a second at most, which is the step of their clock.
        await until(`${expected} lines`, async () => (await now()) === expected, 60);
      };
      await next(3);
      appendFileSync(join(cwd, "out", " a b .jsonl"), "\n4\n");
      appendFileSync(join(cwd, "out", "c\nd.jsonl"), "2\n");
      await next(6);
      writeFileSync(join(cwd, "out", " a b .jsonl"), "1\n");
      await next(3);
      rmSync(join(cwd, "out", " a b .jsonl"));
      await next(2);
      assert.equal((await check({ outputs, outputsAtLeast: 2 }, cwd)).ok, true);
    });

    it("counts what is not whole only while it is written", async () => {
      const cwd = folder();
      mkdirSync(join(cwd, "m/.cache/huggingface/download"), { recursive: true });
      writeFileSync(join(cwd, "m/.cache/huggingface/download/x.abc.incomplete"), "12345");
      writeFileSync(join(cwd, "m/.cache/huggingface/download/y.metadata"), "12");
      writeFileSync(join(cwd, "m/a.bin"), "123");
      writeFileSync(join(cwd, "m/b.bin.part"), "1234567");
      writeFileSync(join(cwd, "m/a.bin.before-20261202T020000Z"), "12345678901234567890");
      assert.equal((await check({ files: ["m/*.bin"] }, cwd)).bytes, 3);
      assert.equal((await check({ files: ["m"] }, cwd)).bytes, 10);
      assert.equal((await check({ files: ["m/*.bin"], watching }, cwd)).bytes, 15);
      assert.equal((await check({ files: ["m"], watching }, cwd)).bytes, 17);
    });

    it("says which shard of a local snapshot is missing, empty or not whole", async () => {
      const cwd = folder();
      const model = join(cwd, "model dir");
      assert.equal(await missing({ hubSnapshot: "model dir/" }, cwd), `the folder ${model} is not there`);
      mkdirSync(join(model, ".cache/huggingface/download"), { recursive: true });
      writeFileSync(join(model, "config.json"), "{}");
      let asked = 0;
      const again = async (expected: string | undefined): Promise<void> => {
        // A question of its own each time, so that no kept answer is given.
        const { ok, detail } = await check({ hubSnapshot: `${"./".repeat(++asked)}model dir` }, cwd);
        assert.deepEqual([ok, ok ? undefined : detail], [expected === undefined, expected]);
      };
      writeFileSync(join(model, "model.safetensors"), "");
      await again("no file with weights is there");
      writeFileSync(join(model, "model.safetensors"), "x".repeat(1000));
      await again(undefined);
      rmSync(join(model, "model.safetensors"));
      const shard = (number: number): string => `model-0000${number}-of-00005.safetensors`;
      const index = {
        metadata: { total_size: 25_000_000_000, format: "pt" },
        weight_map: Object.fromEntries([...Array(2000).keys()].map((i) => [`layers.${i}.{"w"}`.replaceAll('"', ""), shard(1 + (i % 5))])), // prettier-ignore
      };
      writeFileSync(join(model, "model.safetensors.index.json"), JSON.stringify(index, null, 2));
      for (const number of [1, 2, 4, 5]) writeFileSync(join(model, shard(number)), "x".repeat(1000));
      await again(`shard 3 of 5 (${shard(3)}) is missing`);
      const running = await check({ hubSnapshot: "model dir", watching }, cwd);
      assert.equal(running.totalBytes, 25_000_000_000);
      writeFileSync(join(model, shard(3)), "");
      await again(`shard 3 of 5 (${shard(3)}) is empty`);
      writeFileSync(join(model, shard(3)), "x");
      writeFileSync(join(model, "model.safetensors.index.json"), JSON.stringify(index));
      await again(undefined);
      assert.match(await missing({ hubSnapshot: "model dir", minBytes: 25e9 }, cwd), /^\d+ kB of 25 GB are there$/);
      writeFileSync(join(model, ".cache/huggingface/download/abc=.0123.incomplete"), "x".repeat(1500));
      await again("one file is not downloaded to the end (abc=.0123.incomplete, 1.5 kB so far)");
      rmSync(join(model, ".cache"), { recursive: true });
      // The other form of the weights was not fetched, only its index.
      writeFileSync(join(model, "pytorch_model.bin.index.json"), '{"weight_map": {"a": "pytorch_model-1.bin"}}');
      await again(undefined);
      writeFileSync(join(model, "model.safetensors.index.json"), '{"weight_map": ');
      rmSync(join(model, "pytorch_model.bin.index.json"));
      await again("the index model.safetensors.index.json cannot be read");
    });

    it("resolves a snapshot of the hub's cache, and finds links to nothing", async () => {
      const hub = join(folder(), "hub");
      const repo = join(hub, "models--org--name");
      const snapshot = join(repo, "snapshots", "abc123");
      mkdirSync(join(repo, "blobs"), { recursive: true });
      writeFileSync(join(repo, "blobs", "f00.incomplete"), "x".repeat(2_500_000));
      const early = await check({ hubSnapshot: repo, watching });
      assert.equal(early.bytes, 2_500_000);
      assert.match(await missing({ hubSnapshot: repo }), /one file is not downloaded to the end \(f00.incomplete, 2.5 MB so far\)/); // prettier-ignore
      mkdirSync(join(repo, "refs"));
      mkdirSync(snapshot, { recursive: true });
      mkdirSync(join(repo, "snapshots", "zzz"));
      writeFileSync(join(repo, "refs", "main"), "abc123");
      writeFileSync(join(repo, "blobs", "i"), '{"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}}');
      writeFileSync(join(repo, "blobs", "w1"), "123");
      symlinkSync("../../blobs/i", join(snapshot, "model.safetensors.index.json"));
      symlinkSync("../../blobs/w1", join(snapshot, "m-1.safetensors"));
      symlinkSync("../../blobs/w2", join(snapshot, "m-2.safetensors"));
      symlinkSync("../../blobs/t", join(snapshot, "tokenizer.json"));
      rmSync(join(repo, "blobs", "f00.incomplete"));
      const expected = "shard 2 of 2 (m-2.safetensors) is a link to nothing; tokenizer.json is a link to nothing";
      assert.equal(await missing({ hubSnapshot: repo, minBytes: 1 }), expected);
      assert.equal(await missing({ hubSnapshot: snapshot }), expected);
      writeFileSync(join(repo, "blobs", "w2"), "123");
      writeFileSync(join(repo, "blobs", "t"), "1");
      const whole = await check({ hubSnapshot: repo, minBytes: 7 });
      assert.deepEqual([whole.ok, whole.bytes, whole.files], [true, 67, 4]);
      writeFileSync(join(repo, "blobs", "t2.incomplete"), "");
      assert.match(await missing({ hubSnapshot: snapshot, minBytes: 7 }), /^one file is not downloaded/);
      const data = join(hub, "datasets--org--name", "snapshots", "1");
      mkdirSync(data, { recursive: true });
      writeFileSync(join(data, "README.md"), "about");
      assert.equal(await missing({ hubSnapshot: data }), "no files are there");
      writeFileSync(join(data, "train.parquet"), "1");
      assert.equal((await check({ hubSnapshot: data, minBytes: 1 })).ok, true);
    });

    it("looks for a line in the run's part of the log alone", async () => {
      const cwd = folder();
      const log = join(cwd, "a log");
      writeFileSync(log, "step 1\nDone: 25000 items\n");
      const [device = "", inode = ""] = execFileSync("stat", ["-c", "%d %i", log], { encoding: "utf8" }).split(/\s/);
      const at = (offset: number): NonNullable<OutputCheck["log"]> => ({ path: log, start: { device, inode, offset } });
      assert.equal((await check({ logLine: "^Done: [0-9]+ items$", log: at(0) })).ok, true);
      assert.equal((await check({ logLine: "^Done: [0-9]+ items$", log: at(7) })).ok, true);
      const late = await missing({ logLine: "^Done: [0-9]+ items$", log: at(25) });
      assert.equal(late, "no line of its log fits `^Done: [0-9]+ items$`");
      appendFileSync(log, "12%\r100%\rDone: 7 items\n");
      assert.equal((await check({ logLine: "^Done: 7", log: at(25) })).ok, true);
      // A log that was replaced since the run began holds nothing else.
      assert.equal((await check({ logLine: "Done", log: { path: log, start: { device, inode: "1", offset: 48 } } })).ok, true); // prettier-ignore
      assert.match(await missing({ logLine: "a(", log: at(0) }), /no extended regular expression: `a\(`/);
      const gone = { path: join(cwd, "none"), start: { device, inode, offset: 0 } };
      assert.match(await missing({ logLine: "x", log: gone }), /none is not there$/);
    });

    it("runs a command of one's own in the stage's environment, and keeps its last words", async () => {
      const cwd = folder();
      const ops = await host.connect({ setup: ["export FROM_SETUP=set"], path: ["~/tools"], env: { HOST_ENV: "a b" } });
      mkdirSync(join(host.home, "tools"), { recursive: true });
      writeFileSync(
        join(host.home, "tools", "verify"),
        '#!/bin/sh\necho "$PWD|$FROM_SETUP|$HOST_ENV|$STAGE_ENV"; exit 3\n',
      );
      chmodSync(join(host.home, "tools", "verify"), 0o755);
      const env = { STAGE_ENV: "it's" };
      const { detail } = await ops.checkOutputs({ files: [], command: "verify", env }, cwd);
      assert.equal(detail, `\`verify\` ended with exit code 3: ${cwd}|set|a b|it's`);
      const long = `i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; exit 1`;
      const words = (await ops.checkOutputs({ files: [], command: long }, cwd)).detail;
      assert.match(words, /: ….*line 498 line 499$/);
      assert.ok(words.length < 700);
      assert.equal((await ops.checkOutputs({ files: [], command: "sleep 30 & true" }, cwd)).ok, true);
      const failing = await host.connect({ setup: ["false"] });
      const refused = await failing.checkOutputs({ files: [], command: "touch ran" }, cwd);
      assert.match(refused.detail, /exit code 1: the setup line failed: false$/);
    });

    it("looks once for all who ask at the same time", async () => {
      const cwd = folder();
      const others = [host.ops, host.ops, await host.connect(), await host.connect()];
      const asked: OutputCheck = { files: ["*"], command: "echo x >> ran; sleep 1; exit 2" };
      writeFileSync(join(cwd, "ran"), "");
      const reports = await Promise.all(others.map((ops) => ops.checkOutputs(asked, cwd)));
      assert.equal(readFileSync(join(cwd, "ran"), "utf8"), "x\n");
      for (const { detail } of reports) assert.match(detail, /exit code 2/);
    });

    it("judges a run by what is there after its end, not by an answer of a moment before", async () => {
      const doneWhen: OutputCheck = { files: ["short-run"] };
      // What a launch asks of what it needs.
      assert.equal((await check({ ...doneWhen, fresh: true })).ok, false);
      const { run } = launched(await host.ops.launch(host.request({ command: "echo done >short-run" })));
      const recordOf = async (): Promise<RunRecord | undefined> =>
        (await host.ops.records("night")).find((one) => one.run === run);
      await until("its end", async () => (await recordOf())?.end !== undefined);
      const record = await recordOf();
      // Some clocks count full seconds.
      await new Promise((done) => setTimeout(done, 1100));
      const verdict = record && verdictCheck(stage("download", { doneWhen }), record);
      assert.ok(verdict);
      const { ok, detail } = await check(verdict);
      assert.ok(ok, detail);
      // Who asks next need not look again.
      rmSync(join(host.work, "short-run"));
      assert.ok((await check(verdict)).ok);
    });

    it("takes the turn of one who died while it looked", async () => {
      const cwd = folder();
      const asked: OutputCheck = { files: ["*"], command: "true" };
      await host.ops.checkOutputs(asked, cwd);
      const newest = filesOf("answer").reduce((a, b) => (statSync(a).mtimeMs > statSync(b).mtimeMs ? a : b));
      writeFileSync(join(newest, "..", "lock"), "999999999 1 other-boot 0\n");
      rmSync(newest);
      assert.equal((await host.ops.checkOutputs(asked, cwd)).ok, false);
      assert.deepEqual(filesOf("lock"), []);
    });

    it("says which folder may not be looked into", { skip: cannotChangeUser() }, async () => {
      // Permissions bind others than root alone: the host is looked at by somebody else's login.
      const root = mkdtempSync(join("/tmp", "mls-other-"));
      const login = join(root, "login");
      writeFileSync(login, '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups /bin/sh "$@"\n');
      chmodSync(root, 0o755);
      chmodSync(login, 0o755);
      const other = await makeTestHost(path, makeLocal(login), { stateDir: join(root, "state") });
      try {
        mkdirSync(join(root, "out", "closed"), { recursive: true });
        writeFileSync(join(root, "out", "closed", "x"), "12345");
        writeFileSync(join(root, "out", "y"), "123");
        chmodSync(join(root, "out", "closed"), 0o700);
        chownSync(join(root, "out"), 65534, 65534);
        const { ok, detail } = await other.ops.checkOutputs({ files: [join(root, "out")], minBytes: 8 }, "/");
        assert.equal(ok, false);
        const folderName = join(root, "out", "closed");
        assert.match(detail, new RegExp(`^3 of 8 B are there; .?${folderName}.? may not be looked into$`));
      } finally {
        other.dispose();
        rmSync(root, { recursive: true, force: true });
        makeLocal()({ home: host.home, bin: join(host.home, "..", "bin") }).dispose();
      }
    });

    it("leaves no lock and no file of its own behind", async () => {
      const own = await makeTestHost(path, makeLocal());
      try {
        const cwd = join(own.work, "out");
        mkdirSync(cwd);
        writeFileSync(join(cwd, "a.jsonl"), "1\n2\n");
        const lines: Partial<OutputCheck> = { outputs: { files: ["*.jsonl"], count: "lines" } };
        await own.ops.checkOutputs({ files: [], ...lines, watching }, cwd);
        await own.ops.checkOutputs({ files: ["*.jsonl"], ...lines, command: "false" }, cwd);
        const found = execFileSync("find", [own.state, "-type", "f"], { encoding: "utf8" }).split("\n").filter(Boolean);
        const names = found.map((file) => file.split("/").at(-1));
        assert.deepEqual(names.sort(), ["answer", "answer", "lines"]);
      } finally {
        own.dispose();
        makeLocal()({ home: host.home, bin: join(host.home, "..", "bin") }).dispose();
      }
    });

    it("takes what was moved aside before a restart for nobody's output", async () => {
      const cwd = folder();
      mkdirSync(join(cwd, "out.before-20261202T054100Z"));
      writeFileSync(join(cwd, "out.before-20261202T054100Z", "x.jsonl"), "1\n");
      writeFileSync(join(cwd, "a.jsonl.before-20261202T054100Z"), "1\n2\n");
      writeFileSync(join(cwd, "a\nb.jsonl.before-1"), "1\n2\n");
      const lines = { files: ["a*", "out*"], count: "lines" } as const;
      for (const seen of [{}, { watching }]) {
        const none = await check({ files: ["a*"], outputs: lines, ...seen }, cwd);
        assert.deepEqual([none.ok, none.count, none.files, none.bytes], [false, 0, 0, 0]);
        assert.equal(none.detail, "nothing matches a*");
      }
      writeFileSync(join(cwd, "a.jsonl"), "1\n");
      const { ok, count, files } = await check({ files: ["a*"], outputs: lines, minBytes: 1 }, cwd);
      assert.deepEqual([ok, count, files], [true, 1, 1]);
    });
  });
}

/** Why nobody else can be played here, else false. */
function cannotChangeUser(): string | false {
  return process.getuid?.() === 0 ? false : "only root can look at the host as somebody else";
}
