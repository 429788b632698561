import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LogReader } from "../../src/core/log/reader";
import type { FailureReading, LogVerdict, ProgressReading, Reading } from "../../src/core/log/reading";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Outcome {
  readonly verdict: LogVerdict;
  readonly progress: readonly ProgressReading[];
  readonly failures: readonly FailureReading[];
}

function read(bytes: Uint8Array): Outcome {
  const reader = new LogReader();
  const readings: Reading[] = [...reader.push(bytes), ...reader.flush()];
  return {
    verdict: reader.verdict(),
    progress: readings.filter((reading) => reading.kind === "progress"),
    failures: readings.filter((reading) => reading.kind === "failure"),
  };
}

const kinds = (text: string): string[] => read(bytesOf(text)).failures.map((found) => found.failure);
const only = (text: string): FailureReading => {
  const { failures } = read(bytesOf(text));
  assert.equal(failures.length, 1, text);
  const [found] = failures;
  assert.ok(found !== undefined);
  return found;
};

interface ExpectedProgress extends Record<string, unknown> {
  readonly line: number;
  readonly segment?: number;
  readonly metrics?: Readonly<Record<string, number | string>>;
  readonly role?: string;
  readonly unit_alt?: readonly string[] | string;
  readonly rate_unit_alt?: readonly string[] | string;
}
interface ProgressCase {
  readonly file: string;
  readonly expected: readonly ExpectedProgress[];
  readonly not_progress?: readonly number[];
}
interface FailureCase {
  readonly file: string;
  readonly failures: readonly { readonly line: number; readonly kind: string; readonly severity: string }[];
  readonly related: readonly number[];
  readonly verdict: string;
}

