// describe, it and their report for the suites that run inside the editor's extension host, where node:test cannot.
import { appendFileSync } from "node:fs";

interface Case {
  readonly name: string;
  readonly body: () => Promise<void> | void;
}

const cases: Case[] = [];
const path: string[] = [];

/** Groups cases; the names are put before theirs. */
export function describe(name: string, body: () => void): void {
  path.push(name);
  body();
  path.pop();
}

/** One case; it fails by throwing, or by not ending in time. */
export function it(name: string, body: () => Promise<void> | void): void {
  cases.push({ name: [...path, name].join(" › "), body });
}

const longest = 200_000;

/** Runs all cases one after the other; rejects if any failed. Results go to the console and to the report file. */
export async function runCases(): Promise<void> {
  let failed = 0;
  for (const [index, { name, body }] of cases.entries()) {
    const began = performance.now();
    const problem = await outcome(body);
    const milliseconds = Math.round(performance.now() - began);
    const status = problem === undefined ? "passed" : "failed";
    if (problem !== undefined) failed += 1;
    const note = problem === undefined ? "" : `\n${problem.stack ?? problem.message}`;
    console.log(`${problem === undefined ? "ok" : "not ok"} ${index + 1} - ${name} (${milliseconds} ms)${note}`);
    report({ name, status, milliseconds, ...(problem === undefined ? {} : { message: problem.message }) });
  }
  if (failed > 0) throw new Error(`${failed} of ${cases.length} failed`);
}

async function outcome(body: Case["body"]): Promise<Error | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`did not end within ${longest / 1000} s`));
    }, longest);
  });
  try {
    await Promise.race([(async () => body())(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(timer);
  }
}

function report(line: Readonly<Record<string, unknown>>): void {
  const file = process.env["ML_SESSION_TEST_REPORT"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
