// Token lengths out of the JSON lines of a stage, told by a filter on the host; JSON.parse is the judge.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import fc from "fast-check";
import { tokenLimit, tokenText } from "../../src/core/session/tokenLengths";
import type { TokenQuery, TokenReport } from "../../src/core/tokenCounts";
import { makeTestHost, shadow, shells, type TestHost } from "./hostHarness";
import { makeLocal } from "./localHost";
import { startStoryHost, windowOn } from "./storyHost";
import { storyId } from "./storyWindow";

const field = "usage.completion_tokens";
const nothing: ReadonlyMap<string, number> = new Map();

/** What busybox brings of the programs that the script calls. */
const applets = "find xargs stat awk grep dd sed tr head cat";

for (const { name, path } of shells) {
  describe(`token lengths of outputs, under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(path, makeLocal());
      if (name === "busybox") for (const applet of applets.split(" ")) shadow(host, applet, path);
    });
    after(() => {
      host.dispose();
    });
    let folders = 0;
    const folder = (): string => {
      const made = join(host.work, `-o'$(x) "ü${++folders} `);
      mkdirSync(made);
      return made;
    };
    const ask = (cwd: string, query: Partial<TokenQuery> = {}): Promise<TokenReport> =>
      host.ops.tokenCounts({ files: ["*.jsonl"], field, known: nothing, ...query }, cwd);
    const valuesOf = async (lines: readonly string[], asked = field): Promise<object> => {
      const cwd = folder();
      writeFileSync(join(cwd, "a.jsonl"), lines.map((line) => `${line}\n`).join(""));
      const { counts, without } = await ask(cwd, { field: asked });
      rmSync(cwd, { recursive: true });
      return { counts: sorted(counts), without };
    };

    it("finds the field where it is, and nowhere else", async () => {
      const text = JSON.stringify('say "usage": {"completion_tokens": 7} \\" {[ \\');
      const lines = [
        `{"usage":{"completion_tokens":1}}`,
        `{ "id" : ${text} , "usage" : { "prompt_tokens" : 9 , "completion_tokens" : 2 } }`,
        `{"choices":[{"usage":{"completion_tokens":900}}],"usage":{"completion_tokens":3}}`,
        `{"usage":{"details":{"completion_tokens":901},"completion_tokens":4},"x":{"completion_tokens":902}}`,
        `{"usage":{"details":{"completion_tokens":903}},"completion_tokens":904}`,
        `{"usage":{},"other":{"completion_tokens":905}}`,
        `{"usage":null,"other":{"completion_tokens":906}}`,
        `{"usage":"${"x".repeat(20_000)}","completion_tokens":907}`,
        `{"usage":{"completion_tokens":null}}`,
        `{"usage":{"completion_tokens":"8"}}`,
        `{"usage":{"completion_tokens":-8}}`,
        `{"completion_tokens":{"usage":908}}`,
        `[{"usage":{"completion_tokens":909}}]`,
        text,
        "not JSON {{{ ]] \\",
        "",
      ];
      assert.deepEqual(await valuesOf(lines), { counts: { 1: 1, 2: 1, 3: 1, 4: 1 }, without: 11 });
      assert.deepEqual(await valuesOf([`{"n":5}`, `{"a":{"n":6}}`, `{"a":{"n":6},"n":5}`], "n"), {
        counts: { 5: 2 },
        without: 1,
      });
      assert.deepEqual(await valuesOf([`{"a":{"a":{"a":7}}}`, `{"a":{"a":8}}`, `{"a":9}`], "a.a.a"), {
        counts: { 7: 1 },
        without: 2,
      });
    });

    it("agrees with JSON.parse, whatever the lines hold", async () => {
      const key = fc.constantFrom("usage", "completion_tokens", "x", 'us"age', "a\\", "");
      const value = fc.letrec<{ any: unknown; object: Record<string, unknown> }>((tie) => ({
        any: fc.oneof(
          { depthSize: "small" },
          fc.nat(200_000),
          fc.constantFrom(null, true, 1.5, '"usage":{"completion_tokens":3}', 'a "{[" b', "\\", "ü\u0001"),
          fc.array(tie("any"), { maxLength: 3 }),
          tie("object"),
        ),
        object: fc.dictionary(key, tie("any"), { maxKeys: 4 }),
      })).object;
      const spaces = fc.constantFrom(undefined, 0);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(value, spaces), { minLength: 1, maxLength: 60 }), async (rows) => {
          const lines = rows.map(([row, wide]) =>
            wide === undefined ? JSON.stringify(row) : JSON.stringify(row, null, 1).replaceAll("\n", " "),
          );
          const expected = new Map<number, number>();
          let without = 0;
          for (const line of lines) {
            const found = lengthOf(JSON.parse(line));
            if (found === undefined) without++;
            else expected.set(rounded(found), (expected.get(rounded(found)) ?? 0) + 1);
          }
          assert.deepEqual(await valuesOf(lines), { counts: sorted(expected), without });
        }),
        { numRuns: 12 },
      );
    });

    it("reads what was added alone, in whole lines, of files by any name", async () => {
      const cwd = folder();
      const line = (tokens: number, why = "stop"): string =>
        `{"choices":[{"finish_reason":"${why}"}],"usage":{"completion_tokens":${tokens}}}\n`;
      const [first, second] = [join(cwd, " a 'b\" $(x).jsonl"), join(cwd, "ü\nx.jsonl")];
      writeFileSync(first, line(100) + line(200, "length") + line(300).slice(0, 20));
      writeFileSync(second, line(7)); // a name that cannot be told in a line is left alone
      const one = await ask(cwd);
      assert.deepEqual([sorted(one.counts), one.lines, one.ended], [{ 100: 1, 200: 1 }, 2, 1]);
      appendFileSync(first, line(300).slice(20) + line(400));
      const two = await ask(cwd, { known: one.read });
      assert.deepEqual([sorted(two.counts), two.lines, two.ended, two.restBytes], [{ 300: 1, 400: 1 }, 2, 0, 0]);
      const three = await ask(cwd, { known: two.read });
      assert.deepEqual([three.lines, three.read.size, three.shorter], [0, 0, false]);
      appendFileSync(first, line(500).trimEnd());
      assert.equal((await ask(cwd, { known: two.read })).lines, 0);
      assert.deepEqual(sorted((await ask(cwd, { known: two.read, whole: true })).counts), { 500: 1 });
      truncateSync(first, 10);
      assert.equal((await ask(cwd, { known: two.read })).shorter, true);
      // What was moved aside is nobody's output, and nothing at all is no error.
      assert.deepEqual((await ask(cwd, { files: ["none-*"] })).lines, 0);
    });

    it("reads a large file in parts, each line once", async () => {
      const cwd = folder();
      const filler = "y".repeat(3000);
      const lines = Array.from({ length: 8000 }, (_, at) => `{"t":"${filler}","usage":{"completion_tokens":${at}}}\n`);
      writeFileSync(join(cwd, "large.jsonl"), lines.join(""));
      const known = new Map<string, number>();
      const counts = new Map<number, number>();
      let parts = 0;
      for (let rest = 1; rest > 0; parts++) {
        const report = await ask(cwd, { known });
        for (const [id, offset] of report.read) known.set(id, offset);
        for (const [value, count] of report.counts) counts.set(value, (counts.get(value) ?? 0) + count);
        rest = report.restBytes;
      }
      assert.ok(parts > 1);
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      assert.equal(total, 8000);
      assert.deepEqual([counts.get(4095), counts.get(4096), counts.get(4097)], [1, 2, undefined]);
      rmSync(cwd, { recursive: true });
    });
  });
}

