import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  noTokens,
  tokenBins,
  tokenLimit,
  tokenSummary,
  tokenText,
  withTokens,
  type TokenLengths,
} from "../../src/core/session/tokenLengths";

const counts = (...pairs: readonly (readonly [number, number])[]): TokenLengths => ({
  counts: new Map(pairs),
  lines: pairs.reduce((sum, [, number]) => sum + number, 0),
  without: 0,
  ended: 0,
});

describe("the limit of tokens in a command", () => {
  const cases: readonly (readonly [string | undefined, number | undefined])[] = [
    [undefined, undefined],
    ["python x.py", undefined],
    ["python x.py --max-tokens 512", 512],
    ["python x.py --max_new_tokens=1024 --n 3", 1024],
    ["python x.py --max-completion-tokens '2048'", 2048],
    ["python x.py --min-completion-tokens 50", undefined],
    ["python x.py sampling.max_tokens=77", 77],
    ["lm_eval --gen_kwargs max_gen_toks=256", 256],
    ["vllm serve m --max-num-batched-tokens 8192", undefined],
    ["x --max-tokens 0", undefined],
    ["x --max-tokens $N", undefined],
  ];
  for (const [command, limit] of cases)
    test(String(command), () => {
      assert.equal(tokenLimit(command), limit);
    });
});

describe("how long answers are", () => {
  test("in words", () => {
    assert.equal(tokenText(noTokens, undefined), undefined);
    assert.equal(tokenText({ ...noTokens, lines: 5, without: 5 }, 512), "no number of tokens in 5 lines");
    const answers = counts([100, 50], [200, 46], [512, 4]);
    assert.equal(tokenText(answers, undefined), "median 100, 95 % up to 200, longest 512 (of 100 answers)");
    assert.match(tokenText(answers, 512) ?? "", /longest 512; 4 % cut off at 512 \(of 100 answers\)/);
    assert.match(tokenText({ ...answers, ended: 2 }, undefined) ?? "", /; 2 % cut off \(/);
    assert.match(
      tokenText({ ...answers, lines: 103, without: 3 }, 600) ?? "",
      /; 0 % cut off at 600 .*; 3 lines without/,
    );
    assert.match(tokenText({ ...counts([1, 9_999], [9, 1]) }, 9) ?? "", /under 0.1 % cut off at 9/);
    assert.match(tokenText(counts([1, 996], [9, 4]), 9) ?? "", /; 0.4 % cut off at 9/);
    assert.match(tokenText(counts([1, 969], [9, 31]), 9) ?? "", /; 3.1 % cut off at 9/);
    assert.equal(
      tokenText({ ...counts([512, 1]), lines: 2, without: 1 }, undefined),
      "median 512, 95 % up to 512, longest 512 (of 1 answer; 1 line without a number)",
    );
  });

  test("what is read in parts is as if it were read at once; nothing new is the same object", () => {
    const report = { read: new Map(), restBytes: 0, shorter: false, tookMs: 1 };
    const one = withTokens(noTokens, { ...report, counts: new Map([[5, 2]]), lines: 3, without: 1, ended: 1 });
    const two = withTokens(one, { ...report, counts: new Map([[5, 1], [7, 1]]), lines: 2, without: 0, ended: 0 }); // prettier-ignore
    assert.deepEqual(two, { counts: new Map([[5, 3], [7, 1]]), lines: 5, without: 1, ended: 1 }); // prettier-ignore
    assert.equal(withTokens(two, { ...report, counts: new Map(), lines: 0, without: 0, ended: 0 }), two);
  });

  const lengths = fc
    .uniqueArray(fc.tuple(fc.nat(200_000), fc.integer({ min: 1, max: 1000 })), { selector: ([value]) => value, maxLength: 60 })
    .map((pairs) => counts(...pairs)); // prettier-ignore

  test("quantiles are of the answers themselves", () => {
    fc.assert(
      fc.property(lengths, fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }), (all, limit) => {
        const summary = tokenSummary(all, limit);
        const each = [...all.counts]
          .flatMap(([value, number]) => Array<number>(number).fill(value))
          .sort((a, b) => a - b);
        assert.equal(summary === undefined, each.length === 0);
        if (!summary) return;
        assert.equal(summary.answers, each.length);
        assert.equal(summary.longest, each.at(-1));
        assert.equal(summary.median, each[Math.ceil(each.length / 2) - 1]);
        assert.ok(Math.abs(summary.mean - each.reduce((sum, value) => sum + value, 0) / each.length) < 1e-6 * (1 + summary.mean)); // prettier-ignore
        assert.ok((summary.cutShare ?? 0) >= 0 && (summary.cutShare ?? 0) <= 1);
      }),
    );
  });

  test("bars hold every answer once, in round steps, few enough to be seen", () => {
    fc.assert(
      fc.property(lengths, fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: undefined }), fc.integer({ min: 1, max: 80 }), (all, limit, most) => {
        const bins = tokenBins(all, limit, most);
        assert.ok(bins.length <= most);
        assert.equal(bins.reduce((sum, { answers }) => sum + answers, 0), all.lines);
        for (const [at, { from, to }] of bins.entries()) {
          assert.equal(from, at * (to - from));
          assert.match(String(to - from), /^[125]0*$/);
        }
        for (const value of all.counts.keys()) assert.ok(bins.some(({ from, to }) => from <= value && value < to));
      }),
    ); // prettier-ignore
  });
});