function casesOf(folder: string): unknown[] {
  return readFileSync(`test/fixtures/log/${folder}/cases.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

const close = (a: unknown, b: unknown): boolean =>
  a === b ||
  (typeof a === "number" &&
    typeof b === "number" &&
    Math.abs(a - b) <= 1e-4 * Math.max(Math.abs(a), Math.abs(b)) + 1e-9);

function checkEntry(where: string, found: ProgressReading | undefined, expected: ExpectedProgress): void {
  for (const field of ["done", "total", "rate", "elapsed_s", "eta_s", "errors"] as const) {
    assert.ok(
      close(found?.[field], expected[field]),
      `${where} ${field}: ${String(found?.[field])} is not ${String(expected[field])}`,
    );
  }
  for (const field of ["unit", "rate_unit"] as const) {
    if (expected[field] === undefined || (field === "rate_unit" && expected["rate"] === undefined)) continue;
    const accepted = [expected[field], expected[`${field}_alt`]].flat();
    assert.ok(accepted.includes(found?.[field]), `${where} ${field}: ${String(found?.[field])}`);
  }
  for (const [name, value] of Object.entries(expected.metrics ?? {})) {
    assert.ok(
      close(found?.metrics?.[name], value),
      `${where} ${name}: ${String(found?.metrics?.[name])} is not ${value}`,
    );
  }
  if (expected.role === "aux") assert.equal(found?.role, "aux", where);
}

test("progress of real logs is read as printed, and nothing is invented", () => {
  for (const known of casesOf("progress") as ProgressCase[]) {
    const { progress } = read(readFileSync(`test/fixtures/log/progress/${known.file}`));
    for (const entry of known.expected) {
      const found = progress.find(
        (one) => one.line === entry.line && (entry.segment === undefined || one.segment === entry.segment),
      );
      checkEntry(`${known.file}:${entry.line}`, found, entry);
    }
    for (const line of known.not_progress ?? []) {
      const invented = progress.find(
        (one) => one.line === line && (one.done ?? one.total ?? one.rate ?? one.eta_s) !== undefined,
      );
      assert.equal(invented, undefined, `${known.file}:${line}`);
    }
  }
});

test("failures of real logs are found with their kind, and healthy logs stay clean", () => {
  for (const known of casesOf("failures") as FailureCase[]) {
    const { failures, verdict } = read(readFileSync(`test/fixtures/log/failures/${known.file}`));
    assert.equal(verdict, known.verdict, known.file);
    const lines = new Set([...known.failures.map((one) => one.line), ...known.related]);
    for (const found of failures) {
      assert.ok(lines.has(found.line), `${known.file}:${found.line} ${found.failure} is a false alarm`);
      assert.ok(found.cause !== "" && found.remedy !== "", `${known.file}:${found.line} says nothing`);
    }
    for (const kind of new Set(known.failures.map((one) => one.kind))) {
      assert.ok(
        failures.some((found) => found.failure === kind),
        `${known.file} misses ${kind}`,
      );
    }
  }
});

test("a program that is not there is told in every shell's words", () => {
  const lines = [
    "nohup: failed to run command 'hf': No such file or directory",
    "nohup: failed to run command ‘hf’: No such file or directory",
    "nohup: can't execute 'hf': No such file or directory",
    "-bash: hf: command not found",
    "bash: line 1: hf: command not found",
    "./fetch.sh: line 14: hf: command not found",
    "/bin/sh: 1: hf: not found",
    "sh: hf: not found",
    "zsh: command not found: hf",
    "fetch.zsh:14: command not found: hf",
    "fish: Unknown command: hf",
    "sudo: hf: command not found",
    "env: ‘hf’: No such file or directory",
    "/usr/bin/env: 'hf': No such file or directory",
    "timeout: failed to run command ‘hf’: No such file or directory",
    "setsid: failed to execute hf: No such file or directory",
    "bash: line 1: exec: hf: not found",
    "sh: 1: exec: hf: not found",
    "slurmstepd: error: execve(): hf: No such file or directory",
    'docker: Error response from daemon: OCI runtime create failed: exec: "hf": executable file not found in $PATH: unknown.',
    "Command 'hf' not found, did you mean:",
  ];
  for (const line of lines) {
    const found = only(`${line}\n`);
    assert.equal(found.failure, "command-not-found", line);
    assert.deepEqual(found.subject, { program: "hf" }, line);
    assert.ok(found.permanent);
  }
});

test("the night's failure: huggingface-cli is not on PATH, and has another name by now", () => {
  const found = only("nohup: failed to run command 'huggingface-cli': No such file or directory\n");
  assert.deepEqual(found.subject, { program: "huggingface-cli" });
  assert.match(found.cause, /PATH/);
  assert.match(found.cause, /called hf/);
  assert.match(found.remedy, /`hf`/);
  assert.equal(found.line, 1);
  assert.equal(found.endOffset, 74);
});

test("both generations of the huggingface-cli stub", () => {
  const dead = only(readFileSync("test/fixtures/log/captures/hfcli-old.txt", "utf8"));
  assert.deepEqual([dead.failure, dead.severity], ["deprecated-command", "error"]);
  assert.deepEqual(dead.subject, { program: "huggingface-cli", replacement: "hf" });
  // the older one is deprecated, and does its work
  assert.deepEqual(kinds("⚠️  Warning: 'huggingface-cli download' is deprecated. Use 'hf download' instead.\n"), []);
});

const boom = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n';

test("ugly: a traceback glued to the end of a bar", () => {
  const found = only(
    `\r 10%|█         | 10/100 [00:31<04:41,  3.12s/it]${boom}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n`,
  );
  assert.deepEqual([found.failure, found.startLine, found.line], ["cuda-oom", 1, 4]);
});

test("ugly: two processes write their tracebacks into each other", () => {
  const text = boom.split("\n");
  const mixed = [
    text[0],
    text[0],
    text[1],
    text[1],
    text[2],
    text[2],
    "ModuleNotFoundError: No module named 'x'",
    "ModuleNotFoundError: No module named 'x'",
  ];
  assert.deepEqual(kinds(`${mixed.join("\n")}\n`), ["import-error"]);
});

test("ugly: the cause hides in the middle of a chain of exceptions", () => {
  const chain = `${boom}requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/x\n\nThe above exception was the direct cause of the following exception:\n\n${boom}huggingface_hub.errors.GatedRepoError: 401 Client Error.\n\nCannot access gated repo for url https://huggingface.co/x.\n\nDuring handling of the above exception, another exception occurred:\n\n${boom}RuntimeError: could not load\n`;
  const found = only(chain);
  assert.deepEqual([found.failure, found.startLine], ["gated-repo", 1]);
});

test("ugly: tracebacks that are no failure", () => {
  assert.deepEqual(kinds(`Exception ignored in: <function Pool.__del__ at 0x7f>\n${boom}RuntimeError: x\n`), []);
  assert.deepEqual(
    kinds(`[rank0]: ${boom.trimEnd().replaceAll("\n", "\n[rank0]: ")}\n[rank0]: KeyboardInterrupt\n`),
    [],
  );
  assert.deepEqual(
    kinds(
      `request 17 failed (attempt 1/5), retrying\n${boom}openai.APITimeoutError: Request timed out.\n2026-01-01 10:00:00,001 | INFO | gen | ok\n`,
    ),
    [],
  );
});

