import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import prelude from "../../src/host/prelude.sh";
import recorderScript from "../../src/host/recorder.sh";
import { historyOf } from "../../src/ssh/history";
import { kill, processesWith, shells, until } from "./hostHarness";

const boot = "boot";
const fields = "index,uuid,name,utilization.gpu,memory.used";

/** Two GPUs, as fast as they are read. */
const flood = `#!/bin/sh
while printf '%s, GPU-%s, NVIDIA H200 (simulated), 98, 131000\\n' 0 a 1 b; do sleep 0.01; done
`;

/** A state folder with one run whose job lives; the recorder alone, without a connection or a launch. */
class Recorded {
  readonly root: string;
  readonly flight: string;
  readonly run: string;
  readonly log: string;
  readonly #bin: string;
  readonly #job: number;

  constructor(t: TestContext, shell: string, root = mkdtempSync(join(tmpdir(), "mls-recorder-"))) {
    this.root = root;
    this.flight = join(root, "v1", "here", ".recorder");
    this.run = join(root, "v1", "here", "night", "s", "0", "r1");
    this.#bin = mkdtempSync(join(tmpdir(), "mls-bin-"));
    this.log = join(this.#bin, "job.log");
    mkdirSync(this.flight, { recursive: true });
    mkdirSync(this.run, { recursive: true });
    symlinkSync(shell, join(this.#bin, "sh"));
    writeFileSync(join(this.#bin, "nvidia-smi"), flood);
    chmodSync(join(this.#bin, "nvidia-smi"), 0o755);
    const job = spawn("sleep", ["1000"], { stdio: "ignore" });
    this.#job = job.pid ?? 0;
    writeFileSync(this.log, "");
    writeFileSync(join(this.run, "log"), `${this.log}\n`);
    writeFileSync(join(this.run, "process"), `${this.#job} ${ticksOf(this.#job)} ${boot} 0\n`);
    writeFileSync(join(this.flight, "recorder.sh"), `${prelude}\n${recorderScript}`);
    t.after(() => {
      for (const pid of [...this.processes(), this.#job]) kill(pid);
      for (const folder of [root, this.#bin]) rmSync(folder, { recursive: true, force: true });
    });
  }

  /** Resolves with its exit code when it has ended. */
  start(segmentBytes = 1_000_000): Promise<number | null> {
    const words = [this.flight, boot, "0", "2", `${segmentBytes}`, fields, fields, fields];
    const child = spawn(join(this.#bin, "sh"), [join(this.flight, "recorder.sh"), ...words], {
      env: { PATH: `${this.#bin}:${process.env["PATH"] ?? ""}`, ML_SESSION_TEST: this.root },
      stdio: "ignore",
      detached: true,
    });
    return new Promise((resolve) => child.once("exit", resolve));
  }

  /** All that the recorder is and has started. */
  processes(): number[] {
    return processesWith(`ML_SESSION_TEST=${this.root}`);
  }

  get owner(): number {
    return Number(textOf(join(this.flight, "lock")).split(" ")[0]);
  }

  segments(): readonly string[] {
    return readdirSync(this.flight)
      .filter((name) => name.startsWith("spool."))
      .sort();
  }

  bytes(): number {
    return this.segments().reduce(
      (sum, name) => sum + (statSync(join(this.flight, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }

  spool(): string {
    return this.segments()
      .map((name) => textOf(join(this.flight, name)))
      .join("");
  }

  endJob(): void {
    kill(this.#job);
  }

  /** What is in its folder beside its script and what it kept. */
  leftovers(): readonly string[] {
    return readdirSync(this.flight).filter(
      (name) => !name.startsWith("spool.") && name !== "recorder.sh" && name !== "runs",
    );
  }
}

for (const { name, path } of shells) {
  describe(`the spool of the flight recorder under ${name}`, () => {
    it("two at once are one, a killed one's lock is taken over, and nothing is left after the last run", async (t) => {
      const recorded = new Recorded(t, path);
      const six = Array.from({ length: 6 }, () => recorded.start());
      assert.equal(await Promise.race(six), 0);
      await until("one", () => recorded.owner > 0 && recorded.spool().includes("\nd 1, 98, 131000\n"));
      const { owner } = recorded;
      kill(owner);
      assert.deepEqual(
        (await Promise.all(six)).filter((code) => code !== 0),
        [null],
      );
      const [one, other] = [recorded.start(), recorded.start()];
      assert.equal(await Promise.race([one, other]), 0);
      await until("another", () => recorded.owner !== owner && recorded.spool().split("v 1").length > 2);
      appendFileSync(recorded.log, "ten bytes\n");
      await until("the growth of its log", () => /^s 1 \d+ 10$/m.test(recorded.spool()));
      recorded.endJob();
      assert.deepEqual(await Promise.all([one, other]), [0, 0]);
      await until("nothing of it", () => recorded.processes().length === 0);
      assert.deepEqual(recorded.leftovers(), []);
      const { gpus, runs } = historyOf(recorded.spool());
      assert.deepEqual(
        runs.map(({ run, marks }) => [run, marks.at(-1)?.size]),
        [["r1", 10]],
      );
      assert.deepEqual(
        [...new Set(gpus.map(({ index, uuid, utilisation }) => `${index} ${uuid} ${utilisation ?? ""}`))],
        ["0 GPU-a 98", "1 GPU-b 98"],
      );
    });

    it("holds no more than eight segments, goes on with the newest, and each can be read without the others", async (t) => {
      const recorded = new Recorded(t, path);
      for (let old = 10; old < 30; old++)
        writeFileSync(join(recorded.flight, `spool.10000000${old}`), "x".repeat(4000));
      void recorded.start(4000);
      let most = 0;
      const look = setInterval(() => (most = Math.max(most, recorded.bytes())), 10);
      t.after(() => {
        clearInterval(look);
      });
      await until(
        "the ends of old ones",
        () => recorded.segments().filter((one) => !one.startsWith("spool.10000000")).length >= 3,
      );
      most = 0;
      await until("more", () => recorded.segments().filter((one) => !one.startsWith("spool.10000000")).length >= 5);
      clearInterval(look);
      assert.ok(recorded.segments().length <= 8, recorded.segments().join());
      // A segment ends with the second in which it is full.
      assert.ok(most > 0 && most <= 8 * 20_000, `${most} bytes`);
      const last = recorded.segments().at(-2) ?? "";
      assert.ok(historyOf(textOf(join(recorded.flight, last))).gpus.length > 0);
    });

    it(
      "gives room on a full disk, and ends where there is none, with nothing left",
      { skip: cannotMount() },
      async (t) => {
        const disk = mkdtempSync(join(tmpdir(), "mls-small-"));
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs", disk]);
        t.after(() => {
          execFileSync("umount", ["-l", disk]);
        });
        const root = join(disk, "state");
        mkdirSync(root);
        const recorded = new Recorded(t, path, root);
        const old = join(recorded.flight, "spool.1000000010");
        writeFileSync(old, "x".repeat(20_000));
        const ended = recorded.start(20_000);
        await until("its spool", () => recorded.segments().length > 1);
        fill(join(disk, "fill"));
        await until("room", () => !existsSync(old));
        const size = recorded.bytes();
        await until("more of it", () => recorded.bytes() > size);
        fill(join(disk, "more"));
        assert.equal(await ended, 0);
        await until("nothing of it", () => recorded.processes().length === 0);
        assert.deepEqual(recorded.leftovers(), []);
        assert.ok(historyOf(recorded.spool()).gpus.length > 0);
      },
    );
  });
}

function fill(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(1 << 20));
  } catch {
    // It is full.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // it is gone
  }
}

function ticksOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function cannotMount(): string | false {
  try {
    execFileSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs none /mnt"], { stdio: "ignore" });
    return false;
  } catch {
    return "no file system can be mounted here";
  }
}
