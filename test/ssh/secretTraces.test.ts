import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { messageOf } from "../../src/core/errors";
import type { LaunchOutcome, SecretValues } from "../../src/core/ports";
import { has, makeTestHost, shells, until, type TestHost } from "./hostHarness";
import { launched } from "./hostRunBodies";
import { makeLocal } from "./localHost";

/** Stands for a token; in no name, and in nothing that the suite itself is started with. */
const canary = ["canary", "5f0a", "e11e"].join("-");

/** Programs that the host scripts may start: what each is given is written down before it runs. */
const programs = [
  ["awk", "bash", "cat", "cut", "date", "dd", "env", "find", "git", "grep", "head", "id", "kill", "ln", "ls", "mkdir"],
  ["mkfifo", "mktemp", "mv", "rm", "sed", "setsid", "sha256sum", "sleep", "sort", "stat", "tail", "timeout", "touch"],
  ["tr", "uname", "wc", "xargs"],
].flat();

/** Puts programs before the machine's own that note their arguments, so that no short life is missed. */
function noteArguments(host: TestHost): () => string {
  const notes = join(host.work, "..", "arguments");
  const bin = join(host.home, "..", "bin");
  const places = ["/usr/bin", "/bin"];
  for (const name of programs) {
    const real = places.map((folder) => join(folder, name)).find((path) => existsSync(path));
    if (real === undefined) continue;
    writeFileSync(join(bin, name), `#!/bin/dash\nprintf '%s\\n' "${name} $*" >>'${notes}'\nexec ${real} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return () => readFileSync(notes, "utf8");
}

/** Command lines of all processes, looked at again and again until `over` is aborted. */
async function commandLines(over: AbortSignal): Promise<{ readonly looks: number; readonly found: readonly string[] }> {
  const found: string[] = [];
  let looks = 0;
  while (!over.aborted) {
    for (const pid of readdirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      const line = textOf(`/proc/${pid}/cmdline`);
      if (line.includes(canary)) found.push(line);
    }
    looks++;
    await turn();
  }
  return { looks, found };
}

/** Files below a folder that hold the canary, but for those that the test wrote. */
function filesWith(folder: string, except: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !except.includes(path) && textOf(path).includes(canary));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it is gone meanwhile
  }
}

for (const { name, path } of shells) {
  for (const login of ["bash", "fish", "tcsh"]) {
    // Every login shell once, and every shell of the scripts.
    if (login !== "bash" && name !== "dash") continue;
    const skip = has(login) ? false : `${login} is not on this machine`;
    describe(`a secret on a host whose scripts run under ${name} and whose login shell is ${login}`, { skip }, () => {
      it("is in the job's environment and nowhere else", { timeout: 600_000 }, () => leavesNoTrace(path, login));
    });
  }
}

async function leavesNoTrace(shell: string, login: string): Promise<void> {
  const host = await makeTestHost(shell, makeLocal(`/usr/bin/${login}`));
  const over = new AbortController();
  const watching = commandLines(over.signal);
  try {
    const noted = noteArguments(host);
    const file = join(host.home, "job.env");
    writeFileSync(file, `FROM_FILE='${canary} of a file'\n`, { mode: 0o600 });
    const wrong = join(host.home, "wrong.env");
    writeFileSync(wrong, `GOOD='${canary}'\nA B ${canary}\n`, { mode: 0o600 });
    const secrets: SecretValues = new Map([["TOKEN", `${canary} it's "$(x)"\n\`y\` é -`]]);
    const said: string[] = [];
    const ops = await host.connect({
      secrets: ["TOKEN", "FROM_FILE"],
      envFile: "~/job.env",
      setup: ["set -x", "export DERIVED=$FROM_FILE; set +x", "set -v"],
    });
    const tell = (outcome: LaunchOutcome): LaunchOutcome => {
      said.push(JSON.stringify(outcome));
      return outcome;
    };
    const command =
      'printf "%s %s %s" "${#TOKEN}" "${#FROM_FILE}" "$DERIVED" | tr -d a-z; until [ -e go ]; do sleep 0.1; done';
    const log = join(host.work, "job.log");
    const outcome = tell(await ops.launch(host.request({ command, log }), secrets));
    const { run } = launched(outcome);
    const record = async (): Promise<string> => {
      const records = await ops.records("night");
      said.push(JSON.stringify(records));
      return JSON.stringify(records.find((one) => one.run === run));
    };
    await until("what the job got", async () => (await record()).includes('"environment"'));
    said.push(JSON.stringify(await ops.envFileNames()), JSON.stringify(await ops.findTools(["ls"], undefined)));
    said.push(JSON.stringify(await ops.stop("other", run, { signal: "TERM", graceSeconds: 1, requestedBy: "t" })));
    // Every way to be refused, or to fail.
    const refusing = await host.connect({ secrets: ["TOKEN", "NONE"], envFile: "~/wrong.env" });
    tell(await refusing.launch(host.request({ stage: "a" }), secrets));
    said.push(JSON.stringify(await refusing.envFileNames()));
    tell(await ops.launch(host.request({ stage: "b", env: { "A-B": canary } })));
    tell(await ops.launch(host.request({ stage: "b", cwd: "/none" }), secrets));
    tell(await ops.launch(host.request(), secrets));
    const large = new Map([["TOKEN", canary.repeat(10_000)]]);
    tell(await ops.launch(host.request({ stage: "c" }), large));
    const broken = new Map([["TOKEN", `${canary}\0`]]);
    await assert.rejects(ops.launch(host.request({ stage: "d" }), broken), (error) => {
      said.push(messageOf(error), error instanceof Error ? (error.stack ?? "") : "");
      return true;
    });
    const failing = await host.connect({ secrets: ["TOKEN"], setup: ["set -eux", "false $TOKEN"] });
    tell(await failing.launch(host.request({ stage: "e", log: "other.log" }), new Map([["TOKEN", "none"]])));
    writeFileSync(join(host.work, "go"), "");
    await until("the end", async () => (await record()).includes('"exit"'));
    over.abort();
    const { looks, found } = await watching;
    assert.ok(looks > 0);
    assert.deepEqual(found, []);
    assert.ok(noted().includes("setsid"), "arguments are noted");
    assert.doesNotMatch(noted(), new RegExp(canary));
    assert.doesNotMatch([...said, ...host.warnings].join("\n"), new RegExp(canary));
    const root = join(host.home, "..");
    // The job's own line was traced by its own `set -x`, before it had a value to show.
    assert.deepEqual(filesWith(root, [file, wrong]), []);
    assert.match(readFileSync(log, "utf8"), new RegExp(`\\d+ ${`${canary} of a file`.length} `));
  } finally {
    over.abort();
    await watching;
    host.dispose();
  }
}