test("ugly: the last of the tries is a failure", () => {
  assert.deepEqual(kinds(`Retrying in 2s [Retry 2/5].\n${boom}httpx.ConnectError: [Errno 111] Connection refused\n`), [
    "network",
  ]);
});

test("ugly: prefixes upon prefixes", () => {
  const line = "vllm-1  | (EngineCore_DP0 pid=1) ERROR 10-20 03:20:50 [core.py:710] ";
  const text = `${line}${boom.trimEnd().replaceAll("\n", `\n${line}`)}\n${line}RuntimeError: CUDA error: an illegal memory access was encountered\n`;
  assert.deepEqual(kinds(text), ["cuda-error"]);
});

test("ugly: what a model wrote is no failure and no progress", () => {
  const text = [
    '{"id": 4, "response": "bash: hf: command not found"}',
    "```",
    "bash: hf: command not found",
    " 10%|█         | 10/100 [00:31<04:41,  3.12s/it]",
    "```",
    "The error 'bash: foo: command not found' means that foo is missing.",
    'tqdm prints "  45%|████▌     | 45/100 [00:10<00:12,  4.50it/s]" here',
    "Assistant:  45%|████▌     | 45/100 [00:10<00:12,  4.50it/s]",
  ].join("\n");
  assert.deepEqual(read(bytesOf(text)), { verdict: "healthy", progress: [], failures: [] });
});

test("ugly: Windows line ends, a byte order mark and NULs", () => {
  assert.deepEqual(kinds("\ufeffbash: hf: command not found\r\nNameError\r\n"), ["command-not-found"]);
  assert.deepEqual(kinds(Array.from("sh: 1: hf: not found\n").join("\0")), ["command-not-found"]);
});

test("ugly: success lines take nothing back, repeats say it once", () => {
  const { failures, verdict } = read(
    bytesOf(`${"./run.sh: line 3: hf: command not found\n".repeat(50)}done, exit code 0, no errors\n`),
  );
  assert.equal(failures.length, 1);
  assert.equal(verdict, "failed");
});

test("ugly: long lines that invite a regular expression to run away", () => {
  const lines = [
    "9".repeat(200_000),
    "a.".repeat(100_000),
    "a:".repeat(100_000),
    "(pid=".repeat(50_000),
    " ".repeat(200_000),
    "[1/".repeat(60_000),
    "Error: ".repeat(40_000),
  ];
  const { progress } = read(
    bytesOf(
      lines.flatMap((line) => [line, `Step 1 | ${line} x`, `Traceback (most recent call last):`, line]).join("\n"),
    ),
  );
  assert.deepEqual(progress, []);
});

test("peek reads a bar that never ends its line, and changes nothing", () => {
  const reader = new LogReader();
  reader.push(bytesOf("\r  0%|          | 0/500 [00:00<?, ?it/s]\r  8%|▊         | 41/500 [00:10<01:51,  4.12it/s]"));
  assert.equal(reader.peek()?.done, 41);
  assert.equal(reader.peek()?.done, 41);
  assert.equal(reader.push(bytesOf("\r")).length, 1);
  assert.equal(reader.peek(), undefined);
});

test("settle gives a traceback out that may still grow", () => {
  const reader = new LogReader({ offset: 1000 });
  assert.deepEqual(reader.push(bytesOf(`${boom}ValueError: x\n`)), []);
  const [found] = reader.settle();
  assert.equal(found?.kind === "failure" ? found.failure : "", "python-exception");
  assert.equal(found?.offset, 1000 + boom.length);
  assert.equal(reader.verdict(), "failed");
  assert.deepEqual(reader.flush(), []);
});

test("a session file's own pattern and total", () => {
  const own = new LogReader({ hint: { pattern: "did (?<done>\\d+) of (?<total>\\d+)" } });
  const [first] = own.push(bytesOf("worker: did 3 of 10 pieces\n"));
  assert.ok(first?.kind === "progress");
  assert.deepEqual([first.done, first.total, first.format], [3, 10, "pattern"]);
  const total = new LogReader({ hint: { total: 25_000 } });
  const [step] = total.push(bytesOf("iter 10: loss 9.4512, time 1412.60ms, mfu 36.81%\n"));
  assert.ok(step?.kind === "progress");
  assert.equal(step.total, 25_000);
});

test("patterns that could run for ever or read nothing are refused in plain words", () => {
  for (const pattern of [
    "(?<done>(a+)+)",
    "((?<done>\\d+)|x)*",
    "(?<done>",
    "\\d+/\\d+",
    `(?<done>${"x".repeat(600)})`,
  ]) {
    assert.throws(() => new LogReader({ hint: { pattern } }), { name: "ExpectedError" }, pattern);
  }
});
