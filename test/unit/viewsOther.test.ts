import assert from "node:assert/strict";
import { test } from "node:test";
import { alertRows } from "../../src/core/session/alertRows";
import { notices } from "../../src/core/session/notices";
import { gpuRows } from "../../src/core/session/gpuRows";
import { logMarks } from "../../src/core/session/logMarks";
import type { Gpu, Session } from "../../src/core/session/model";
import { logRefOf, remoteLogParts, type RemoteLogText } from "../../src/core/session/remoteLogs";
import { noSeries } from "../../src/core/session/series";
import { failure, host, member, now, run, session, stage } from "./sampleSession";

process.env["TZ"] = "UTC";

function gpu(index: number, parts: Partial<Gpu["sample"]> = {}, name = "NVIDIA H200"): Gpu {
  const numbers = { utilisation: 98, memoryUsedMib: 134_144, memoryTotalMib: 143_771, temperatureC: 71, powerW: 620 };
  const sample = { index, uuid: `GPU-${index}`, name, at: now, ...numbers, ...parts };
  return { index, name, sample, usedBy: ["vllm"], series: noSeries };
}

test("GPUs are drawn as designed", () => {
  const gpus = Array.from({ length: 8 }, (_, index) => gpu(index));
  const open = session([], { hosts: new Map([["gpu8", host({ gpus, seenAt: now })]]) });
  const [top] = gpuRows(open, now, true);
  assert.equal(top?.description, "8 × H200 · 5 kW");
  assert.equal(top.children[0]?.description, "98 % · 131 / 140 GB · 71 °C · 620 W");
  assert.equal(gpuRows(open, now, false)[0]?.description, "8 × H200 · 5 kW · hero");
});

test("a GPU's row names the stage that runs on it, none that waits or has ended", () => {
  const stages = [
    stage("vllm", [member({ kind: "running" })]),
    stage("train", [member({ kind: "waiting", for: ["vllm"] })]),
  ];
  const gpus = [{ ...gpu(0), usedBy: ["vllm", "train"] }];
  const [top] = gpuRows(session(stages, { hosts: new Map([["gpu8", host({ gpus, seenAt: now })]]) }), now, true);
  assert.equal(top?.children[0]?.description, "98 % · 131 / 140 GB · 71 °C · 620 W · vllm");
});

test("a host without GPUs and one with them are different rows, since VS Code keeps the first one folded", () => {
  const rowOf = (gpus: readonly Gpu[]): string | undefined =>
    gpuRows(session([], { hosts: new Map([["gpu8", host({ gpus, seenAt: now })]]) }), now, true)[0]?.id;
  assert.notEqual(rowOf([]), rowOf([gpu(0)]));
  assert.equal(rowOf([gpu(0)]), rowOf([gpu(0), gpu(1)]));
});

test("a GPU's missing numbers are not said; its name is where a host has different ones", () => {
  const bare = { index: 0, uuid: "", name: "x", at: now };
  const gpus: Gpu[] = [
    { ...gpu(0), sample: bare, usedBy: [] },
    { ...gpu(1, {}, "NVIDIA H200 (simulated)"), usedBy: [] },
  ];
  const [top] = gpuRows(session([], { hosts: new Map([["gpu8", host({ gpus, seenAt: now })]]) }), now, true);
  assert.equal(top?.children[0]?.description, "the driver gives no numbers · H200");
  assert.match(top.children[1]?.description ?? "", / · H200 \(simulated\)$/);
  assert.match(top.description, /^2 GPUs · 620 W/);
});

test("old GPU numbers carry their time, no GPUs their reason", () => {
  const lost = { kind: "lost", since: now - 3_600_000, message: "timed out" } as const;
  const stale = host({ gpus: [gpu(0)], seenAt: now - 3_600_000, connection: lost });
  const rows = (h: typeof stale): ReturnType<typeof gpuRows> =>
    gpuRows(session([], { hosts: new Map([["gpu8", h]]) }), now, true);
  assert.equal(rows(stale)[0]?.description, "1 × H200 · 620 W · as of 21:00 · unknown since 21:00 · timed out");
  assert.match(rows(stale)[0]?.children[0]?.description ?? "", /^as of 21:00 · 98 %/);
  assert.equal(rows(host({ gpusUnavailable: "nvidia-smi is not there" }))[0]?.description, "nvidia-smi is not there");
  assert.equal(rows(host({ connection: { kind: "not-connected" } }))[0]?.description, "not connected");
});

const failed = {
  kind: "failed",
  cause: "hf is not on PATH",
  remedy: "Use its full path.",
  failure: failure(),
} as const;
const ended = run({ end: { exit: { kind: "code", code: 127 }, at: now } });
const alert = { stage: "download", member: "0", at: now - 60_000, cause: failed.cause, remedy: failed.remedy };

test("alerts come newest first, with their remedy, and lead to the line", () => {
  const stages = [stage("download", [member(failed, { run: ended })]), stage("train", [member(failed)])];
  const open = session(stages, { alerts: [alert, { ...alert, stage: "train", at: now }] });
  const rows = alertRows(open, now, true);
  assert.deepEqual(
    rows.map((r) => [r.label, r.description]),
    [
      ["train", "22:00 · hf is not on PATH"],
      ["download", "21:59 · hf is not on PATH (exit 127)"],
    ],
  );
  assert.deepEqual(rows[0]?.click?.more, [{ offset: 120 }]);
  assert.equal(rows[0].children[0]?.label, "Use its full path.");
  assert.equal(new Set(rows.flatMap((r) => [r.id, ...r.children.map((c) => c.id)])).size, 4);
});

