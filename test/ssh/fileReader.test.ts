// What a host says of a log that is followed: bounded, whatever it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FileReader, type Progress } from "../../src/ssh/fileReader";

const fresh = (): Progress => ({
  from: { kind: "end", bytes: 100 },
  last: new Uint8Array(),
  begun: false,
  catchUpAt: undefined,
  away: "",
  size: 0,
  modifiedAt: undefined,
  readBefore: undefined,
  rotated: false,
});

for (const opened of [false, true]) {
  test(`a line without end on standard error is given up, ${opened ? "after" : "before"} the log is open`, () => {
    const reader = new FileReader(fresh());
    const say = (text: string): void => {
      for (const event of reader.take({ from: "stderr", data: Buffer.from(text) })) assert.equal(event.kind, "opened");
    };
    if (opened) say("@ opened first 1 2 0 5 1700000000 0 0\n");
    assert.throws(() => {
      for (let n = 0; n < 100; n++) say("x".repeat(1000));
    }, /a line without end/);
  });
}

test("many lines on standard error are no line without end", () => {
  const reader = new FileReader(fresh());
  const noise = Buffer.from(`${"noise ".repeat(1000)}\n`);
  for (let n = 0; n < 100; n++) assert.deepEqual([...reader.take({ from: "stderr", data: noise })], []);
});

test("a flood before the host has said of which log it is ends in bounded memory", () => {
  const reader = new FileReader(fresh());
  const data = Buffer.alloc(1 << 20, "x");
  assert.throws(() => {
    for (let n = 0; n < 100; n++) assert.deepEqual([...reader.take({ from: "stdout", data })], []);
  }, /without saying which/);
});
