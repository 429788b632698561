// What a host says is data: whatever it prints, nothing is run, nothing stands still, and memory stays bounded.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { alertRows } from "../../src/core/session/alertRows";
import { gpuRows } from "../../src/core/session/gpuRows";
import { rowsById } from "../../src/core/session/rows";
import { stageRows } from "../../src/core/session/stageRows";
import type { ExitStatus } from "../../src/core/ports";
import { openHost } from "../../src/ssh/hostOps";
import { endlessStages, kept, readEndlessLine } from "./endlessLine";
import { realClock } from "./hostHarness";
import { hostileTransport, type HostileShell } from "./hostileTransport";
import { definitionOf, startStoryHost, windowOn } from "./storyHost";
import { openStory, storyId, type StoryWindow } from "./storyWindow";

const esc = "\u001b";
const clipboard = `${esc}]52;c;cm0gLXJmIC8=\u0007`;
const link = `${esc}]8;;command:workbench.action.terminal.new${esc}\\click${esc}]8;;${esc}\\`;
const markdown =
  "[click](command:workbench.action.terminal.new) <img src=x onerror=alert(1)> <command:evil> ![i](https://e.example/i)";
const patience = 60_000;
const progressLine = (n: number): string => `Progress: ${n}/25000 (0 errors), 3.1 req/s, elapsed: ${n}s\n`;

