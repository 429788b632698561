// A host that many people share is watched gently: what is not needed there is not run, and the tooltip says so.
import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { isLoginNode, withLoginNode } from "../../src/core/session/loginNode";
import { stageRows } from "../../src/core/session/stageRows";
import { definitionOf, startStoryHost, windowOn } from "./storyHost";
import { storyId, type StoryWindow } from "./storyWindow";

const patience = 60_000;
const progress = (n: number): string => `Progress: ${n}/25000 (0 errors), 3.1 req/s, elapsed: ${n}s\n`;

interface LoginNode {
  readonly window: StoryWindow;
  readonly log: string;
  /** What was run on the host of what only an ordinary one is asked for. */
  readonly ran: () => readonly string[];
}

/** A host with Slurm; whoever runs nvidia-smi there leaves a mark. */
async function startLoginNode(t: TestContext, key: string): Promise<LoginNode> {
  const bin = mkdtempSync(join(tmpdir(), "login-node-"));
  t.after(() => {
    rmSync(bin, { recursive: true, force: true });
  });
  const mark = join(bin, "nvidia-smi-was-run");
  const gpu = "0, GPU-0, NVIDIA H200 (simulated), 98, 131000, 143771, 71, 640.12, 700.00";
  writeFileSync(join(bin, "squeue"), "#!/bin/sh\n");
  writeFileSync(
    join(bin, "nvidia-smi"),
    `#!/bin/sh\ncase "$*" in *-lms*) ;; *) exit 0 ;; esac\n: >${mark}\nwhile :; do echo '${gpu}'; sleep 1; done\n`,
  );
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
  const host = await startStoryHost(t, { config: [`SetEnv PATH=${bin}:/usr/local/bin:/usr/bin:/bin`] });
  const { home } = host;
  const log = join(home, "watched.log");
  mkdirSync(join(home, "state"));
  writeFileSync(log, progress(1));
  const window = await windowOn(
    t,
    host,
    `session: gentle
hosts:
  gpu8:
    ssh: gpu8
    state_dir: ${home}/state
${key}stages:
  watched:
    log: ${log}
  job:
    command: echo begun; until [ -e ${home}/enough ] || [ ! -d ${home} ]; do sleep 0.2; done; exit 3
    cwd: ${home}
`,
  );
  await window.launcher.launch(storyId, { stage: "job", member: "0" });
  await window.until("the job runs", () => window.member("job").run?.end === undefined, patience);
  const recorder = (): boolean =>
    readdirSync(join(home, "state", "v1")).some((name) => existsSync(join(home, "state", "v1", name, ".recorder")));
  const ran = (): readonly string[] => [
    ...(existsSync(mark) ? ["nvidia-smi"] : []),
    ...(recorder() ? ["recorder"] : []),
  ];
  await window.until("its log is read", () => window.member("watched").progress?.done === 1, patience);
  appendFileSync(log, progress(2));
  await window.until("its log is followed", () => window.member("watched").progress?.done === 2, patience);
  writeFileSync(join(home, "enough"), "");
  await window.until("the job's end", () => window.state("job") === "failed", patience);
  return { window, log, ran };
}

const tooltipOf = (window: StoryWindow): string =>
  stageRows(window.session(), Date.now())[0]?.children[0]?.tooltip.replaceAll("\\", "") ?? "";

test("a login node is found by its scheduler: logs and ends are told, and nothing else is run", async (t) => {
  // Where the tests' machine has a GPU only the session file can say it.
  const declared = readdirSync("/dev").some((name) => /^(nvidia\d|kfd$)/.test(name));
  const { window, log, ran } = await startLoginNode(t, declared ? "    login_node: true\n" : "");
  const host = window.session().hosts.get("gpu8");
  assert.match(host?.gpusUnavailable ?? "", /login node/);
  assert.match(tooltipOf(window), /A login node, as /);
  // Nobody has it open here; somebody may elsewhere, so that the log alone tells.
  assert.notEqual(window.member("watched").writer?.open, false);
  appendFileSync(log, "RuntimeError: CUDA out of memory\n");
  await window.until("what the log says", () => window.member("watched").failures.length > 0, patience);
  assert.deepEqual(ran(), []);
});

test("a host with a scheduler that the session file calls none is watched as any other", async (t) => {
  const { window, ran } = await startLoginNode(t, "    login_node: false\n");
  await window.until("its GPU", () => window.session().hosts.get("gpu8")?.gpus.length === 1, patience);
  assert.deepEqual(ran(), ["nvidia-smi", "recorder"]);
  assert.doesNotMatch(tooltipOf(window), /login node/);
});

test("the session file's word goes before what was found", () => {
  const { hosts } = definitionOf(
    "session: s\nhosts: { a: { login_node: true }, b: { login_node: false }, c: {} }\nstages: { x: { log: /x, host: a } }\n",
  );
  const gentle = (name: string, has: readonly string[]): boolean =>
    isLoginNode({ has: withLoginNode(new Set(has), hosts.get(name) ?? assert.fail()) });
  assert.deepEqual(
    ["a", "b", "c"].map((name) => [gentle(name, ["proc"]), gentle(name, ["proc", "login-node"])]),
    [
      [true, true],
      [false, false],
      [false, true],
    ],
  );
});
