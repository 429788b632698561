import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { stateText } from "../../src/core/session/stateWords";
import { startStoryHost, windowOn, type StoryHost } from "./storyHost";
import { storyId, type StoryWindow } from "./storyWindow";

/** How long a verdict may take to come on a machine that is ten times slower than usual, ms. */
const patience = 60_000;

/** A stage of the verdict tests: what it runs, and what the tree must say once that has happened. */
interface Verdict {
  readonly name: string;
  /** Lines of the stage in the session file. */
  readonly lines: (home: string) => readonly string[];
  readonly kind: string;
  readonly says: RegExp;
  /** What is done to it after it has started. */
  readonly then?: (window: StoryWindow, host: StoryHost) => Promise<void>;
  readonly skip?: string | false;
}

const command = (text: string): readonly string[] => [`command: ${JSON.stringify(text)}`];

const verdicts: readonly Verdict[] = [
  {
    name: "127: a program that is not there",
    lines: () => command("surely-missing --x"),
    kind: "failed",
    says: /^failed .* after start · .*surely-missing.*PATH.*\(exit 127\)/,
  },
  {
    name: "126: a file that may not be run",
    lines: () => command("/etc/passwd"),
    kind: "failed",
    says: /not.*execut|may not be/i,
  },
  {
    name: "2: wrong arguments",
    lines: () => command("python3 -c 'import argparse; argparse.ArgumentParser().parse_args()' --nope"),
    kind: "failed",
    says: /option or value was refused.*\(exit 2\)/,
  },
  {
    name: "3, with words that no rule knows",
    lines: () => command("echo begin; echo 'shard 2 has no index' >&2; echo; exit 3"),
    kind: "failed",
    says: /exit code 3 · “shard 2 has no index”/,
  },
  {
    name: "an exception",
    lines: () => command("python3 -c 'import json; json.loads(\"{\")'"),
    kind: "failed",
    says: /JSONDecodeError|Expecting/,
  },
  { name: "SIGKILL", lines: () => command("sleep 0.3; kill -KILL $$"), kind: "failed", says: /killed \(SIGKILL\)/ },
  {
    name: "a segmentation fault",
    lines: () => command("python3 -c 'import ctypes; ctypes.string_at(0)'"),
    kind: "failed",
    says: /segmentation fault|SIGSEGV/i,
  },
  {
    name: "exit 0 too soon, with nothing that says it did its work",
    lines: () => command("true"),
    kind: "finished-unchecked",
    says: /^ended .* after start · exit 0, result not checked/,
  },
  {
    name: "exit 0 at once that left what was declared",
    lines: (home) => [...command(`echo x > ${home}/made`), `done_when: { files: ${home}/made }`],
    kind: "finished",
    says: /^finished/,
  },
  {
    name: "exit 0 with missing outputs",
    lines: (home) => [...command("echo all good"), `done_when: { files: ${home}/never-made }`],
    kind: "failed",
    says: /exit code 0, but .*never-made/,
  },
  {
    name: "a stall with a busy CPU",
    lines: () => [
      ...command(
        "echo 'Progress: 10/100 (0 errors), 1.0 req/s, avg completion: 5 tokens, elapsed: 1s'; while :; do :; done",
      ),
      "stalled_after: 2s",
    ],
    kind: "stalled",
    says: /^stalled since .*stands still · 10/,
  },
  {
    name: "a TERM to the whole group of the job",
    lines: () => command("sleep 1000 & wait"),
    kind: "failed",
    says: /asked it to end \(SIGTERM\)/,
    then: async (window) => {
      process.kill(-(await jobOf(window)), "SIGTERM");
    },
  },
  {
    name: "a pipe whose first part dies",
    lines: () => command("surely-missing | tee copy"),
    kind: "failed",
    says: /surely-missing.*\(exit 127\)/,
  },
  {
    name: "a stop",
    lines: () => command("sleep 1000"),
    kind: "stopped",
    says: /^stopped .* by tester@here/,
    then: async (window) => {
      await jobOf(window);
      await window.launcher.stop(storyId, ref);
    },
  },
  {
    name: "a wrapper and a job that were both killed without a word",
    lines: () => command("sleep 1000"),
    kind: "lost",
    says: /gone and left no exit code/,
    then: async (window) => {
      killAll(await jobOf(window));
    },
  },
  {
    name: "a number that another process has now",
    lines: () => command("sleep 1000"),
    kind: "lost",
    says: /gone and left no exit code/,
    then: async (window, host) => {
      const job = await jobOf(window);
      // The record keeps the start of a process that is no more; its number is that of one which lives.
      rewrite(host, (fields) => [String(process.pid), ...fields.slice(1)]);
      killAll(job);
    },
  },
  {
    name: "a reboot: another boot id",
    lines: () => command("sleep 1000"),
    kind: "lost",
    says: /host was restarted while it ran/,
    then: async (window, host) => {
      const job = await jobOf(window);
      rewrite(host, ([pid = "", ticks = "", , uid = ""]) => [pid, ticks, "0000-another-boot.1", uid]);
      killAll(job);
    },
  },
  {
    name: "a record that was deleted while nobody looked",
    lines: () => command("sleep 1000"),
    kind: "lost",
    says: /its record on the host was deleted/,
    then: async (window, host) => {
      await jobOf(window);
      window.open.disconnect(storyId, undefined);
      for (const file of filesOf(host, "process")) rmSync(join(file, ".."), { recursive: true });
      await window.open.connect(storyId, undefined, true);
    },
  },
  {
    name: "setup that fails",
    lines: () => command("echo never"),
    kind: "failed",
    says: /setup line `not-a-program --x` failed/,
  },
];

