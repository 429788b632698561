import assert from "node:assert/strict";
import { test } from "node:test";
import { dateBacklog } from "../../src/core/backlog";
import { progress } from "./sessions";

const at = (...elapsed: (number | undefined)[]): number[] =>
  dateBacklog(
    elapsed.map((e, i) => progress(i, 100, e === undefined ? {} : { elapsed_s: e })),
    1_000_000,
  ).map((dated) => dated.at);

test("a night read in one go has the distances that its lines print", () => {
  assert.deepEqual(at(10, 20, 110), [900_000, 910_000, 1_000_000]);
});

test("a line without elapsed is as old as the next that has one", () => {
  assert.deepEqual(at(undefined, 10, undefined, 20), [990_000, 990_000, 1_000_000, 1_000_000]);
});

test("a restart inside the log: the earlier start ended when the later one began", () => {
  assert.deepEqual(at(0, 50, 0, 30), [920_000, 970_000, 970_000, 1_000_000]);
});

test("times never go back", () => {
  const times = at(5, 4, 90, 1, 7, undefined, 3);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
});
