import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chartCsv } from "../../src/core/session/chartCsv";
import { chartPlan } from "../../src/core/session/chartPlan";
import { LengthCharts, type LengthChart } from "../../src/core/session/chartTokens";
import type { Member, Session } from "../../src/core/session/model";
import type { TreeNode } from "../../src/core/session/nodes";
import { noTokens, type TokenLengths } from "../../src/core/session/tokenLengths";
import { member, now, run, session, stage } from "./sampleSession";

function lengths(...pairs: readonly (readonly [length: number, answers: number])[]): TokenLengths {
  return { ...noTokens, counts: new Map(pairs), lines: pairs.reduce((sum, [, answers]) => sum + answers, 0) };
}

function counted(name: string, tokenLengths: TokenLengths, command = "python x.py", ago = 0): Member {
  const parts = { name, tokenLengths, tokensReadAt: now - ago, run: run({ command }) };
  return member({ kind: "running" }, parts);
}

/** The histograms that the charts of a row have. */
function histograms(open: Session, target?: TreeNode, memory = new LengthCharts()): readonly LengthChart[] {
  return memory.of(chartPlan(open, target ?? { kind: "session", session: open.id }).owners, now);
}

const limited = "python generate.py --max-tokens 512";
const extract = stage("extract", [
  counted("0", lengths([100, 8]), limited, 60_000),
  counted("1", { ...lengths([512, 2]), ended: 2 }, limited),
  member({ kind: "running" }, { name: "2" }),
]);

describe("histograms of token lengths", () => {
  test("a stage's members are one, with the limit that they have in common and the share that it cut off", () => {
    const open = session([extract, stage("train", [member({ kind: "running" })])]);
    const [all, ...others] = histograms(open);
    assert.deepEqual(others, []);
    assert.equal(all?.id, "lengths extract");
    assert.equal(all.title, "Token lengths of extract");
    assert.equal(all.limit, 512);
    assert.equal(all.cutShare, 0.2);
    assert.equal(all.readAt, now);
    assert.deepEqual(
      all.bins.filter(({ answers }) => answers > 0),
      [
        { from: 100, to: 110, answers: 8 },
        { from: 510, to: 520, answers: 2 },
      ],
    );
    assert.match(
      all.about,
      /^median 100, 95 % up to 512, longest 512; 20 % cut off at 512 \(of 10 answers\) · read \d\d:\d\d$/,
    );
  });

  test("members with limits of their own have none in common, nor have those of which one has none", () => {
    for (const other of ["python generate.py --max-tokens 100", "python generate.py"]) {
      const members = [counted("0", lengths([100, 8]), limited), counted("1", lengths([90, 2]), other)];
      const [all] = histograms(session([stage("extract", members)]));
      assert.equal(all?.limit, undefined);
      assert.equal(all?.cutShare, undefined);
    }
  });

  test("stand in the charts of what they belong to", () => {
    const open = session([extract, stage("judge", [counted("0", lengths([3, 1]))])]);
    const ids = (target: TreeNode): readonly string[] => histograms(open, target).map(({ id }) => id);
    const { id } = open;
    assert.deepEqual(ids({ kind: "session", session: id }), ["lengths extract", "lengths judge"]);
    assert.deepEqual(ids({ kind: "host", session: id, host: "gpu8" }), ["lengths extract", "lengths judge"]);
    assert.deepEqual(ids({ kind: "stage", session: id, stage: "judge" }), ["lengths judge"]);
    assert.deepEqual(ids({ kind: "gpu", session: id, host: "gpu8", index: 0 }), []);
    const [one] = histograms(open, { kind: "stage", session: id, stage: "extract", member: "0" });
    assert.match(one?.about ?? "", /; 0 % cut off at 512 \(of 8 answers\)/);
  });

  test("members are picked like all sources, also those of which nothing is known over time", () => {
    const { owners } = chartPlan(session([extract]), { kind: "session", session: "s" });
    assert.deepEqual(
      owners.map(({ key }) => key),
      ["stage/extract/0", "stage/extract/1"],
    );
  });

  test("what has not changed is the same object; more answers, a look without any, and midnight make another", () => {
    const memory = new LengthCharts();
    const at = (open: Session, time: number): LengthChart | undefined =>
      memory.of(chartPlan(open, { kind: "session", session: open.id }).owners, time)[0];
    const open = session([extract]);
    const first = at(open, now);
    assert.equal(at({ ...open }, now + 5000), first);
    const [zero, one, two] = extract.members;
    assert.ok(zero && one && two);
    const more = { ...two, tokenLengths: lengths([7, 1]), tokensReadAt: now };
    const grown = at(session([stage("extract", [zero, one, more])]), now);
    assert.match(grown?.about ?? "", /of 11 answers/);
    assert.match(at(open, now + 30 * 3_600_000)?.about ?? "", /read (Tue|Wed) \d\d:\d\d$/);
    assert.equal(at(session([]), now), undefined);
  });

  test("stand no matter how odd their numbers are", () => {
    const bars = (...pairs: readonly (readonly [number, number])[]): LengthChart["bins"] =>
      histograms(session([stage("x", [counted("0", lengths(...pairs))])]))[0]?.bins ?? [];
    assert.deepEqual(histograms(session([stage("x", [counted("0", { ...noTokens, lines: 4, without: 4 })])])), []);
    assert.deepEqual(bars(), []);
    assert.deepEqual(bars([0, 3]), [{ from: 0, to: 1, answers: 3 }]);
    const equal = bars([512, 40]);
    assert.deepEqual(equal.at(-1), { from: 510, to: 520, answers: 40 });
    assert.equal(equal.filter(({ answers }) => answers > 0).length, 1);
    const huge = bars([400, 9], [2_000_000_000, 1]);
    assert.ok(huge.length <= 70);
    assert.deepEqual(huge.at(-1), { from: 2_000_000_000, to: 2_050_000_000, answers: 1 });
  });
});

test("CSV has a row for each bar, dated by when the outputs were read, whatever the stage is called", () => {
  const text = chartCsv(
    [],
    { from: 0, to: 1 },
    histograms(session([stage('=x,"', [counted("0", lengths([3, 2], [1, 5]))])])),
  );
  const at = new Date(now).toISOString();
  const title = '"Token lengths of =x,"""';
  assert.deepEqual(text.trimEnd().split("\r\n"), [
    "time,chart,line,unit,value",
    `${at},${title},0 tokens,answers,0`,
    `${at},${title},1 tokens,answers,5`,
    `${at},${title},2 tokens,answers,0`,
    `${at},${title},3 tokens,answers,2`,
  ]);
});
