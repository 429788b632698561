import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { FollowEvent, FollowFrom } from "../../src/core/following";
import {
  makeTestHost,
  processesWith,
  realClock,
  shadow,
  until,
  type MakeTransport,
  type TestHost,
} from "./hostHarness";

/** Collects what a follow says. */
export class Follower {
  readonly events: FollowEvent[] = [];
  text = "";
  readonly over = new AbortController();
  readonly done: Promise<unknown>;

  constructor(host: TestHost, path: string, from: FollowFrom) {
    this.done = this.#run(host.ops.follow(path, from, this.over.signal)).catch((error: unknown) => error);
  }

  async #run(source: AsyncIterable<FollowEvent>): Promise<void> {
    let next: number | undefined;
    for await (const event of source) {
      this.events.push(event);
      if (event.kind === "opened" || event.kind === "restarted") next = event.position.offset;
      if (event.kind !== "data") continue;
      assert.equal(event.offset, next, "offsets have no gap");
      next = event.offset + event.data.length;
      this.text += Buffer.from(event.data).toString("latin1");
    }
  }

  get kinds(): string[] {
    return this.events.map((event) => event.kind);
  }

  async stop(): Promise<void> {
    this.over.abort(new Error("enough"));
    await this.done;
  }
}

const whole: FollowFrom = { kind: "end", bytes: Number.MAX_SAFE_INTEGER };

