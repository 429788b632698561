import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { dullLines } from "../../src/core/log/dullLines";
import { LogReader } from "../../src/core/log/reader";

const folders = ["test/fixtures/log/progress", "test/fixtures/log/failures"];
const logs = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(folder, name))),
);
const lines = logs.flatMap((log) => log.toString("latin1").split("\n"));

/** Lines that no format reads, of the kinds that most of a log is made of, and what changes the meaning of others. */
const dull = [
  'INFO:     127.0.0.1:50112 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
  "(APIServer pid=1) INFO 11-02 10:00:00 [logger.py:42] Received request chatcmpl-1b: SamplingParams(n=1, temperature=0.7)",
  "[sample 12] the model answers a question and explains why the second step does not matter",
  "2026-11-02 10:00:00,123 - datagen.writer - DEBUG - flushed 12 rows to /data/out/shard-01.jsonl",
  "/opt/env/lib/python3.12/site-packages/torch/utils/checkpoint.py:50: UserWarning: the default will change",
  "",
];
const turning = [
  'INFO:     127.0.0.1:50112 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
  "attempt 1 of 5 went wrong, trying again",
  "Exception in thread Thread-3 (work):",
  "Exception ignored in: <function f>",
  "Traceback (most recent call last):",
  '  File "a.py", line 1, in f',
  "ValueError: x",
  "```",
  "index, name, utilization.gpu [%], memory.used [MiB]",
  "0, NVIDIA H200, 98 %, 131000 MiB",
  "\u001b[31mCUDA out of\u001b[0m memory",
];

/** With a format of the session file's own nothing is passed over; this one reads nothing. */
const unreadable = { hint: { pattern: "^no such line (?<done>\\d+)$" } };

function readAll(bytes: Uint8Array, options = {}) {
  const reader = new LogReader(options);
  const readings = [...reader.push(bytes), ...reader.flush()];
  return { readings, verdict: reader.verdict() };
}

function same(bytes: Uint8Array): void {
  assert.deepEqual(readAll(bytes), readAll(bytes, unreadable));
}

test("what is passed over unread says nothing: every log reads the same with and without", () => {
  for (const log of logs) same(log);
});

test("lines of all logs in any order, with dull ones between them, read the same with and without", () => {
  const line = fc.oneof(fc.constantFrom(...lines), fc.constantFrom(...dull), fc.constantFrom(...turning));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (picked) => {
      same(Buffer.from(picked.join("\n"), "latin1"));
    }),
    { numRuns: 1500 },
  );
});

test("the dull lines of a common log are known as such", () => {
  for (const line of dull) assert.ok(dullLines().proves(Buffer.from(line)), line);
});

test("a text is found wherever it stands, even where another one breaks off", () => {
  for (const text of ["Killed", "CUDA out of memory", "NoNo space left on device", "Traceback Traceback (most", "\b"]) {
    for (const around of ["", "x", "Trace", "é "]) {
      assert.ok(!dullLines().proves(Buffer.from(`${around}${text}${around}`)), `${around}${text}`);
    }
  }
});
