// All tests, from a fresh clone with Node and npm alone:  node scripts/test.mjs [unit] [ssh] [host [--floor]] [e2e]
// Brings what is missing first, prints a line a suite, and ends with "N passed, N failed" over all of them.
// Until the dependencies are there it may import from Node only; setup.mjs and editor.mjs keep to that too.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureEditor, floor, newest } from "./editor.mjs";
import { ensureChromium, ensureDependencies, ensurePackages } from "./setup.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const minute = 60_000;
const nodeTests = (suite) => [
  "scripts/node-tests.mjs",
  suite,
  "--",
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  "--test-reporter=./test/rig/reporter.mjs",
  `--test-reporter-destination=${reportOf(suite)}`,
];
const editorTests = (version) => ({
  needs: async () => {
    await ensureEditor(version);
    await ensureChromium();
  },
  limit: 12 * minute,
});

/** Suite → how it runs, what it needs first, and the longest it may take. */
const suites = {
  unit: { args: nodeTests("unit"), needs: () => ensurePackages(["busybox"]), limit: 15 * minute },
  ssh: {
    args: nodeTests("ssh"),
    needs: () => ensurePackages(["openssh-server", "openssh-client", "busybox", "dash", "fish", "tcsh", "procps"]),
    limit: 45 * minute,
  },
  host: { args: ["test/host/run.mjs"], ...editorTests(newest) },
  "host-floor": { args: ["test/host/run.mjs", "--floor"], ...editorTests(floor) },
  e2e: {
    args: [...nodeTests("e2e"), "--test-concurrency=1"],
    needs: async () => {
      await editorTests(newest).needs();
      await ensurePackages(["openssh-server", "openssh-client", "procps"]);
    },
    limit: 30 * minute,
  },
};

function reportOf(suite) {
  return resolve("out", "results", `${suite}.jsonl`);
}

/** Runs Node with these arguments as a group of its own, which ends with it or with the time allowed. */
function runNode(args, { env, limit }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"], env, detached: true });
    const endGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // Nothing of it is left.
      }
    };
    const interrupted = () => {
      endGroup("SIGTERM");
      process.exit(130);
    };
    process.once("SIGINT", interrupted);
    process.once("SIGTERM", interrupted);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup("SIGTERM");
      setTimeout(() => endGroup("SIGKILL"), 5000).unref();
    }, limit);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted);
      process.off("SIGTERM", interrupted);
      endGroup("SIGKILL");
      resolve(
        late ? `did not end within ${limit / minute} min` : code === 0 ? undefined : `ended with ${signal ?? code}`,
      );
    });
  });
}

function results(suite) {
  if (!existsSync(reportOf(suite))) return [];
  const lines = readFileSync(reportOf(suite), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

async function runSuite(name) {
  const { args, needs, limit } = suites[name];
  console.log(`\n── ${name} ──`);
  rmSync(reportOf(name), { force: true });
  const began = performance.now();
  let problem;
  try {
    await needs();
    const env = { ...process.env, ML_SESSION_TEST_REPORT: reportOf(name) };
    // node:test's own mark, which would make a runner inside a runner silent.
    delete env.NODE_TEST_CONTEXT;
    problem = await runNode(args, { env, limit });
  } catch (error) {
    problem = error.message;
  }
  const all = results(name);
  const count = (status) => all.filter((result) => result.status === status).length;
  const summary = {
    name,
    seconds: (performance.now() - began) / 1000,
    passed: count("passed"),
    failed: count("failed"),
  };
  summary.skipped = all.filter(({ status }) => status === "skipped");
  summary.failures = all.filter(({ status }) => status === "failed");
  // A suite that breaks off, or runs nothing at all, is a failure of its own.
  if (problem !== undefined && summary.failed === 0) summary.broken = problem;
  else if (summary.passed + summary.failed === 0) summary.broken = "ran nothing";
  if (summary.broken !== undefined) summary.failed += 1;
  return summary;
}

function print(summaries) {
  console.log("\n── results ──");
  for (const { name, seconds, passed, failed, skipped, failures, broken } of summaries) {
    console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${seconds.toFixed(0)} s`);
    for (const test of failures) console.log(`  failed: ${test.name}: ${test.message?.split("\n")[0] ?? ""}`);
    for (const test of skipped) console.log(`  skipped: ${test.name}: ${test.message}`);
    if (broken !== undefined) console.log(`  broken: ${broken}`);
  }
  const sum = (value) => summaries.reduce((total, summary) => total + value(summary), 0);
  const failed = sum((s) => s.failed);
  const skipped = sum((s) => s.skipped.length);
  console.log(`${sum((s) => s.passed)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed;
}

function chosen() {
  const names = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
  for (const name of names) {
    if (suites[name] === undefined) throw new Error(`No suite ${name}; there are ${Object.keys(suites).join(", ")}.`);
  }
  if (process.argv.includes("--floor")) names.push("host-floor");
  return names.length > 0 ? names : Object.keys(suites);
}

const names = chosen();
mkdirSync("out/results", { recursive: true });
for (const file of readdirSync("out/results")) rmSync(`out/results/${file}`);
await ensureDependencies();
const built = await runNode(["scripts/build.mjs", "--dev"], { env: process.env, limit: 5 * minute });
const summaries = [];
if (built !== undefined) {
  summaries.push({
    name: "build",
    seconds: 0,
    passed: 0,
    failed: 1,
    skipped: [],
    failures: [],
    broken: `the build ${built}`,
  });
}
// The editors take minutes, so they are fetched while the first suites run; a suite waits for what it needs itself.
for (const [name, version] of [
  ["host", newest],
  ["host-floor", floor],
]) {
  if (names.includes(name)) void ensureEditor(version).catch(() => undefined);
}
for (const name of names) summaries.push(await runSuite(name));
process.exitCode = print(summaries) > 0 ? 1 : 0;