/** Following: the same over every transport and under every shell, by tail and by polling. */
export function followBehaviour(name: string, shell: string, makeTransport: MakeTransport, tail?: string): void {
  describe(`following under ${name}${tail === undefined ? "" : `, with the tail of ${tail}`}`, () => {
    let host: TestHost;
    let count = 0;
    const followers: Follower[] = [];
    before(async () => {
      host = await makeTestHost(shell, makeTransport);
      if (tail === undefined) return;
      shadow(host, "tail", tail);
      host.ops.dispose();
      host = { ...host, ops: await host.connect() };
      assert.ok(!host.ops.identity.has.has("gnu-tail"));
    });
    after(async () => {
      await Promise.all(followers.map((follower) => follower.stop()));
      host.dispose();
    });
    const fresh = (): string => {
      const folder = join(host.work, `-f ${count++} $(x)'é`);
      mkdirSync(folder);
      return join(folder, "a log.txt");
    };
    const follow = (path: string, from: FollowFrom = whole): Follower => {
      const follower = new Follower(host, path, from);
      followers.push(follower);
      return follower;
    };
    const shows = (follower: Follower, text: string): Promise<void> =>
      until(
        () =>
          `${JSON.stringify(text.slice(-60))} to be read, but ${JSON.stringify(follower.text.slice(-60))} was; ${follower.kinds.slice(-5).join(" ")}`,
        () => follower.text === text,
      );

    it("gives what is there, says so, and gives what comes", async () => {
      const path = fresh();
      writeFileSync(path, "one\ntwo\n");
      const follower = follow(path);
      await until("caught up", () => follower.kinds.includes("caught-up"));
      appendFileSync(path, "three \x00\xff\n", "latin1");
      await shows(follower, "one\ntwo\nthree \x00\xff\n");
      const [opened] = follower.events;
      assert.ok(opened?.kind === "opened");
      assert.equal(opened.size, 8);
      assert.equal(opened.position.inode, String(statSync(path).ino));
      assert.equal(opened.position.device, String(statSync(path).dev));
      await follower.stop();
    });

    it("starts so many bytes before the end", async () => {
      const path = fresh();
      writeFileSync(path, "0123456789");
      const follower = follow(path, { kind: "end", bytes: 4 });
      await shows(follower, "6789");
      await follower.stop();
    });

    it("tells what is missing, a folder or a pipe, and goes on when it is a file", async () => {
      const path = fresh();
      const follower = follow(path);
      await until("missing", () => follower.kinds.includes("missing"));
      mkdirSync(path);
      await until("unreadable", () => follower.kinds.includes("unreadable"));
      rmSync(path, { recursive: true });
      execFileSync("mkfifo", ["--", path]);
      await until("a pipe", () =>
        follower.events.some((event) => event.kind === "unreadable" && event.reason.includes("regular")),
      );
      rmSync(path);
      writeFileSync(path, "now\n");
      await shows(follower, "now\n");
      await follower.stop();
    });

    it("follows through truncation, rename, replacement and a link", async () => {
      const real = fresh();
      const path = `${real}.link`;
      writeFileSync(real, "a1\n");
      symlinkSync(real, path);
      const follower = follow(path);
      await shows(follower, "a1\n");
      truncateSync(real, 0);
      await until("restarted", () => follower.kinds.includes("restarted"));
      appendFileSync(real, "a2\n");
      await shows(follower, "a1\na2\n");
      renameSync(real, `${real}.1`);
      appendFileSync(`${real}.1`, "a3\n");
      writeFileSync(real, "b1\n");
      await shows(follower, "a1\na2\na3\nb1\n");
      writeFileSync(`${real}.new`, "c1\n");
      renameSync(`${real}.new`, real);
      await shows(follower, "a1\na2\na3\nb1\nc1\n");
      assert.ok(!follower.events.some((event) => event.kind === "restarted" && event.lost !== 0));
      await follower.stop();
    });

    it("reads the rest from the copy when a log is copied and cut", async () => {
      const path = fresh();
      writeFileSync(path, "x".repeat(100) + "\n");
      const follower = follow(path);
      await shows(follower, "x".repeat(100) + "\n");
      copyFileSync(path, `${path}.1`);
      // What was written just before the copy and had not been read.
      appendFileSync(`${path}.1`, "only in the copy\n");
      truncateSync(path, 0);
      await shows(follower, "x".repeat(100) + "\nonly in the copy\n");
      appendFileSync(path, "new\n");
      await shows(follower, "x".repeat(100) + "\nonly in the copy\nnew\n");
      await follower.stop();
    });

    // All lines are alike, as those of a job that only says that it lives: the bytes alone tell no file from another.
    const alike = (lines: number): string => "still alive, nothing new to say\n".repeat(lines);
    const pauseOfClock = (): Promise<void> => realClock.sleep(20);

    it("takes no older rotated file for the copy of a log that was cut, though all lines are alike", async () => {
      const path = fresh();
      writeFileSync(path, alike(300));
      const follower = follow(path);
      await shows(follower, alike(300));
      await pauseOfClock();
      renameSync(path, `${path}.1`);
      writeFileSync(path, alike(50));
      await shows(follower, alike(350));
      appendFileSync(path, alike(50));
      await shows(follower, alike(400));
      truncateSync(path, 0);
      appendFileSync(path, "after the cut\n");
      await shows(follower, `${alike(400)}after the cut\n`);
      await follower.stop();
    });

    const copiers: readonly (readonly [string, readonly string[]])[] = [
      ["cp", ["cp"]],
      ["cp -p", ["cp", "-p"]],
      ["busybox cp -p, which keeps full seconds only", ["busybox", "cp", "-p"]],
      ["cp over a file that was there", ["cp"]],
    ];
    for (const [what, [program = "", ...options]] of copiers) {
      it(`finds the copy made by ${what}, among older ones that are alike, and larger`, async () => {
        const path = fresh();
        writeFileSync(path, alike(100));
        const { ino, dev } = statSync(path);
        const follower = follow(path);
        await shows(follower, alike(100));
        await follower.stop();
        const [opened] = follower.events;
        assert.ok(opened?.kind === "opened");
        // Older ones: one that was there before, one that gets a new name in the very rotation.
        const old = new Date(opened.modifiedAt - 3000);
        for (const name of [`${path}.2`, `${path}.3`]) {
          writeFileSync(name, alike(900));
          utimesSync(name, old, old);
        }
        if (what.includes("over")) renameSync(`${path}.2`, `${path}.1`);
        appendFileSync(path, `${alike(3)}unread\n`);
        execFileSync(program, [...options, "--", path, `${path}.1`]);
        renameSync(`${path}.3`, `${path}.4`);
        truncateSync(path, 0);
        appendFileSync(path, "after the cut\n");
        const position = { device: String(dev), inode: String(ino), offset: alike(100).length };
        const last = Buffer.from(alike(2)).subarray(-64);
        const resumed = follow(path, { kind: "position", position, last, modifiedAt: opened.modifiedAt });
        await shows(resumed, `${alike(3)}unread\nafter the cut\n`);
        assert.ok(!resumed.events.some((event) => event.kind === "restarted" && (event.lost > 0 || event.lostMore)));
        await resumed.stop();
      });
    }

    it("finds the copy where the host's clock was set back meanwhile", async () => {
      const path = fresh();
      writeFileSync(path, `${alike(100)}unread\n`);
      const { ino, dev, mtimeMs } = statSync(path);
      copyFileSync(path, `${path}.1`);
      truncateSync(path, 0);
      appendFileSync(path, "after the cut\n");
      const position = { device: String(dev), inode: String(ino), offset: alike(100).length };
      const last = Buffer.from(alike(2)).subarray(-64);
      const resumed = follow(path, { kind: "position", position, last, modifiedAt: mtimeMs + 3_600_000 });
      await shows(resumed, "unread\nafter the cut\n");
      await resumed.stop();
    });

    it("resumes at a position, over several rotations", async () => {
      const path = fresh();
      writeFileSync(path, "A read|A rest\n");
      const { ino, dev } = statSync(path);
      const position = { device: String(dev), inode: String(ino), offset: 7 };
      const same = follow(path, { kind: "position", position });
      await shows(same, "A rest\n");
      await same.stop();
      for (const next of ["B whole\n", "C whole\n", "D now\n"]) {
        if (next.startsWith("C")) renameSync(`${path}.1`, `${path}.2`);
        if (next.startsWith("D")) {
          renameSync(`${path}.2`, `${path}.3`);
          renameSync(`${path}.1`, `${path}.2`);
        }
        renameSync(path, `${path}.1`);
        await until("a later moment", () => Date.now() - statSync(`${path}.1`).mtimeMs > 1100);
        writeFileSync(path, next);
      }
      const resumed = follow(path, { kind: "position", position });
      await until("all of it", () => resumed.text === "A rest\nB whole\nC whole\nD now\n", 40);
      await until("caught up", () => resumed.kinds.includes("caught-up"));
      await resumed.stop();
      const lost = follow(path, { kind: "position", position: { ...position, inode: "1" } });
      await shows(lost, "D now\n");
      assert.equal(lost.kinds[0], "restarted");
      await lost.stop();
    });

    it("knows rotated files whose numbers count up from those that count down", async () => {
      const path = fresh();
      writeFileSync(path, "A read\n");
      const follower = follow(path);
      await shows(follower, "A read\n");
      await pauseOfClock();
      renameSync(path, `${path}.1`);
      writeFileSync(path, "B read\n");
      await shows(follower, "A read\nB read\n");
      await pauseOfClock();
      appendFileSync(path, "B rest\n");
      renameSync(path, `${path}.2`);
      writeFileSync(path, "C read\n");
      await shows(follower, "A read\nB read\nB rest\nC read\n");
      await follower.stop();
      const { ino, dev } = statSync(path);
      const position = { device: String(dev), inode: String(ino), offset: 7 };
      for (const [number, text] of ["C rest\n", "D whole\n", "E whole\n"].entries()) {
        await pauseOfClock();
        appendFileSync(path, text);
        renameSync(path, `${path}.${number + 3}`);
        writeFileSync(path, "");
      }
      await pauseOfClock();
      appendFileSync(path, "F now\n");
      const resumed = follow(path, { kind: "position", position, last: Buffer.from("C read\n") });
      await shows(resumed, "C rest\nD whole\nE whole\nF now\n");
      await resumed.stop();
    });

    it("goes on in a copy after a time in which nobody read, and says what is gone", async () => {
      const path = fresh();
      const read = `${"x".repeat(99)}\n`;
      writeFileSync(path, `${read}unread\n`);
      const { ino, dev } = statSync(path);
      const position = { device: String(dev), inode: String(ino), offset: read.length };
      const from: FollowFrom = { kind: "position", position, last: Buffer.from(read).subarray(-64), size: 200 };
      copyFileSync(path, `${path}.1`);
      writeFileSync(path, "new\n");
      const resumed = follow(path, from);
      await shows(resumed, "unread\nnew\n");
      const [first] = resumed.events;
      assert.ok(first?.kind === "opened" && first.goesOn);
      assert.ok(!resumed.events.some((event) => event.kind === "restarted" && (event.lost > 0 || event.lostMore)));
      await resumed.stop();
      rmSync(`${path}.1`);
      const lost = follow(path, from);
      await shows(lost, "new\n");
      const [restarted] = lost.events;
      // It was seen to be larger than what was read of it.
      assert.ok(restarted?.kind === "restarted" && restarted.lost === 100 && restarted.lostMore);
      await lost.stop();
    });

    it("passes over the hole that a job leaves which does not append, and counts what was in it", async () => {
      const path = fresh();
      writeFileSync(path, "");
      const job = openSync(path, "w");
      writeSync(job, "y".repeat(40_000));
      const follower = follow(path);
      await shows(follower, "y".repeat(40_000));
      await follower.stop();
      const { ino, dev } = statSync(path);
      const position = { device: String(dev), inode: String(ino), offset: 30_000 };
      truncateSync(path, 0);
      writeSync(job, "after the cut\n");
      closeSync(job);
      const resumed = follow(path, { kind: "position", position, last: Buffer.from("y".repeat(64)) });
      await shows(resumed, "after the cut\n");
      const [restarted] = resumed.events;
      assert.deepEqual(restarted?.kind === "restarted" && [restarted.lost, restarted.lostMore], [10_000, undefined]);
      await resumed.stop();
    });

    it("gives every byte once, whatever is appended, cut, copied and rotated", { timeout: 240_000 }, async () => {
      const steps = fc.array(
        fc.oneof(
          {
            weight: 4,
            arbitrary: fc.record({ do: fc.constant("append" as const), size: fc.integer({ min: 1, max: 90_000 }) }),
          },
          {
            weight: 1,
            arbitrary: fc.record({
              do: fc.constantFrom("rename" as const, "cut" as const, "copy" as const, "replace" as const),
              size: fc.constant(0),
            }),
          },
        ),
        { minLength: 4, maxLength: 9 },
      );
      await fc.assert(
        fc.asyncProperty(fc.boolean(), steps, async (allAlike, list) => {
          const path = fresh();
          const piece = allAlike ? (_: number, size: number) => alike(size).slice(0, size) : linesOf;
          writeFileSync(path, "");
          const follower = follow(path);
          await until("opened", () => follower.kinds.includes("opened"));
          let expected = "";
          let number = 0;
          for (const step of list) {
            if (step.do === "append") {
              const text = piece(number++, step.size);
              appendFileSync(path, text);
              expected += text;
            } else if (step.do === "cut" || step.do === "copy") {
              // What is cut before anybody could read it is lost; this is about what could be read.
              await shows(follower, expected);
              const restarts = follower.kinds.filter((kind) => kind === "restarted").length;
              if (statSync(path).size === 0) continue;
              if (step.do === "copy") copyFileSync(path, `${path}.${Date.now()}`);
              await pauseOfClock();
              truncateSync(path, 0);
              await until("restarted", () => follower.kinds.filter((kind) => kind === "restarted").length > restarts);
            } else {
              // A replaced file must have been read; a renamed one is found.
              if (step.do === "replace") await shows(follower, expected);
              const restarts = follower.kinds.filter((kind) => kind === "restarted").length;
              if (step.do === "rename") renameSync(path, `${path}.${Date.now()}`);
              // Files of one moment have one time, and where all lines are alike there is nothing else to tell them by.
              await pauseOfClock();
              const text = piece(number++, 40);
              writeFileSync(`${path}.new`, text);
              expected += text;
              renameSync(`${path}.new`, path);
              await until("restarted", () => follower.kinds.filter((kind) => kind === "restarted").length > restarts);
            }
          }
          await shows(follower, expected);
          await follower.stop();
        }),
        { numRuns: 4, endOnFailure: true },
      );
    });

    it("reads parts of files", async () => {
      const path = fresh();
      writeFileSync(path, Buffer.from([...Array(256).keys()]));
      assert.deepEqual([...(await host.ops.read(path, 250, 100))], [250, 251, 252, 253, 254, 255]);
      assert.deepEqual([...(await host.ops.read(path, 9, 3))], [9, 10, 11]);
      assert.deepEqual([...(await host.ops.read(path, 300, 3))], []);
      await assert.rejects(host.ops.read(`${path}.none`, 0, 1), /does not exist/);
      await assert.rejects(host.ops.read(host.work, 0, 1), /not a regular file/);
    });

    it("leaves no process behind a closed channel, and none at all behind a connection", async () => {
      await Promise.all(followers.map((follower) => follower.stop()));
      const tails = (): number[] =>
        processesWith(`HOME=${host.home}`).filter((pid) => commandOf(pid).startsWith("tail\0"));
      await until("no tail", () => tails().length === 0);
      host.ops.dispose();
      await until("no process", () => processesWith(`HOME=${host.home}`).length === 0);
    });
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** No two pieces are alike anywhere: a file that reads as another one at the same place may be its copy. */
function linesOf(piece: number, size: number): string {
  const lines = Array.from({ length: Math.ceil(size / 8) }, (_, line) => `${piece}:${line}\n`);
  return lines.join("").padEnd(size, `${piece}.`).slice(0, size);
}
