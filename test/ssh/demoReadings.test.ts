import assert from "node:assert/strict";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { ProgressReading, Reading } from "../../src/core/log/reading";
import { estimate } from "../../src/core/session/estimate";
import { downloadScore, extractionScore, inferenceScore, trainingScore, vllmScore } from "../../src/demo/night";
import type { Score } from "../../src/demo/score";
import { stubWords } from "../../src/demo/story";

function read(score: Score): { readings: readonly Reading[]; progress: readonly ProgressReading[] } {
  const reader = new LogReader();
  const text = score.map((line) => (line.kind === "out" ? line.text : "")).join("");
  const readings = [...reader.push(Buffer.from(text)), ...reader.flush()];
  assert.equal(reader.verdict(), "healthy");
  return { readings, progress: readings.filter((reading) => reading.kind === "progress") };
}

for (const speed of [0.5, 1, 7, 60]) {
  test(`at speed ${speed} every log is read as what it plays`, () => {
    const inference = read(inferenceScore(speed)).progress;
    assert.deepEqual([...new Set(inference.map(({ format, total }) => `${format} ${total ?? 0}`))], ["seed 25000"]);
    assert.equal(inference.at(-1)?.done, 25_000);
    const counts = inference.map(({ done }) => done ?? 0);
    assert.deepEqual(
      counts,
      [...new Set(counts)].sort((a, b) => a - b),
      "it only goes up",
    );

    const download = read(downloadScore(speed)).progress;
    assert.equal(download.at(-1)?.done, download.at(-1)?.total);
    assert.equal(download.at(-1)?.label, "model.safetensors");
    const extraction = read(extractionScore(speed)).progress;
    assert.deepEqual([extraction.at(-1)?.done, extraction.at(-1)?.total], [25_000, 25_000]);
    const training = read(trainingScore(speed)).progress;
    const losses = training.flatMap(({ metrics }) => metrics?.["loss"] ?? []).map(Number);
    assert.equal(losses.length > 4, true);
    assert.equal((losses[0] ?? 0) > (losses.at(-1) ?? 9), true);
    assert.deepEqual([training.findLast(({ total }) => total === 1500)?.done], [1500]);
    const server = read(vllmScore(speed, Date.UTC(2026, 0, 2)).slice(0, 500)).progress;
    assert.equal(server.length, 499);
  });
}

test("the old tool's words are read as a tool that is no more", () => {
  const reader = new LogReader();
  const [failure] = [...reader.push(Buffer.from(stubWords)), ...reader.flush()];
  assert.equal(failure?.kind === "failure" ? failure.failure : "", "deprecated-command");
});

test("the finish that the product foretells comes true, and the naive one does not", () => {
  const lines = inferenceScore(1)
    .filter((line) => line.kind === "out")
    .slice(1);
  const rows = lines.map(({ at, text }) => ({ t: at / 1000, done: Number(/\d+/.exec(text)?.[0]), total: 25_000 }));
  const end = rows.at(-1)?.t ?? 0;
  assert.equal(Math.abs(end - 600) < 2, true);
  for (const share of [0.1, 0.25, 0.5, 0.75, 0.9]) {
    const now = end * share;
    const foretold =
      estimate(
        rows.filter(({ t }) => t <= now),
        now,
      )?.eta ?? 0;
    assert.equal(Math.abs(now + foretold - end) < 0.15 * (end - now), true, `${share}: ${now + foretold} of ${end}`);
  }
  const early = rows.find(({ t }) => t > 10) ?? { t: 1, done: 1 };
  assert.equal((25_000 - early.done) / (early.done / early.t) > 3 * end, true);
});
