import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { FailureReading } from "../../src/core/log/reading";

/**
 * Cases as `wordings/*.txt` hold them: `==== name | tool`, then the lines of a log. A line that a failure is reported for
 * begins with `E:kind| ` (error) or `W:kind| ` (warning).
 */
interface WordingCase {
  readonly name: string;
  readonly lines: readonly string[];
  /** `line severity kind` of each failure. */
  readonly expected: readonly string[];
}

function casesOf(file: string): WordingCase[] {
  const blocks = readFileSync(`test/fixtures/log/wordings/${file}`, "utf8")
    .split(/^==== /m)
    .slice(1);
  return blocks.map((block) => {
    const [name = "", ...marked] = block.replace(/\n$/, "").split("\n");
    const expected: string[] = [];
    const lines = marked.map((line, index) => {
      let rest = line;
      for (let mark = marker.exec(rest); mark !== null; mark = marker.exec(rest)) {
        expected.push(`${index + 1} ${mark[1] === "E" ? "error" : "warning"} ${mark[2] ?? ""}`);
        rest = rest.slice(mark[0].length);
      }
      return rest;
    });
    return { name, lines, expected };
  });
}

const marker = /^([EW]):([a-z-]+)\| /;

function failuresOf(chunks: readonly Uint8Array[]): FailureReading[] {
  const reader = new LogReader();
  const readings = [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.flush()];
  return readings.filter((one) => one.kind === "failure");
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const summary = (found: readonly FailureReading[]): string[] =>
  found.map((one) => `${one.line} ${one.severity} ${one.failure}`).sort();
const read = (lines: readonly string[], end = "\n"): string[] =>
  summary(failuresOf([bytesOf(lines.map((line) => line + end).join(""))]));

const failing = casesOf("failing.txt");
const healthy = casesOf("healthy.txt");

test("failures in the words of many tools, versions, shells and languages", () => {
  for (const { name, lines, expected } of failing) assert.deepEqual(read(lines), [...expected].sort(), name);
});

test("healthy logs that are full of words of trouble stay clean", () => {
  for (const { name, lines } of healthy) assert.deepEqual(read(lines), [], name);
});

test("every failure says its cause and what to do", () => {
  for (const { name, lines } of failing)
    for (const { cause, remedy } of failuresOf([bytesOf(`${lines.join("\n")}\n`)])) {
      assert.ok(cause.length > 15 && remedy.length > 15, name);
      assert.doesNotMatch(cause + remedy, /\bundefined\b| {2}|\s\.(?:\s|$)/, `${name}: ${cause} ${remedy}`);
    }
});

test("Windows line ends, colours and where the bytes are cut change nothing", () => {
  for (const { name, lines, expected } of [...failing, ...healthy]) {
    const wanted = [...expected].sort();
    assert.deepEqual(read(lines, "\r\n"), wanted, `${name} with CRLF`);
    const coloured = lines.map((line) => (line === "" ? line : `\u001b[31m${line}\u001b[0m`));
    assert.deepEqual(read(coloured), wanted, `${name} in colour`);
    const whole = bytesOf(`${lines.join("\n")}\n`);
    const chunks: Uint8Array[] = [];
    for (let at = 0, step = 1; at < whole.length; at += step, step = ((step * 7) % 41) + 1)
      chunks.push(whole.subarray(at, at + step));
    assert.deepEqual(summary(failuresOf(chunks)), wanted, `${name} in pieces`);
  }
});

// a prefix ends a quotation: what a model writes has none
const unquoted = [...failing, ...healthy].filter(({ lines }) => !lines.some((line) => line.startsWith("```")));

test("prefixes of launchers and collectors change nothing", () => {
  const prefixes = [
    "[rank3]: ",
    "trainer-1  | ",
    "(Worker pid=4242) ",
    "2026-01-02T10:00:00.123456789Z ",
    "2026-01-02T10:00:00.123Z\t",
    "1717171717.123456 ",
    "10.0.0.12: ",
    "node-3.cluster.local: ",
    "gpu[03]: ",
    "[1,mpirank:0,algo-1]<stderr>:",
    "0|vllm     | ",
    "trainer/0 ",
  ];
  for (const prefix of prefixes)
    for (const { name, lines, expected } of unquoted)
      assert.deepEqual(read(lines.map((line) => prefix + line)), [...expected].sort(), `${name} behind ${prefix}`);
});
