import assert from "node:assert/strict";
import { test } from "node:test";
import { runChaos } from "./chaos";

test("cuts, stalls and half-open links while four logs are written and rotated", { timeout: 900_000 }, async (t) => {
  const seed = Number(process.env["CHAOS_SEED"] ?? 1 + Math.floor(Math.random() * 1_000_000));
  t.diagnostic(`CHAOS_SEED=${seed}`);
  const report = await runChaos({
    seed,
    faults: Number(process.env["CHAOS_FAULTS"] ?? 12),
    lines: Number(process.env["CHAOS_LINES"] ?? 40_000),
    faultMs: 3000,
    patientMs: 5000,
    keepaliveMs: 700,
    silenceSeconds: 9,
    say: (text) => {
      t.diagnostic(text);
    },
  });
  for (const log of report.logs) t.diagnostic(JSON.stringify(log));
  t.diagnostic(`back after ${report.backMs.map(Math.round).join(", ")} ms; nothing left after ${report.goneMs} ms`);
  for (const log of report.logs) {
    assert.deepEqual(log.strange, [], `${log.log}: what was never written`);
    assert.equal(log.doubled, 0, `${log.log}: doubled`);
    assert.equal(log.missed, 0, `${log.log}: still there and never read`);
  }
  for (const name of ["renamed", "dated"]) assert.equal(report.logs.find(({ log }) => log === name)?.lost, 0, name);
  assert.equal(report.toasts, 0);
  assert.deepEqual(report.falseStates, []);
  assert.deepEqual(report.rejections, []);
  assert.deepEqual(report.left, []);
});
