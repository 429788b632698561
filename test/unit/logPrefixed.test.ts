import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { ProgressReading } from "../../src/core/log/reading";

/** Quoted text is told by its marks at the beginning of a line: what stands in front of them hides them. */
const quoting = ["traps-samples.log"];
const logs = ["progress", "more"].flatMap((folder) =>
  readdirSync(`test/fixtures/log/${folder}`)
    .filter((name) => name.endsWith(".log") && !quoting.includes(name))
    .map((name) => ({ name, text: readFileSync(`test/fixtures/log/${folder}/${name}`, "utf8") })),
);

/** The readings without what says where they stand in the file, and without the process. */
function read(text: string): Omit<ProgressReading, "offset" | "source">[] {
  const reader = new LogReader();
  const readings = [...reader.push(new TextEncoder().encode(text)), ...reader.flush()];
  return readings
    .filter((reading) => reading.kind === "progress")
    .map(({ offset: _offset, source: _source, ...reading }) => reading);
}

const eachLine = (text: string, change: (line: string) => string): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? line : change(line)))
    .join("\n");

const dressed: readonly (readonly [string, (text: string) => string])[] = [
  ...[
    "[rank3]: ",
    "[default2]:",
    "0: ",
    " 7: ",
    "node07: ",
    "train-1  | ",
    "[1,0]<stdout>:",
    "[pod/train-0/main] ",
    "\u001b[36m(Worker pid=12, ip=10.0.0.1)\u001b[0m ",
    "(RayTrainWorker pid=12) ",
    "2026-11-02T10:00:00.123456789Z ",
    "2026-11-02T10:00:00.123456789Z stderr F ",
    "2026-11-02 10:00:00 ",
    "[2026-11-02 10:00:00] ",
    "10:00:00 ",
    "Nov 02 10:00:00 node7 job[77]: ",
    "INFO:train:",
    "2026-11-02 10:00:00.123 | INFO     | __main__:run:12 - ",
  ].map((prefix) => [prefix.trim(), (text: string) => eachLine(text, (line) => prefix + line)] as const),
  ["CRLF", (text) => text.replaceAll("\n", "\r\n")],
  [
    "colours",
    (text) => eachLine(text, (line) => `\u001b[32m${line.replaceAll("\r", "\u001b[0m\r\u001b[32m")}\u001b[0m`),
  ],
  ["a wide bar", (text) => text.replace(/%\|[^|\r\n]*\|/gu, `%|${"█".repeat(40)}${" ".repeat(20)}|`)],
  ["an ASCII bar", (text) => text.replace(/%\|[^|\r\n]*\|/gu, "%|##5   |")],
];

for (const [name, change] of dressed) {
  test(`the same is read with ${name}`, () => {
    for (const log of logs) assert.deepEqual(read(change(log.text)), read(log.text), log.name);
  });
}
