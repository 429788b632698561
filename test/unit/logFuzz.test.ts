import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzLines, fuzzReader } from "./logFuzz";
import { pathologicalGrowth } from "./logPathological";

test("ugly lines never stop the reader, and where they are cut never shows", () => {
  const { bytes, readings } = fuzzReader(20_000, 20_261_102);
  assert.ok(bytes > 1_000_000);
  assert.ok(readings > 1000);
});

test("the same seed makes the same lines", () => {
  const lines = (): string[] => [...fuzzLines(50, 7)].map((line) => line.toString("hex"));
  assert.deepEqual(lines(), lines());
});

test("lines that begin as a rule wants it and never end are read like any other", () => {
  let clock = 0;
  const growths = pathologicalGrowth(64, 512, () => clock++);
  assert.ok(growths.length > 1000);
  assert.ok(growths.every((growth) => Number.isFinite(growth.ratio)));
});
