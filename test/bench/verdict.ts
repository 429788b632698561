import { spawn } from "node:child_process";
import { lastSeen } from "../../src/core/session/judge";
import { storyId, type StoryWindow } from "../ssh/storyWindow";
import { startBenchHost, type BenchHost } from "./benchHost";
import { median, pause, print, setting } from "./figure";

/** Ways to die, and what the file of the session says of each. The wait before is nobody's multiple. */
const deaths: Readonly<Record<string, string>> = {
  traceback: "python3 -c 'import json; json.loads(\"{\")'",
  missing: "surely-missing --x",
  killed: "kill -KILL $$",
  segfault: "sh -c 'kill -SEGV $$'",
  outputs: "echo all good",
};

/** From a job's end on the host to its red stage, over kinds of deaths; beside a loop that asks `kill -0` each 5 s. */
export async function measureVerdict(): Promise<void> {
  const host = await startBenchHost();
  const rounds = Math.max(8, Math.ceil(setting("BENCH_ROUNDS", 40) / Object.keys(deaths).length));
  const rival = new PollingLoop(host);
  try {
    const window = await host.window(sessionFile(host.home));
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const stage of Object.keys(deaths)) ours.push(await verdictOf(window, stage, rival));
    }
    const theirs = await rival.finish();
    report(ours, theirs);
  } finally {
    rival.stop();
    await host.stop();
  }
}

function report(ours: readonly number[], theirs: readonly number[]): void {
  const common = { unit: "ms", rival: "ssh gpu8 kill -0, each 5 s", n: ours.length };
  const [p50, rival50] = [median(ours), median(theirs)];
  print({ ...common, name: "verdict-p50", value: p50, rival_value: rival50, ratio: rival50 / p50 });
  const [max, rivalMax] = [Math.max(...ours), Math.max(...theirs)];
  const bar = { bar: "<= 2000 ms", ok: max <= 2000 };
  print({ ...common, name: "verdict-max", value: max, rival_value: rivalMax, ratio: rivalMax / max, ...bar });
}

/** One death: from the time that its record tells to the red state in the store, ms; both are of this machine's clock. */
async function verdictOf(window: StoryWindow, stage: string, rival: PollingLoop): Promise<number> {
  const before = window.member(stage).run?.run;
  const isNew = (): boolean => (window.member(stage).run?.run ?? before) !== before;
  await window.launcher.restart(storyId, { stage, member: "0" });
  await window.until(`${stage} runs`, () => isNew() && window.member(stage).run?.process !== undefined, 60_000);
  const { run = "", process } = window.member(stage).run ?? {};
  const death = rival.watch(process?.pid ?? 0);
  const isRed = (): boolean => isNew() && lastSeen(window.member(stage).state).kind === "failed";
  await window.until(`${stage} is red`, isRed, 60_000);
  const member = window.member(stage);
  const end = member.run?.end;
  const red = member.transitions.findLast(({ to }) => to === "failed");
  if (!end || !red || member.run.run !== run) throw new Error(`${stage}: no verdict of run ${run}`);
  death(end.at);
  return red.at - end.at;
}

function sessionFile(home: string): string {
  const stages = Object.entries(deaths).map(([name, command]) => {
    const wait = "sleep $(awk 'BEGIN { srand(); print 0.6 + rand() }')";
    const check = name === "outputs" ? `    done_when: { files: ${home}/never-made }\n` : "";
    return `  ${name}:\n    cwd: ${home}\n    log: ${home}/${name}.log\n    command: ${JSON.stringify(`${wait}; ${command}`)}\n${check}`;
  });
  return `session: bench\nhosts:\n  gpu8:\n    ssh: gpu8\n    state_dir: ${home}/state\nstages:\n${stages.join("")}`;
}

interface Watched {
  readonly pid: number;
  /** When it died; 0 until that is known. */
  diedAt: number;
  foundAt: number;
}

/** The plain loop: one `ssh` each 5 s that asks which of the jobs are still there. */
class PollingLoop {
  readonly #host: BenchHost;
  readonly #all: Watched[] = [];
  readonly #over = new AbortController();
  readonly #running: Promise<void>;

  constructor(host: BenchHost) {
    this.#host = host;
    this.#running = this.#loop();
  }

  /** @returns to be told when it died */
  watch(pid: number): (diedAt: number) => void {
    const one: Watched = { pid, diedAt: 0, foundAt: 0 };
    this.#all.push(one);
    return (diedAt) => {
      one.diedAt = diedAt;
    };
  }

  /** When all deaths were found: how long after them, ms. */
  async finish(): Promise<readonly number[]> {
    while (this.#all.some(({ foundAt }) => foundAt === 0)) await pause(100);
    return this.#all.map(({ diedAt, foundAt }) => Math.max(0, foundAt - diedAt));
  }

  stop(): void {
    this.#over.abort();
    void this.#running;
  }

  async #loop(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const open = this.#all.filter(({ foundAt }) => foundAt === 0);
      const gone = await this.#gone(open.map(({ pid }) => pid));
      for (const one of open) if (gone.has(one.pid)) one.foundAt = Date.now();
      await pause(5000);
    }
  }

  #gone(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const ask = `for p in ${pids.join(" ")}; do kill -0 $p 2>/dev/null || echo $p; done`;
    const ssh = spawn("ssh", ["-F", this.#host.configFile, "gpu8", ask], { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    ssh.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    return new Promise((resolve) => {
      ssh.on("close", () => {
        resolve(new Set(said.split("\n").filter(Boolean).map(Number)));
      });
    });
  }
}