test("a stage over a real sshd says how long its answers are, and anew after a restart", async (t) => {
  const host = await startStoryHost(t);
  const answer = '{"choices":[{"finish_reason":"\'"$2"\'"}],"usage":{"completion_tokens":\'"$1"\'}}';
  const write = `answer() { echo '${answer}' >>out.jsonl; }; rm -f out.jsonl`;
  const command = `${write}; for n in 1 2 3; do answer $((n * 100)) stop; done; answer 512 length; : --max-tokens 512`;
  const window = await windowOn(
    t,
    host,
    `session: s\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${host.home}/state\nstages:\n  it:\n    cwd: ${host.home}\n` +
      `    command: ${JSON.stringify(command)}\n    outputs: { files: out.jsonl, count: lines, token_field: usage.completion_tokens }\n`,
  );
  const words = (): string => {
    const { tokenLengths, run } = window.member("it");
    return (tokenLengths && tokenText(tokenLengths, tokenLimit(run?.command))) ?? "";
  };
  const says = "median 200, 95 % up to 512, longest 512; 25 % cut off at 512 (of 4 answers)";
  await window.launcher.launch(storyId, { stage: "it", member: "0" });
  await window.until(says, () => words() === says, 60_000);
  const first = window.member("it").run?.run;
  await window.launcher.launch(storyId, { stage: "it", member: "0" });
  await window.until("the next run", () => window.member("it").run?.run !== first, 60_000);
  await window.until("the same, once", () => words() === says, 60_000);
});

function lengthOf(row: unknown): number | undefined {
  const usage = within(row, "usage");
  const tokens = Array.isArray(usage) ? undefined : within(usage, "completion_tokens");
  return typeof tokens === "number" ? Math.floor(tokens) : undefined;
}

function within(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

function rounded(value: number): number {
  let step = 1;
  while (value / step >= 4096) step *= 2;
  return value - (value % step);
}

function sorted(counts: ReadonlyMap<number, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => a - b));
}
