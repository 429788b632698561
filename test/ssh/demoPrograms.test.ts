import assert from "node:assert/strict";
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { checkpointBytes } from "../../src/demo/night";
import { scoreText, type Score } from "../../src/demo/score";
import { hostEnvironment, whyNoRealHost, writeDemoHome } from "../../src/demo/ssh/demoHome";
import { hfUsage, placesIn, stubWords, type DemoPlaces } from "../../src/demo/story";

const linux = { skip: process.platform !== "linux" };
const shells = [["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(([name = ""]) =>
  ["/bin", "/usr/bin"].some((folder) => existsSync(join(folder, name))),
);

interface Host {
  readonly places: DemoPlaces;
  readonly env: Record<string, string>;
  readonly run: (shell: readonly string[], script: string, ...args: readonly string[]) => SpawnSyncReturns<string>;
}

async function demoHost(t: TestContext, speed = 100): Promise<Host> {
  const home = await mkdtemp(join(tmpdir(), "demo-home-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const places = placesIn(home);
  await writeDemoHome(places, speed);
  const env = hostEnvironment(places);
  return {
    places,
    env,
    run: ([program = "sh", ...before], script, ...args) =>
      spawnSync(program, [...before, join(home, script), ...args], { cwd: places.data, env, encoding: "utf8" }),
  };
}

for (const shell of shells) {
  const name = shell.join(" ");

  test(`${name}: a score is played to the byte, and in its time`, linux, async (t) => {
    const { places, run } = await demoHost(t);
    const awkward = '100%|██▌  | it\'s \\n "$HOME" `x`\tend\r\n\u001b[0m';
    const score: Score = [
      { at: 0, kind: "out", text: "  first\n" },
      { at: 200, kind: "out", text: awkward },
      { at: 200, kind: "append", path: "deep/er/file.json", text: "{}\n" },
      { at: 210, kind: "grow", path: "zeros", bytes: 70_000 },
      { at: 220, kind: "append", path: "deep/er/file.json", text: "[]\n" },
    ];
    await writeFile(join(places.home, "test.score"), scoreText(score));
    const began = process.hrtime.bigint();
    const played = run(shell, ".demo/play.sh", join(places.home, "test.score"), places.data);
    assert.equal(process.hrtime.bigint() - began >= 200_000_000n, true);
    assert.deepEqual([played.status, played.stderr, played.stdout], [0, "", `  first\n${awkward}`]);
    assert.equal(await readFile(join(places.data, "deep/er/file.json"), "utf8"), "{}\n[]\n");
    assert.equal((await stat(join(places.data, "zeros"))).size, 70_000);
  });

  test(`${name}: the tools of the story`, linux, async (t) => {
    const { places, run } = await demoHost(t);
    const old = run(shell, "ml-env/bin/huggingface-cli", "download", "x");
    assert.deepEqual([old.status, old.stdout], [1, stubWords]);
    assert.equal(run(shell, "ml-env/bin/huggingface-cli", "--help").status, 1);
    const help = run(shell, "ml-env/bin/hf", "--help");
    assert.deepEqual([help.status, help.stdout], [0, hfUsage]);
    assert.equal(run(shell, "ml-env/bin/hf", "download", "x").status, 2);
    assert.equal(run(shell, "ml-env/bin/hf").status, 2);
    const target = join(places.data, "a folder");
    const loaded = run(shell, "ml-env/bin/hf", "download", "AQ-MedAI/x", "--local-dir", "a folder");
    assert.deepEqual([loaded.status, loaded.stderr], [0, ""]);
    assert.match(loaded.stdout, /\rmodel\.safetensors: 100%\|█{10}\| 25\.2M\/25\.2M \[00:00<00:00, [\d.]+MB\/s\]\n/);
    assert.equal(loaded.stdout.endsWith(`\n${target}\n`), true);
    assert.equal((await stat(join(target, "model.safetensors"))).size, checkpointBytes);
    assert.equal(run(shell, "bin/python", "other.py").status, 2);
    const trained = run(shell, "bin/python", join(places.data, "03_train_eagle3.py"), "--out", "draft");
    assert.equal(trained.status, 0);
    assert.match(trained.stdout, /\{'loss': '1\.\d+', .*'epoch': '2\.00'\}\n$/);
  });

  test(`${name}: nvidia-smi answers queries as the real one does`, linux, async (t) => {
    const { run } = await demoHost(t);
    const smi = (...args: string[]): SpawnSyncReturns<string> => run(shell, "bin/nvidia-smi", ...args);
    const csv = "--format=csv,noheader,nounits";
    const fields =
      "timestamp,index,uuid,name,pci.bus_id,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit";
    const rows = smi(`--query-gpu=${fields}`, csv).stdout.trimEnd().split("\n");
    assert.equal(rows.length, 8);
    for (const [index, row] of rows.entries())
      assert.match(
        row,
        new RegExp(
          `^\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}, ${index}, GPU-[0-9a-f-]{36}, NVIDIA H200 \\(simulated\\), 00000000:0${index + 1}:00\\.0, 0, 134\\d{3}, 143771, 4[2-5], 1[12]\\d\\.\\d\\d, 700\\.00$`,
        ),
      );
    assert.match(smi("--query-gpu=power.draw,index", csv).stdout, /^\d+\.\d\d, 0\n/);
    assert.match(
      smi("--query-gpu=index,memory.total,power.draw", "--format=csv").stdout,
      /^index, memory.total \[MiB\], power.draw \[W\]\n0, 143771 MiB, \d+\.\d\d W\n/,
    );
    assert.match(smi("--query-gpu=fan.speed,mig.mode.current", csv).stdout, /^\[N\/A\], Disabled\n/);
    const bogus = smi("--query-gpu=index,bogus.field", csv);
    assert.deepEqual([bogus.status, bogus.stdout], [2, 'Field "bogus.field" is not a valid field to query.\n\n']);
    assert.match(smi("-L").stdout, /^GPU 0: NVIDIA H200 \(simulated\) \(UUID: GPU-/);
  });

  test(`${name}: nvidia-smi goes on sampling until the demo ends`, linux, async (t) => {
    const { places, env } = await demoHost(t);
    const [program = "sh", ...before] = shell;
    const marked = join(places.home, ".demo/busy");
    spawnSync("mkdir", ["-p", marked]);
    await writeFile(join(marked, String(process.pid)), "");
    const args = [
      ...before,
      join(places.home, "bin/nvidia-smi"),
      "--query-gpu=index,utilization.gpu",
      "--format=csv,noheader,nounits",
      "-lms",
      "50",
    ];
    const smi = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    smi.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    while (out.split("\n").length < 8 * 3) await once(smi.stdout, "data");
    await rm(join(places.home, ".demo/alive"));
    const [code] = (await once(smi, "close")) as [number];
    assert.equal(code, 0);
    assert.match(out, /^(?:[0-7], 9[4-9]\n)+$/);
  });

  test(`${name}: what is played ends by itself when the demo or its owner is gone`, linux, async (t) => {
    const { places, env } = await demoHost(t, 1);
    const [program = "sh", ...before] = shell;
    const play = async (): Promise<() => Promise<number | null>> => {
      const child = spawn(program, [...before, join(places.home, "bin/python"), "01b_generate_synthetic.py"], {
        cwd: places.data,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      child.stdout.resume();
      return async () => ((await once(child, "close")) as [number | null])[0];
    };
    const first = await play();
    await rm(join(places.home, ".demo/alive"));
    assert.equal(await first(), 143);
    await writeFile(join(places.home, ".demo/alive"), "");
    const owner = spawn("sleep", ["300"], { stdio: "ignore" });
    await writeFile(join(places.home, ".demo/settings"), `owner=${owner.pid ?? 0}\n`);
    const second = await play();
    owner.kill("SIGKILL");
    assert.equal(await second(), 143);
  });
}

test("where a real host cannot be played, the reason is given", () => {
  assert.match(whyNoRealHost("darwin", "/tmp/x") ?? "", /darwin/);
  assert.match(whyNoRealHost("linux", "/tmp/with blank") ?? "", /characters/);
});
