import assert from "node:assert/strict";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { FailureReading } from "../../src/core/log/reading";
import type { LogRule } from "../../src/core/session/definition";
import { parseSessionFile } from "../../src/core/session/sessionFile";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function failuresOf(text: string, rules: readonly LogRule[]): { found: FailureReading[]; verdict: string } {
  const reader = new LogReader({ rules });
  const readings = [...reader.push(bytesOf(text)), ...reader.flush()];
  return { found: readings.filter((one) => one.kind === "failure"), verdict: reader.verdict() };
}

const shardRule: LogRule = {
  pattern: "shard (?<shard>\\d+) is (?<state>\\w+)",
  ignore: false,
  kind: "empty-shard",
  severity: "warning",
  permanent: true,
  cause: "Shard {shard} is {state}; {unrelated braces} stay.",
  remedy: "Run prepare.py --only {shard} again.",
};

test("a rule of the session file finds its lines behind prefixes and fills in what its groups took", () => {
  const { found, verdict } = failuresOf("[rank0]: 2026-01-01 10:00:00,001 - x - INFO - shard 17 is empty\n", [
    shardRule,
  ]);
  const [one] = found;
  assert.ok(one !== undefined && found.length === 1);
  assert.deepEqual([one.failure, one.severity, one.permanent, one.line], ["empty-shard", "warning", true, 1]);
  assert.equal(one.cause, "Shard 17 is empty; {unrelated braces} stay.");
  assert.equal(one.remedy, "Run prepare.py --only 17 again.");
  assert.deepEqual(one.subject, { shard: "17", state: "empty" });
  assert.equal(verdict, "warning");
});

test("one failure for each text that the groups took, ten at most", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `shard ${index % 25} is empty\n`).join("");
  assert.equal(failuresOf(lines, [shardRule]).found.length, 10);
  assert.equal(failuresOf("shard 1 is empty\n".repeat(9), [shardRule]).found.length, 1);
});

test("a rule goes before the built-in ones, and `ignore` takes them away", () => {
  const own: LogRule = { ...shardRule, pattern: "hf: command not found", kind: "no-hub", cause: "x", remedy: "y" };
  const line = "bash: line 1: hf: command not found\n";
  assert.deepEqual(
    failuresOf(line, [own]).found.map((one) => one.failure),
    ["no-hub"],
  );
  assert.deepEqual(failuresOf(line, [{ pattern: "command not found", ignore: true }, own]), {
    found: [],
    verdict: "healthy",
  });
  const traceback = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: cache miss\n';
  assert.equal(failuresOf(traceback, []).verdict, "failed");
  assert.deepEqual(failuresOf(traceback, [{ pattern: "^ValueError: cache", ignore: true }]), {
    found: [],
    verdict: "healthy",
  });
  assert.deepEqual(
    failuresOf(traceback, [{ ...own, pattern: "cache miss" }]).found.map((one) => [
      one.failure,
      one.startLine,
      one.line,
    ]),
    [["no-hub", 1, 3]],
  );
});

test("a rule sees the line of a bar, too", () => {
  const bar = "\r 10%|█         | 10/100 [00:31<04:41,  3.12s/it, skipped=7]";
  const rule: LogRule = { ...shardRule, pattern: "skipped=(?<shard>[1-9]\\d*)", cause: "c {shard}", remedy: "r" };
  assert.deepEqual(
    failuresOf(`${bar}\n`, [rule]).found.map((one) => one.cause),
    ["c 7"],
  );
});

const file = (rules: string, defaults = ""): string =>
  `session: s\nhosts: { gpu8: {} }\n${defaults}stages:\n  a:\n    log: /x.log\n${rules}`;

test("rules of a stage and of `defaults` are read from the session file", () => {
  const { definition, problems } = parseSessionFile(
    file(
      '    rules:\n      - { pattern: "boom (?<what>\\\\w+)", kind: own-boom, cause: "It said {what}." }\n',
      'defaults:\n  rules:\n    - { pattern: "cache miss", ignore: true }\n',
    ),
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(definition?.stages.get("a")?.rules, [
    {
      pattern: "boom (?<what>\\w+)",
      ignore: false,
      kind: "own-boom",
      severity: "error",
      permanent: false,
      cause: "It said {what}.",
      remedy: "Look at this line and at those above it in the log.",
    },
    { pattern: "cache miss", ignore: true },
  ]);
});

test("rules that cannot be used are errors where they are written", () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ['{ pattern: "(a+)+x", kind: k, cause: c }', /endless time/],
    ['{ pattern: "a.*b.*c.*d.*e", kind: k, cause: c }', /too many open repeats/],
    ['{ pattern: "\\\\d+\\\\d+\\\\d+\\\\d+\\\\d+x", kind: k, cause: c }', /too many open repeats/],
    ['{ pattern: "(?<a>x)\\\\1", kind: k, cause: c }', /refers back/],
    ['{ pattern: "(x", kind: k, cause: c }', /no valid regular expression/],
    ['{ pattern: "x", kind: k, cause: "{y}" }', /has none of this name/],
    ['{ pattern: "x", kind: "Bad Kind", cause: c }', /small letters/],
    ['{ pattern: "x" }', /needs `kind` and `cause`/],
    ['{ pattern: "x", ignore: true, kind: k }', /no other key/],
    ['{ pattern: "x", kind: k, cause: c, severity: fatal }', /`error` or `warning`/],
  ];
  for (const [rule, message] of faults) {
    const text = file(`    rules: [${rule}]\n`);
    const { definition, problems } = parseSessionFile(text);
    assert.equal(problems.length, 1, `${rule}: ${JSON.stringify(problems)}`);
    assert.match(problems[0]?.message ?? "", message, rule);
    assert.equal(problems[0]?.severity, "error", rule);
    assert.equal(definition?.stages.get("a")?.rules, undefined, rule);
  }
});

test("a rule without a pattern is said to miss it", () => {
  const { problems } = parseSessionFile(file("    rules: [{ kind: k, cause: c }]\n"));
  assert.ok(problems.some((problem) => problem.message === "`pattern` is missing."));
});

test("patterns that people write are accepted", () => {
  for (const pattern of [
    "(?<done>\\d+)/(?<total>\\d+).*?(?<rate>[\\d.]+) it/s",
    "^step (?<done>\\d+) of (?<total>\\d+), .* at (?<rate>\\S+)",
    "\\[(?<done>\\d+)/(?<total>\\d+)\\] (?:loss|acc)=\\S+",
    "done (?<done>\\d{1,9}) of (?<total>\\d{1,9})",
  ]) {
    assert.doesNotThrow(() => new LogReader({ hint: { pattern } }), pattern);
  }
});