test("one notice for each cause, once for each run", () => {
  const open = (id: string): ReturnType<typeof session> =>
    session(
      [
        stage("download", [member(failed, { run: run({ run: id, end: ended.end ?? never() }) })]),
        stage("train", [member(failed)]),
      ],
      {
        alerts: [alert, { ...alert, stage: "train" }, { ...alert, stage: "train", cause: "the disk is full" }],
      },
    );
  const told = new Set<string>();
  const first = notices([open("r1")], told, now).ready;
  assert.deepEqual(
    first.map((n) => n.message),
    [
      "download and train failed on gpu8: hf is not on PATH (exit 127). Use its full path.",
      "train failed on gpu8: the disk is full. Use its full path.",
    ],
  );
  for (const { keys } of first) for (const key of keys) told.add(key);
  assert.deepEqual(notices([open("r1")], told, now).ready, []);
  assert.equal(notices([open("r2")], told, now).ready.length, 1);
  const command = "mlSession.restartFailedMembers";
  const everything = { command, node: { kind: "session", session: open("r1").id } };
  const trainAlone = {
    command: "mlSession.restartStage",
    node: { kind: "stage", session: open("r1").id, stage: "train" },
  };
  assert.deepEqual(
    first.map(({ restart }) => restart),
    [everything, trainAlone],
  );
});

test("members of one stage that fail one after the other are told together, and restarted together", () => {
  const cause = "CUDA ran out of memory";
  const names = ["0", "1", "2", "3", "4", "5"];
  const failedAt = (times: Readonly<Record<string, number>>): Session =>
    session(
      [
        stage(
          "extract",
          names.map((name) =>
            member(name in times ? { kind: "failed", cause, remedy: "" } : { kind: "running" }, { name }),
          ),
        ),
      ],
      {
        alerts: Object.entries(times).map(([name, at]) => ({ stage: "extract", member: name, at, cause, remedy: "" })),
      },
    );
  const none = new Set<string>();
  const one = failedAt({ 3: now });
  assert.deepEqual(notices([one], none, now + 500), { ready: [], moreInMs: 1500 });
  const two = failedAt({ 3: now, 5: now + 1800 });
  assert.deepEqual(notices([two], none, now + 2100), { ready: [], moreInMs: 1700 });
  const [told, ...others] = notices([two], none, now + 3800).ready;
  assert.ok(told);
  assert.equal(others.length, 0);
  assert.match(told.message, /^2 of 6 members of extract \(3 and 5\) failed on gpu8: CUDA ran out of memory/);
  const node = { kind: "stage", session: two.id, stage: "extract" };
  assert.deepEqual(told.restart, { command: "mlSession.restartFailedMembers", node });
  assert.deepEqual(told.node, { ...node, member: "3" }, "its log is the first one's");
  const trickle = failedAt({ 0: now, 1: now + 2000, 2: now + 4000, 3: now + 6000, 4: now + 7900 });
  assert.match(
    notices([trickle], none, now + 8000).ready[0]?.message ?? "",
    /^5 of 6 members of extract failed on gpu8/,
  );
  const all = failedAt(Object.fromEntries(names.map((name) => [name, now])));
  assert.match(notices([all], none, now + 2000).ready[0]?.message ?? "", /^all 6 members of extract failed/);
  const last = notices([one], none, now + 2000).ready[0];
  assert.match(last?.message ?? "", /^extract 3 failed/);
  assert.deepEqual(last?.restart, { command: "mlSession.restartFailedMembers", node });
});

function never(): never {
  throw new Error("the sample run has an end");
}

/** Ten bytes a line. */
function text(lines: number, startOffset: number, runStart?: number): RemoteLogText {
  const lineAt = (offset: number): number | undefined => {
    const line = Math.floor((offset - startOffset) / 10);
    return line < 0 || line >= lines ? undefined : line;
  };
  const offsetOfLine = (line: number): number => startOffset + line * 10;
  return {
    text: "123456789\n".repeat(lines),
    startOffset,
    following: true,
    lineAt,
    offsetOfLine,
    ...(runStart !== undefined && { runStart }),
  };
}

test("failures are found in the shown text by their bytes in the file", () => {
  const failures = [
    failure({ offset: 150 }),
    failure({ offset: 125 }),
    failure({ offset: 20 }),
    failure({ offset: 900 }),
  ];
  assert.deepEqual(
    logMarks(text(10, 100), failures).failures.map(({ line }) => line),
    [2, 5],
  );
  assert.equal(logMarks(text(10, 100), []).historyLines, 0);
  assert.equal(logMarks(text(10, 100, 130), []).historyLines, 3);
  assert.equal(logMarks(text(10, 100, 50), []).historyLines, 0);
});

test("a log's address names it again", () => {
  const ref = { session: "file:///w/a b/ml-session.yaml?x=1&y", stage: "train", member: "3" };
  const { path, query } = remoteLogParts(ref, "train/3 on gpu8");
  assert.equal(path, "/train-3 on gpu8.log");
  assert.deepEqual(logRefOf(query), ref);
  assert.equal(logRefOf("session=x"), undefined);
});
