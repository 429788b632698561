// Prints what the product reads in log files, one JSON object a file:  node scripts/run.mjs scripts/analyze.ts FILE…
import { createReadStream } from "node:fs";
import { LogReader } from "../src/core/log/reader";
import type { FailureReading, ProgressReading, Reading } from "../src/core/log/reading";

function progressRow(reading: ProgressReading): object {
  const { kind: _kind, offset: _offset, ...row } = reading;
  return row;
}

function failureRow(reading: FailureReading): object {
  const { failure, line, segment, startLine, severity, permanent, cause, remedy, subject } = reading;
  return { line, segment, start_line: startLine, kind: failure, severity, permanent, cause, remedy, subject };
}

async function analyze(file: string): Promise<object> {
  const reader = new LogReader();
  const readings: Reading[] = [];
  for await (const chunk of createReadStream(file)) readings.push(...reader.push(chunk as Uint8Array));
  readings.push(...reader.flush());
  return {
    file,
    verdict: reader.verdict(),
    progress: readings.filter((reading) => reading.kind === "progress").map(progressRow),
    failures: readings.filter((reading) => reading.kind === "failure").map(failureRow),
  };
}

for (const file of process.argv.slice(2)) {
  try {
    console.log(JSON.stringify(await analyze(file)));
  } catch (error) {
    console.log(JSON.stringify({ file, error: error instanceof Error ? error.message : String(error) }));
    process.exitCode = 1;
  }
}
