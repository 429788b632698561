import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeMarkdown, plainMessage } from "../../src/core/session/markdown";
import { changedRows, row, RowForest, rowsById, type Row } from "../../src/core/session/rows";
import { stageRows } from "../../src/core/session/stageRows";
import { summarise } from "../../src/core/session/summary";
import type { SessionEvent } from "../../src/core/session/events";
import { applyEvent } from "../../src/core/session/apply";
import * as samples from "./sessions";
import { failure, host, member, now, progress, run, session, stage } from "./sampleSession";

process.env["TZ"] = "UTC";

const failed = {
  kind: "failed",
  cause: "hf is not on PATH",
  remedy: "Call it by its full path.",
  failure: failure(),
} as const;
const download = stage("download", [
  member(failed, {
    run: run({ startedAt: now - 60_000, end: { exit: { kind: "code", code: 127 }, at: now - 59_600 } }),
  }),
]);
const eta = { at: now, eta: 6 * 3600 + 600, lo: 5.5 * 3600, hi: 7 * 3600 + 1200 };
const inference = stage("inference", [
  member(
    { kind: "running" },
    { eta, progress: progress({ done: 17_750, total: 25_000, rate: 3.1, rate_unit: "req/s" }) },
  ),
]);
const extract = stage("extract", [member({ kind: "waiting", for: ["inference"] })]);
const alert = { stage: "download", member: "0", at: now, cause: failed.cause, remedy: "Call it by its full path." };

function drawing(rows: readonly Row[], indent = ""): string {
  return rows
    .map((r) => `${indent}${r.label} | ${r.description} | ${r.contextValue}\n${drawing(r.children, `${indent}  `)}`)
    .join("");
}

test("the night of the download is drawn as designed", () => {
  const rows = stageRows(session([download, inference, extract], { alerts: [alert] }), now);
  assert.equal(
    drawing(rows),
    `hero | 1 failed | session.file
  gpu8 | connected | host.connected
    download | failed 0.4 s after start · hf is not on PATH (exit 127) | stage.failed.launchable.alert
    inference | 17,750 / 25,000 · 3.1 req/s · ~04:10 (03:30–05:20) | stage.running.launchable
    extract | waits for inference | stage.waiting.launchable
`,
  );
  const first = rows[0]?.children[0]?.children[0];
  assert.equal(first?.icon, "error");
  assert.equal(first.spoken, "download: failed 0.4 s after start, hf is not on PATH (exit 127)");
  assert.deepEqual(first.click, { command: "mlSession.openLog", title: "Open Log", more: [] });
});

test("a host that needs a login offers it with a click", () => {
  const away = host({ connection: { kind: "failed", since: now, reason: "needs-login", message: "no key" } });
  const [top] = stageRows(session([], { hosts: new Map([["gpu8", away]]) }), now);
  const [drawn] = top?.children ?? [];
  assert.equal(drawn?.contextValue, "host.needsLogin");
  assert.equal(drawn.click?.command, "mlSession.connect");
  assert.deepEqual(drawn.node, { kind: "host", session: "file:///w/ml-session.yaml", host: "gpu8" });
});

test("members get rows of their own only when there are several", () => {
  const many = stage("extract", [member({ kind: "running" }), member({ kind: "finished" }, { name: "1" })]);
  const stages = stageRows(session([many, inference]), now)[0]?.children[0]?.children ?? [];
  assert.deepEqual(
    stages.map((s) => s.children.length),
    [2, 0],
  );
  assert.equal(stages[0]?.children[1]?.contextValue, "member.finished.launchable");
  assert.equal(new Set(rowsById(stages).keys()).size, 4);
});

test("only the row that changed is drawn anew, and nothing while nothing changes", () => {
  const forest = new RowForest(stageRows);
  const one = session([download, inference, extract]);
  const sessions = (s: typeof one): ReadonlyMap<string, typeof one> => new Map([[s.id, s]]);
  assert.equal(forest.update(sessions(one), now), "all");
  const before = forest.rows;
  assert.deepEqual(forest.update(sessions(one), now + 1000), []);
  assert.equal(forest.rows[0], before[0]);
  const moved = stage("inference", [
    member({ kind: "running" }, { eta, progress: progress({ done: 17_751, total: 25_000 }) }),
  ]);
  const changes = forest.update(sessions(session([download, moved, extract])), now + 2000);
  assert.ok(changes !== "all");
  assert.deepEqual(
    changes.map((r) => r.label),
    ["inference"],
  );
});

