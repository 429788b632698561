import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";

interface MoreCase {
  readonly file: string;
  readonly tool: string;
  readonly progress: readonly Readonly<Record<string, unknown>>[];
  /** A field that a reading does not list must be absent. */
  readonly whole?: boolean;
  /** Lines that look like progress and are none. */
  readonly traps?: readonly number[];
  readonly failures: readonly { readonly line: number; readonly kind: string }[];
  readonly verdict: string;
}

const folder = "test/fixtures/log/more";
const cases = readFileSync(`${folder}/cases.jsonl`, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as MoreCase);

/** What only progress has. */
const counts = ["done", "total", "rate", "eta_s"] as const;

const same = (found: unknown, expected: unknown): boolean =>
  typeof found === "number" && typeof expected === "number"
    ? Math.abs(found - expected) <= 1e-6 * Math.max(1, Math.abs(expected))
    : found === expected;

for (const known of cases) {
  test(`${known.file} (${known.tool}) reads as documented`, () => {
    const reader = new LogReader();
    const readings = [...reader.push(readFileSync(`${folder}/${known.file}`)), ...reader.flush()];
    for (const { metrics = {}, ...fields } of known.progress) {
      const found = readings.find(
        (one) =>
          one.kind === "progress" &&
          one.line === fields["line"] &&
          (fields["segment"] === undefined || one.segment === fields["segment"]),
      );
      assert.ok(found?.kind === "progress", `line ${String(fields["line"])} is not read`);
      const values = new Map<string, unknown>(Object.entries(found));
      for (const [name, value] of Object.entries(fields))
        assert.ok(same(values.get(name), value), `line ${found.line} ${name}: ${String(values.get(name))}`);
      for (const name of known.whole === true ? [...counts, "elapsed_s", "errors"] : [])
        assert.equal(values.has(name), Object.hasOwn(fields, name), `line ${found.line} ${name}`);
      for (const [name, value] of Object.entries(metrics as Record<string, unknown>))
        assert.ok(same(found.metrics?.[name], value), `line ${found.line} ${name}: ${String(found.metrics?.[name])}`);
    }
    for (const line of known.traps ?? []) {
      const taken = readings.find(
        (one) => one.kind === "progress" && one.line === line && counts.some((name) => one[name] !== undefined),
      );
      assert.deepEqual(taken, undefined, `line ${line} is no progress`);
    }
    const counted = readings.filter((one) => one.kind === "progress" && one.done !== undefined);
    if (known.progress.length === 0 && known.failures.length === 0) assert.deepEqual(counted, []);
    const failures = readings.filter((one) => one.kind === "failure");
    assert.deepEqual(
      failures.map((one) => [one.line, one.failure]).sort(),
      known.failures.map((one) => [one.line, one.kind]).sort(),
    );
    assert.equal(reader.verdict(), known.verdict);
  });
}