const ref = { stage: "it", member: "0" };

for (const verdict of verdicts) {
  test(`seen on a real host: ${verdict.name}`, { skip: verdict.skip ?? false }, async (t) => {
    const host = await startStoryHost(t);
    const setup = verdict.name.startsWith("setup") ? '\n    setup: ["not-a-program --x"]' : "";
    const window = await windowOn(t, host, fileFor(host.home, verdict.lines(host.home), setup));
    t.after(() => {
      endJobs(host);
    });
    await window.launcher.launch(storyId, ref);
    await verdict.then?.(window, host);
    await seen(t, window, verdict.kind, verdict.says);
  });
}

/** Waits for the verdict and its words; says how long after the death it came. */
async function seen(t: TestContext, window: StoryWindow, kind: string, says: RegExp): Promise<void> {
  const words = (): string => {
    const member = window.member("it");
    return stateText(member.state, member, Date.now());
  };
  await window.until(`${kind} (${says.source})`, () => window.state("it") === kind && says.test(words()), patience);
  const { run, transitions } = window.member("it");
  const at = transitions.at(-1)?.at ?? 0;
  if (run?.end) t.diagnostic(`death to verdict: ${Math.round(at - run.end.at)} ms`);
  t.diagnostic(words());
}

function fileFor(home: string, lines: readonly string[], ofHost = ""): string {
  const host = `hosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state${ofHost}\n`;
  return `session: s\n${host}stages:\n  it:\n    cwd: ${home}\n${lines.map((line) => `    ${line}\n`).join("")}`;
}

/** The job's process, once its record names it. */
async function jobOf(window: StoryWindow): Promise<number> {
  await window.until("it runs", () => window.member("it").run?.process !== undefined, patience);
  return window.member("it").run?.process?.pid ?? 0;
}

/** The wrapper, then the job: nobody is left to write how it ended. */
function killAll(job: number): void {
  const parent = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(job)], { encoding: "utf8" }));
  for (const pid of [parent, job]) if (pid > 1) process.kill(pid, "SIGKILL");
}

function filesOf({ home }: StoryHost, name: string): readonly string[] {
  return filesBelow(join(home, "state"), `/${name}`);
}

/** Paths below a folder that end so. */
function filesBelow(folder: string, end: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(end))
    .map((path) => join(folder, path));
}

/** Changes the identities in the record: pid, start, boot, uid. */
function rewrite(host: StoryHost, change: (fields: readonly string[]) => readonly string[]): void {
  for (const file of [...filesOf(host, "process"), ...filesOf(host, "wrapper")]) {
    writeFileSync(file, `${change(readFileSync(file, "utf8").trim().split(" ")).join(" ")}\n`);
  }
}

/** Ends what a test may have left running. */
function endJobs({ home }: StoryHost): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    try {
      if (
        readFileSync(`/proc/${pid}/environ`, "utf8").includes(home) ||
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(home)
      )
        process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, or is nobody's we may look at.
    }
  }
}

const namespaces = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const cannotContain =
  spawnSync("unshare", [...namespaces.slice(1), "true"]).status === 0 ? false : "unshare --pid is not allowed here";

test("seen on a real host: the container was started anew", { skip: cannotContain }, async (t) => {
  const host = await startStoryHost(t, { within: namespaces });
  const file = fileFor(host.home, command("sleep 1000"));
  const window = await windowOn(t, host, file);
  await window.launcher.launch(storyId, ref);
  await jobOf(window);
  assert.equal(window.state("it"), "running");
  await host.sshd.restart();
  await seen(t, window, "lost", /host was restarted while it ran/);
});

