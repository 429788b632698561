import assert from "node:assert/strict";
import { test } from "node:test";
import { LogText } from "../../src/core/log/logText";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("bars collapse to their last state and control codes go", () => {
  const shown = new LogText(1000);
  shown.push(bytesOf("start\n\r 10%|# |\r 20%|## |\ndone \u001b[32mok\u001b[0m\r\n"));
  assert.equal(shown.text, "start\n 20%|## |\ndone ok\n");
  assert.equal(shown.lineCount, 3);
  assert.equal(shown.offsetOfLine(1), 6);
  assert.equal(shown.lineAt(0), 0);
  assert.equal(shown.lineAt(5), 0);
  assert.equal(shown.lineAt(6), 1);
});

test("the unfinished last line is shown and replaced", () => {
  const shown = new LogText(1000);
  shown.push(bytesOf("a\n 10%|"));
  assert.equal(shown.text, "a\n 10%|");
  shown.push(bytesOf(" x\r 20%"));
  assert.equal(shown.text, "a\n 20%");
  assert.equal(shown.lineCount, 2);
  assert.equal(shown.offsetOfLine(1), 2);
  assert.equal(shown.lineAt(9), 1);
  shown.push(bytesOf("\r"));
  assert.equal(shown.text, "a\n 20%");
});

test("the window drops whole oldest lines and keeps offsets true", () => {
  const shown = new LogText(20);
  shown.reset(500);
  for (let number = 0; number < 10; number++) shown.push(bytesOf(`line ${number}\n`));
  assert.equal(shown.text, "line 8\nline 9\n");
  assert.equal(shown.startOffset, 556);
  assert.equal(shown.lineAt(500), undefined);
  assert.equal(shown.lineAt(556), 0);
  assert.equal(shown.lineAt(563), 1);
  assert.equal(shown.offsetOfLine(1), 563);
  assert.equal(shown.lineAt(570), undefined);
  shown.reset(7);
  assert.equal(shown.text, "");
  assert.equal(shown.lineCount, 0);
  assert.equal(shown.startOffset, 7);
});
