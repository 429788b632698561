import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lastLineOf } from "../../src/core/log/lastLine";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const cases: readonly (readonly [log: string, line: string | undefined])[] = [
  ["", undefined],
  ["\n\n  \n", undefined],
  ["-----\n=====\n", undefined],
  ["one\ntwo\n", "two"],
  ["one\ntwo", "two"],
  ["one\n\n--\n\n", "one"],
  [" 10%|#   | 1/10\r 20%|##  | 2/10\r\n", "20%|## | 2/10"],
  ["\u001b[31mred\u001b[0m  \t words\n", "red words"],
  ["\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\n", "link"],
  ["turned \u202eround\n", "turned round"],
  ["日本語のエラー\n", "日本語のエラー"],
  ["a\r\nb\r\n", "b"],
  [`${"x".repeat(500)}\n`, `${"x".repeat(159)}…`],
];

for (const [log, line] of cases) {
  test(`the last line of ${JSON.stringify(log.slice(0, 40))}`, () => {
    assert.equal(lastLineOf(bytes(log)), line);
  });
}

test("is one short line of plain text, whatever the log holds", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), fc.string({ unit: "binary" }).map(bytes)), (log) => {
      const line = lastLineOf(log) ?? "x";
      assert.ok(line.length > 0 && line.length <= 160);
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
    }),
  );
});