/** Whether a file system of its own may be mounted here. */
function cannotMount(): string | false {
  const inside = "mount -t tmpfs none /mnt";
  return spawnSync("unshare", ["--mount", "sh", "-c", inside]).status === 0 ? false : "mount is not allowed here";
}

test("seen on a real host: the disk is full when it ends", { skip: cannotMount() }, async (t) => {
  const disk = mountSmall(t, "size=1m,mode=700");
  const host = await startStoryHost(t);
  t.after(() => {
    endJobs(host);
  });
  const go = join(host.home, "go");
  const file = fileFor(host.home, command(`until [ -e ${go} ]; do sleep 0.1; done; exit 3`));
  const window = await windowOn(t, host, file.replace(`${host.home}/state`, disk));
  await window.launcher.launch(storyId, ref);
  await jobOf(window);
  // The last block too: what is written after this fails.
  spawnSync("dd", ["if=/dev/zero", `of=${disk}/filler`, "bs=4096"], { stdio: "ignore" });
  writeFileSync(go, "");
  await seen(t, window, "failed", /exit code 3/);
  await assert.rejects(window.launcher.launch(storyId, ref), /cannot be written \(is the disk full\?\)/);
});

test("seen on a real host: a home that is read-only", { skip: cannotMount() }, async (t) => {
  const home = mountSmall(t, "ro,size=64k");
  const host = await startStoryHost(t);
  const warnings: string[] = [];
  const logger = { debug: nothing, info: nothing, error: nothing, warn: (message: string) => warnings.push(message) };
  const file = fileFor(host.home, command("exit 3")).replace(`${host.home}/state`, `${home}/state`);
  const window = await windowOn(t, host, file.replace("session: s", `session: read-only-${process.pid}`), logger);
  const fallback = `/var/tmp/ml-session-${process.getuid?.() ?? 0}`;
  t.after(() => {
    for (const entry of filesBelow(fallback, `/read-only-${process.pid}`)) rmSync(entry, { recursive: true });
  });
  await window.launcher.launch(storyId, ref);
  await seen(t, window, "failed", /exit code 3/);
  assert.ok(
    warnings.some((said) => said.includes(`${home}/state cannot be written; ${fallback} is used`)),
    warnings.join(),
  );
});

/** A file system of its own, for as long as the test goes on. */
function mountSmall(t: TestContext, options: string): string {
  const folder = mkdtempSync(join(tmpdir(), "small-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    rmdirSync(folder);
  });
  return folder;
}

const nothing = (): void => undefined;

/** A group of the memory controller with so little room that a job in it is killed by the kernel. */
function makeSmallGroup(name: string, mebibytes: number): string | undefined {
  const group = join("/sys/fs/cgroup/memory", `verdict-test-${name}-${process.pid}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, "memory.limit_in_bytes"), String(mebibytes * 1024 * 1024));
    return group;
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
}

/** A member of a group may take a moment to be gone. */
async function removeGroup(group: string): Promise<void> {
  const end = Date.now() + patience;
  while (existsSync(group) && Date.now() < end) {
    try {
      rmdirSync(group);
    } catch {
      await sleep(50);
    }
  }
}

const eat = `exec python3 -c "x = bytearray(b'1') * (400 << 20); print(len(x))"`;

test("seen on a real host: killed by the kernel for its memory, as the counts of its login say", async (t) => {
  const group = makeSmallGroup("login", 150);
  if (group === undefined) {
    t.skip("the memory controller cannot be used here");
    return;
  }
  const host = await startStoryHost(t, { within: ["sh", "-c", `echo $$ >${group}/cgroup.procs && exec "$@"`, "sh"] });
  t.after(async () => {
    endJobs(host);
    await removeGroup(group);
  });
  const window = await windowOn(t, host, fileFor(host.home, command(eat)));
  await window.launcher.launch(storyId, ref);
  await seen(t, window, "failed", /killed by the kernel \(SIGKILL\) since memory ran out/);
});

test("seen on a real host: killed for its memory in a group of its own, as the counts of the host say", async (t) => {
  const group = makeSmallGroup("job", 40);
  if (group === undefined) {
    t.skip("the memory controller cannot be used here");
    return;
  }
  const host = await startStoryHost(t);
  t.after(async () => {
    endJobs(host);
    await removeGroup(group);
  });
  const window = await windowOn(t, host, fileFor(host.home, command(`echo $$ > ${group}/cgroup.procs; ${eat}`)));
  await window.launcher.launch(storyId, ref);
  await seen(t, window, "failed", /killed \(SIGKILL\), most likely by the kernel since memory ran out/);
});