test("rows that are drawn alike are equal, whatever else is new", () => {
  const above = (below: fc.Arbitrary<Row[]>): fc.Arbitrary<Row[]> =>
    fc.uniqueArray(
      fc
        .record({ name: fc.constantFrom("a", "b", "c"), description: fc.constantFrom("x", "y"), children: below })
        .map(({ name, description, children }) => {
          const node = { kind: "session", session: name } as const;
          const looks = { icon: "circle", tooltip: () => "", contextValue: "session.file" };
          return row({ node, label: name, description, ...looks, children });
        }),
      { maxLength: 3, selector: (r) => r.id },
    );
  const tree = above(above(above(fc.constant([]))));
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      assert.deepEqual(changedRows(before, structuredClone(before)), []);
      const changes = changedRows(before, after);
      // Drawing anew what was named turns the old picture into the new one.
      const redraw = (old: Row | undefined, next: Row): string =>
        old === undefined || changes === "all" || changes.includes(next)
          ? drawing([next])
          : `${old.label} | ${old.description} | ${old.contextValue}\n${next.children.map((c, i) => redraw(old.children[i], c)).join("")}`;
      const redrawn = after.map((next, i) => redraw(before[i], next)).join("");
      assert.equal(redrawn.replaceAll(" ", ""), drawing(after).replaceAll(" ", ""));
    }),
  );
});

test("host text cannot become Markdown", () => {
  assert.equal(escapeMarkdown("**b** <i> [x](command:y)"), "\\*\\*b\\*\\* \\<i\\> \\[x\\]\\(command\\:y\\)");
  assert.equal(escapeMarkdown("a\nb\u001b[31m\u202e"), "a b\\[31m");
  assert.equal(escapeMarkdown("https://evil"), "https\\:\\/\\/evil");
  assert.equal(escapeMarkdown("x".repeat(600)).length, 501);
  assert.equal(plainMessage("see [here](command:x)"), "see [here] (command:x)");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(escapeMarkdown(text).replace(/\\[!-~]/g, ""), /[!-/:-@[-`{-~\n]/);
    }),
  );
});

test("the status bar says what runs and turns red only for a failure nobody saw", () => {
  assert.equal(summarise([], now), undefined);
  const calm = summarise([session([inference, extract])], now);
  assert.equal(calm?.text, "$(sync~spin) inference 71 % · ~04:10");
  assert.equal(calm.spoken, "ML Session: inference 71 %, ~04:10");
  assert.equal(calm.alarm, false);
  const alarm = summarise([session([download, inference], { alerts: [alert] })], now);
  assert.equal(alarm?.text, "$(error) download failed · inference 71 % · ~04:10");
  assert.equal(alarm.alarm, true);
  assert.equal(summarise([session([download])], now)?.alarm, false);
  const unknown = stage("inference", [
    member({ kind: "unknown", since: now - 3_600_000, why: "", last: { kind: "running" } }),
  ]);
  assert.equal(summarise([session([unknown])], now)?.text, "$(question) inference unknown since 21:00");
  const done = stage("extract", [member({ kind: "finished" })]);
  assert.equal(summarise([session([done])], now)?.text, "$(pass) hero finished");
  const away = host({ connection: { kind: "not-connected" } });
  assert.equal(
    summarise([session([], { hosts: new Map([["gpu8", away]]) })], now)?.text,
    "$(debug-disconnect) gpu8 not connected",
  );
});

test("the status bar's tooltip tells the end of the pipeline and what is not in it", () => {
  const tip = summarise([session([inference, extract], { eta: { eta, untimed: ["extract"] } })], now)?.tooltip ?? "";
  assert.match(
    tip,
    /\| \$\(sync\) inference&emsp; \| running&emsp; \| 17\\,750 \\\/ 25\\,000&emsp; \| \\~04\\:10 \\\(03\\:30–05\\:20\\\) \|/,
  );
  assert.match(tip, /Timed stages done \\~04\\:10/);
  assert.match(tip, /Never timed, so not counted: extract/);
});

test("the status bar and the row say the same finish at every moment of a run", () => {
  const events: readonly SessionEvent[] = [
    samples.records(now, samples.record("train", { startedAt: now })),
    ...Array.from({ length: 60 }, (_, i): SessionEvent => {
      // Slow at first, then faster: the estimate moves.
      const at = now + (i + 1) * (i < 20 ? 700 : 300);
      return {
        type: "progress",
        at,
        ...samples.ofStage("train"),
        reading: samples.progress((i + 1) * (i + 2), 90_000),
      };
    }),
  ];
  let open = samples.play(samples.definition(samples.stage("train")));
  let told = 0;
  for (const event of events) {
    open = applyEvent(open, event);
    const finish = /~(?:\w{3} )?\d\d:\d\d/;
    const inRow = finish.exec(stageRows(open, event.at)[0]?.children[0]?.children[0]?.description ?? "")?.[0];
    const inBar = finish.exec(summarise([open], event.at)?.text ?? "")?.[0];
    assert.equal(inBar, inRow);
    if (inRow !== undefined) told++;
  }
  assert.ok(told > 50, "a finish is told from the first moments on");
});