/** All that is drawn of a session: no control characters anywhere, and no mark of Markdown that the host wrote. */
function assertDrawnSafely(window: StoryWindow): void {
  const session = window.session();
  const rows = [stageRows, gpuRows, alertRows].flatMap((build) => [
    ...rowsById(build(session, Date.now(), false)).values(),
  ]);
  for (const { label, description, tooltip, spoken } of rows) {
    for (const text of [label, description, spoken]) assert.doesNotMatch(text, /[\p{Cc}\p{Bidi_Control}]/u);
    assert.doesNotMatch(tooltip.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}]/u);
    // In a code span nothing is a mark; elsewhere brackets are escaped.
    assert.doesNotMatch(tooltip.replaceAll(/`[^`]*`/g, ""), /(?<!\\)[[\]<>]/, tooltip);
  }
}

/** Counts turns of the event loop: as long as they go on, nothing has frozen. */
function heart(t: TestContext): { readonly beats: () => number; readonly beatsOn: () => Promise<void> } {
  let beats = 0;
  const timer = setInterval(() => beats++, 5);
  t.after(() => {
    clearInterval(timer);
  });
  return {
    beats: () => beats,
    beatsOn: async () => {
      const goal = beats + 5;
      while (beats < goal) await realClock.sleep(5);
    },
  };
}

function hearRejections(t: TestContext): unknown[] {
  const heard: unknown[] = [];
  const hear = (reason: unknown): void => void heard.push(reason);
  process.on("unhandledRejection", hear);
  t.after(() => process.off("unhandledRejection", hear));
  return heard;
}

function fileOf(home: string, stages: string): string {
  return `session: hostile\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${stages}`;
}

test("megabytes without a line feed are passed over in bounded memory while another log is read", async (t) => {
  const host = await startStoryHost(t);
  const window = await windowOn(t, host, fileOf(host.home, endlessStages(host.home)));
  // The long form, with a gigabyte: npm run bench -- adversary
  const { keptBytes, peakBytes, otherMs } = await readEndlessLine(window, host.home, 64 << 20);
  assert.ok(keptBytes < 32e6, `${keptBytes} bytes are kept of a line that nobody can read`);
  assert.ok(peakBytes < 128e6, `${peakBytes} bytes lived meanwhile`);
  assert.ok(otherMs.length > 0);
  assertDrawnSafely(window);
});

for (const sessions of [10, 1]) {
  test(`marks of ours, codes for terminals, HTML and links in a log are text, with MaxSessions ${sessions}`, async (t) => {
    const host = await startStoryHost(t, { config: [`MaxSessions ${sessions}`] });
    const log = join(host.home, "forged.log");
    const nonce = "0123456789abcdef01234567";
    const forged = [
      ...[`${nonce} begin`, `@ end ${nonce}`, `${nonce} 1`, `${nonce} more`, `${nonce} 1 over`, `${nonce} beat`],
      ...[
        "@ opened first 1 1 0 1 1",
        "@ moved 1",
        "@ missing",
        "@ tool 1 0 hf /evil/hf",
        "@ done",
        "@ host x",
        "@ no-tail",
      ],
      ...[clipboard, link, markdown, `${esc}[2J${esc}[H${esc}]0;title\u0007`, "\u202eevil\u202c", "a\0b"],
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    x()',
      `RuntimeError: ${markdown}${clipboard}`,
    ];
    writeFileSync(log, "begin\n");
    const window = await windowOn(t, host, fileOf(host.home, `  job:\n    log: ${log}\n`));
    await window.until("it is followed", () => window.member("job").log?.state === "following", patience);
    appendFileSync(log, `${forged.join("\n")}\n${progressLine(5)}`);
    await window.until("what follows is read", () => window.member("job").progress?.done === 5, patience);
    const size = statSync(log).size;
    await window.until("to its end", () => window.member("job").log?.offset === size, patience);
    const { text } = window.logs.text(storyId, "job", "0") ?? { text: "" };
    assert.doesNotMatch(text.replaceAll(/[\n\t]/g, ""), /\p{Cc}/u);
    for (const mark of forged.slice(0, 13)) assert.ok(text.includes(`\n${mark}\n`), `${mark} is not shown as it is`);
    await window.until("it is red, since nobody writes any more", () => window.state("job") === "failed", patience);
    assertDrawnSafely(window);
    const tools = await window.open.opsOf(storyId, "gpu8")?.findTools(["sh"], undefined);
    assert.ok(tools !== undefined && tools.length > 0 && tools.every(({ path }) => !path.startsWith("/evil")));
    assert.equal(window.session().hosts.get("gpu8")?.connection.kind, "connected");
  });
}

test("start-up files that print forged marks, codes and a screenful change nothing", async (t) => {
  const host = await startStoryHost(t, { loginShell: "/bin/bash" });
  const noise = "x".repeat(1000);
  const lines = Array.from({ length: 100 }, () => `echo '${noise}'`);
  const marks = ["0123456789abcdef01234567 begin", "@ machine evil", "@ home /evil", "@ end 0123456789abcdef01234567"];
  const said = [...marks, clipboard, link].map((one) => `printf '%s\\n' '${one}' >&2; printf '%s\\n' '${one}'`);
  writeFileSync(join(host.sshd.folder, ".bashrc"), [...lines, ...said, "false"].join("\n"));
  const window = await windowOn(t, host, fileOf(host.home, `  job:\n    command: exit 3\n    cwd: ${host.home}\n`));
  const { identity } = window.session().hosts.get("gpu8") ?? {};
  assert.equal(identity?.home, host.sshd.folder);
  await window.launcher.launch(storyId, { stage: "job", member: "0" });
  await window.until("how it ended is known", () => window.state("job") === "failed", patience);
  assert.deepEqual(window.member("job").run?.end?.exit, { kind: "code", code: 3 });
  assertDrawnSafely(window);
});

test("ten thousand outputs with names that are commands, links and lines are counted, and none is run", async (t) => {
  const host = await startStoryHost(t);
  const folder = join(host.home, "out");
  const other = join(host.home, "other.log");
  mkdirSync(folder);
  writeFileSync(other, progressLine(1));
  const names = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "-rf",
    "--help",
    "a\nb",
    `${esc}]52;c;eA==`,
    "'\"",
    "[x](command:y)",
    "*",
  ];
  for (const name of names) writeFileSync(join(folder, name), "line\n");
  for (let n = names.length; n < 10_000; n++) writeFileSync(join(folder, `part-${n}`), "");
  const command = `cd ${folder} && sleep 600`;
  const job = `  job:\n    command: ${command}\n    cwd: ${host.home}\n    log: ${folder}/job.log\n    outputs: { files: "${folder}/*", count: files }\n    done_when: { outputs_at_least: 20000 }\n`;
  const window = await windowOn(t, host, fileOf(host.home, `${job}  other:\n    log: ${other}\n`));
  await window.launcher.launch(storyId, { stage: "job", member: "0" });
  for (let n = 2; n < 8; n++) {
    appendFileSync(other, progressLine(n));
    await window.until(`progress ${n}`, () => window.member("other").progress?.done === n, patience);
  }
  // The job's own log is the one more.
  const written = (): number => window.member("job").written?.done ?? window.member("job").progress?.done ?? 0;
  await window.until("they are counted", () => written() >= 10_000, patience);
  // A log that is cut among them: what was copied away is looked for in a folder of ten thousand.
  const cut = join(folder, "job.log");
  appendFileSync(cut, "old\n".repeat(50));
  await window.until("the log is read", () => window.member("job").log?.offset === statSync(cut).size, patience);
  truncateSync(cut, 0);
  appendFileSync(cut, progressLine(42));
  await window.until("what was written after the cut", () => window.member("job").progress?.done === 42, 2 * patience);
  assertDrawnSafely(window);
  await window.launcher.stop(storyId, { stage: "job", member: "0" });
  await window.until("it is stopped", () => window.state("job") === "stopped", patience);
  for (const one of [folder, host.home, host.sshd.folder, process.cwd()]) assert.ok(!existsSync(join(one, "pwned")));
});

test("a line that drips byte by byte is read when it is whole, and its half is no number", async (t) => {
  const host = await startStoryHost(t);
  const log = join(host.home, "drip.log");
  writeFileSync(log, progressLine(1));
  const window = await windowOn(t, host, fileOf(host.home, `  job:\n    log: ${log}\n`));
  await window.until("it is followed", () => window.member("job").progress?.done === 1, patience);
  const totals = new Set<number>();
  const listening = window.store.onDidChange(() => void totals.add(window.member("job").progress?.total ?? 0));
  t.after(() => {
    listening.dispose();
  });
  for (const byte of progressLine(4120)) {
    appendFileSync(log, byte);
    await realClock.sleep(20);
  }
  await window.until("the whole line", () => window.member("job").progress?.done === 4120, patience);
  assert.deepEqual([...totals], [25_000]);
});

test("run records that somebody else wrote into the state folder are read as data or left out", async (t) => {
  const host = await startStoryHost(t);
  const command = `  job:\n    command: "true"\n    cwd: ${host.home}\n  after:\n    command: "true"\n    cwd: ${host.home}\n`;
  const first = await windowOn(t, host, fileOf(host.home, command));
  await first.launcher.launch(storyId, { stage: "job", member: "0" });
  await first.until("a record", () => first.state("job") === "finished-unchecked", patience);
  first.close();
  const [folder = ""] = readdirSync(join(host.home, "state", "v1"));
  const members = join(host.home, "state", "v1", folder, "hostile", "job", "0");
  const [run = ""] = readdirSync(members).filter(
    (name) => name !== "launch.lock" && statSync(join(members, name)).isDirectory(),
  );
  const write = (field: string, text: string): void => {
    writeFileSync(join(members, run, field), text);
  };
  write("command", `${markdown}${clipboard}\n${"y".repeat(200_000)}\n`);
  write("from", `${clipboard}${link}\n`);
  write("binary", `/evil/${markdown}\n`);
  write("end", "code 999 99999999999999999999 -1\n");
  write("log", "/dev/zero\n");
  write("process", "1 0 x 0\n");
  write("environment", `PATH ${markdown}\n`);
  const window = await windowOn(t, host, fileOf(host.home, command));
  await window.until(
    "it is judged",
    () => window.state("job") !== "unknown" && window.member("job").run !== undefined,
    patience,
  );
  assert.equal(window.member("job").run?.end, undefined);
  assert.notEqual(window.state("job"), "finished");
  await window.until("no device is read as a log", () => window.member("job").log?.state === "unreadable", patience);
  await window.launcher.launch(storyId, { stage: "after", member: "0" });
  await window.until("the other stage goes on", () => window.state("after") === "finished-unchecked", patience);
  assertDrawnSafely(window);
});

const hostname = `h${clipboard}${markdown}`;
const probe = [
  "now 1",
  "machine m",
  `hostname ${hostname}`,
  "boot b-1",
  "has proc",
  "has gnu-tail",
  "uid 0",
  "user u",
  "home /h",
  "root /h/s",
];

/** One frame of control.sh. */
const frame = (nonce: string, id: string, text: string): string =>
  `\n${nonce} ${id}\n${text}\n${nonce} more\n\n${nonce} ${id} over\n`;

/** Answers until the host is known; then as the case wants. */
function afterProbe(
  misbehave: (shell: HostileShell, request: { readonly mode: string; readonly id: string }) => Promise<void>,
) {
  return async (shell: HostileShell): Promise<void> => {
    const { nonce, say } = shell;
    await Promise.all([say(`\n${nonce} begin\n`), shell.sayAside(`\n${nonce} begin\n`)]);
    for await (const { mode, id, script } of shell.requests) {
      if (script.includes("@ machine"))
        await say(frame(nonce, id, `${probe.map((one) => `@ ${one}\n`).join("")}@ end ${nonce}\n`));
      else if (id === "1") await say(frame(nonce, id, `@ end ${nonce}\n`));
      else await misbehave(shell, { mode, id });
    }
  };
}

const megabyte = Buffer.alloc(1 << 20, "x");
/** Until the product has had enough, or much more than it should take. */
async function flood(say: HostileShell["say"], piece: string | Uint8Array): Promise<void> {
  for (let n = 0; n < 200; n++) await say(piece);
}

function ended(exit: HostileShell["exit"], status: ExitStatus): Promise<void> {
  exit(status);
  return Promise.resolve();
}

const cases: Readonly<Record<string, Parameters<typeof afterProbe>[0]>> = {
  "answers with what is no answer": ({ say, nonce }, { id }) =>
    say(
      frame(
        nonce,
        id,
        `\0\u00ff@ end\n@ live x y z\n./a/b/c/end:code 0\n@ host ${clipboard}\n${nonce.slice(1)} more\n`,
      ),
    ),
  "answers for others": ({ say, nonce }, { id }) =>
    say(`\n${nonce} 999\nx\n${nonce} 1 over\n\n${nonce} ${id}\n${nonce} ${id} over over\n\n${nonce} more more\n`),
  "says a mark without end": async ({ say, nonce }) => {
    await say(`\n${nonce} `);
    await flood(say, megabyte);
  },
  "says a line without end": async ({ say, nonce }, { id }) => {
    await say(`\n${nonce} ${id}\n`);
    await flood(say, megabyte);
  },
  "says records without end": async ({ say, nonce }, { id }) => {
    await say(`\n${nonce} ${id}\n`);
    await flood(say, `./a/b/0/f:${"z".repeat(10_000)}\n`.repeat(100));
  },
  "says GPUs without end": async ({ say, nonce }, { id }) => {
    await say(`\n${nonce} ${id}\n@ fields index,uuid,name,memory.used,memory.total\n`);
    for (let n = 0; n < 200; n++) await say(`${n}, G-${n}, ${markdown}, ${n}, 2\n`.repeat(100));
  },
  "never answers": () => Promise.resolve(),
  "ends with 0": ({ exit }) => ended(exit, { kind: "code", code: 0 }),
  "ends with a code that there is not": ({ exit }) => ended(exit, { kind: "code", code: 99_999 }),
  "ends by a signal": ({ exit }) => ended(exit, { kind: "signal", signal: clipboard }),
};

for (const [name, misbehave] of Object.entries(cases)) {
  test(`a host that ${name} stops nothing, turns nothing red, and fills no memory`, async (t) => {
    const rejections = hearRejections(t);
    const { beatsOn } = heart(t);
    let asked = 0;
    const behave = afterProbe(async (shell, request) => {
      asked++;
      await misbehave(shell, request);
    });
    const definition = definitionOf(fileOf("/h", '  job:\n    log: /h/x.log\n  run:\n    command: "true"\n'));
    const window = openStory(definition, {
      connect: (host) => openHost(hostileTransport(behave), host, { clock: realClock, logger: silent }),
    });
    t.after(window.close);
    const before = await kept();
    await window.open.connect(storyId, undefined, true);
    while (asked < 1) await realClock.sleep(10);
    for (let n = 0; n < 10; n++) await beatsOn();
    const more = (await kept()) - before;
    assert.ok(more < 130e6, `${more} bytes are kept`);
    for (const stage of ["job", "run"])
      assert.ok(!["failed", "finished", "lost"].includes(window.state(stage)), window.state(stage));
    assertDrawnSafely(window);
    window.close();
    await beatsOn();
    assert.deepEqual(rejections, []);
  });
}

test("a host that drips one byte at a time is understood", async (t) => {
  const behave = afterProbe(() => Promise.resolve());
  const transport = hostileTransport((shell) => behave({ ...shell, say: (text) => drip(shell.say, text) }));
  const ops = await openHost(
    transport,
    [...definitionOf(fileOf("/h", "  job:\n    log: /h/x.log\n")).hosts.values()][0] ?? assert.fail(),
    {
      clock: realClock,
      logger: silent,
    },
  );
  t.after(() => {
    ops.dispose();
  });
  assert.equal(ops.identity.machineId, "m");
});

async function drip(say: HostileShell["say"], text: string | Uint8Array): Promise<void> {
  for (const byte of Buffer.from(text)) await say(Uint8Array.of(byte));
}

const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
