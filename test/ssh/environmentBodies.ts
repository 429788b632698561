import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import type { HostOps, LaunchRequest, RunRecord, SecretValues } from "../../src/core/ports";
import type { HostDefinition } from "../../src/core/session/definition";
import { has, makeTestHost, until, type MakeTransport, type TestHost } from "./hostHarness";
import { launched, reasonOf } from "./hostRunBodies";

/** What a job gets and what its record says of it: the same under every shell. */
export function environmentBehaviour(name: string, shell: string, makeTransport: MakeTransport): void {
  describe(`the environment of a job under ${name}`, () => {
    let host: TestHost;
    let count = 0;
    before(async () => {
      host = await makeTestHost(shell, makeTransport);
    });
    after(() => {
      host.dispose();
    });
    const recordOf = async (run: string): Promise<RunRecord> => {
      const found = (await host.ops.records("night")).find((record) => record.run === run);
      assert.ok(found, `no record of ${run}`);
      return found;
    };
    /** Runs a command to its end on a host as described; its record, with all that the job got. */
    const ran = async (
      changes: Partial<HostDefinition>,
      request: Partial<LaunchRequest>,
      secrets?: SecretValues,
    ): Promise<RunRecord> => {
      const ops = await host.connect(changes);
      let record = launched(await ops.launch(host.request({ stage: `stage${count++}`, ...request }), secrets));
      await until(
        () => `the end of ${record.command}: ${readFileSync(record.log.path, "utf8")}`,
        async () => {
          record = await recordOf(record.run);
          return record.end !== undefined && (record.environment ?? record.setupFailed) !== undefined;
        },
      );
      return record;
    };
    const logOf = (record: RunRecord): string => readFileSync(record.log.path, "utf8");
    const file = (name: string, text: string, mode = 0o600): string => {
      const path = join(host.home, name);
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    };
    const program = (path: string, text: string): string => {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${text}\n`);
      chmodSync(path, 0o755);
      return path;
    };

    it("takes what the env_file gives, with nothing expanded", async () => {
      const lines = [
        "\uFEFF# tokens",
        "PLAIN=a $b `c` # a comment",
        "  export SINGLE='it is $(x) # \"all\"' # a comment",
        'DOUBLE="say \\"$HOME\\" \\\\ \\n"',
        "EMPTY=",
        "HASH=a#b",
        "",
        "QUOTES=with'quotes\" inside",
        "MANY='one",
        "  two # not a comment",
        "three'",
        "dir=mine",
        "TWICE=1",
        "TWICE=2\r",
      ];
      file("job.env", lines.join("\n"));
      const names = ["PLAIN", "SINGLE", "DOUBLE", "EMPTY", "HASH", "QUOTES", "MANY", "dir", "TWICE"];
      const ops = await host.connect({ envFile: "~/job.env" });
      assert.deepEqual(await ops.envFileNames(), { kind: "read", names });
      const command = names.map((each) => `printf '%s|' "$${each}"`).join("; ");
      const record = await ran({ envFile: "~/job.env" }, { command });
      assert.equal(
        logOf(record),
        'a $b `c`|it is $(x) # "all"|say "$HOME" \\ \\n||a#b|with\'quotes" inside|one\n  two # not a comment\nthree|mine|2|',
      );
      for (const each of names) assert.match(record.environment?.[each] ?? "", /^[0-9a-f]{16}$/, each);
    });

    it("refuses an env_file in words, and shows nothing of it", async () => {
      const refused = async (envFile: string): Promise<string> => {
        const ops = await host.connect({ envFile });
        const request = host.request({ stage: "refused", command: "touch started" });
        const reason = reasonOf(await ops.launch(request));
        assert.deepEqual(await ops.envFileNames(), { kind: "refused", reason });
        assert.doesNotMatch(reason, /hunter/);
        return reason;
      };
      assert.match(await refused("~/none.env"), /none\.env does not exist/);
      mkdirSync(join(host.home, "folder.env"), { recursive: true });
      assert.match(await refused("folder.env"), /not a regular file/);
      for (const mode of [0o644, 0o640, 0o660, 0o700, 0o604]) {
        file("open.env", "A=hunter2\n", mode);
        assert.match(await refused("~/open.env"), new RegExp(`has the mode ${mode.toString(8)}`));
      }
      for (const [line, why] of [
        ["hunter2", "line 3 is not NAME=value"],
        ["A B=hunter2", "line 3 is not NAME=value"],
        ["2A=hunter2", "line 3 is not NAME=value"],
        ["A='hunter2", "line 3 opens a quote"],
        ["A='hunter'2", "line 3 has text after its closing quote"],
        ["UID=hunter2", "line 3 sets UID"],
      ] as const) {
        file("wrong.env", `GOOD=1\n\n${line}\n`);
        assert.ok((await refused("~/wrong.env")).includes(why), line);
      }
      const foreign = file("foreign.env", "A=hunter2\n");
      if (process.getuid?.() === 0) {
        chownSync(foreign, 12345, 12345);
        assert.match(await refused("~/foreign.env"), /belongs to another user/);
      }
      file("link target", "A=1\n", 0o400);
      symlinkSync("link target", join(host.home, "link.env"));
      assert.equal(logOf(await ran({ envFile: "~/link.env" }, { command: "echo $A" })), "1\n");
      assert.ok(!readdirSync(host.work).includes("started"));
    });

    it("refuses a launch that lacks a secret, and says how to give it", async () => {
      const ops = await host.connect({ secrets: ["HF_TOKEN", "WANDB_KEY"] });
      const request = host.request({ stage: "lacking", command: "touch started" });
      assert.match(reasonOf(await ops.launch(request)), /secret HF_TOKEN has no value.*Set Secret/);
      const some = new Map([["HF_TOKEN", "x"]]);
      assert.match(reasonOf(await ops.launch(request, some)), /secret WANDB_KEY has no value/);
      file("half.env", "HF_TOKEN=x\n");
      const half = await host.connect({ secrets: ["HF_TOKEN", "WANDB_KEY"], envFile: "~/half.env" });
      assert.match(reasonOf(await half.launch(request)), /secret WANDB_KEY has no value.*env_file \(~\/half\.env\)/);
      const wrong = new Map([["not a name", "x"]]);
      assert.match(reasonOf(await host.ops.launch(request, wrong)), /cannot be the name/);
      assert.ok(!readdirSync(host.work).includes("started"));
    });

    it("lets the session file's own values win over secrets, and those over the env_file", async () => {
      file("low.env", "A=file\nB=file\nC=file\n");
      const secrets = new Map([
        ["B", "secret"],
        ["C", "secret"],
      ]);
      const definition = { secrets: ["A", "B", "C"], envFile: "~/low.env", env: { D: "host", E: "host" } };
      const record = await ran(
        definition,
        { command: "echo $A $B $C $D $E", env: { C: "plain", E: "stage" } },
        secrets,
      );
      assert.equal(logOf(record), "file secret plain host stage\n");
    });

    it("passes on any name and any value", { timeout: 600_000 }, async () => {
      const ours = ["dir", "log", "shell", "text", "code", "environment", "detach", "line", "member", "run", "setup"];
      const plain = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,30}$/).map((each) => `X${each}`);
      const names = fc.oneof(plain, fc.constantFrom(...ours), fc.constantFrom("IFS", "__proto__", "ENV_1"));
      const ugly = fc.constantFrom(
        "\n",
        "'",
        '"',
        "$(touch pwned)",
        "`x`",
        "\\",
        "-n",
        "é日",
        "%s",
        "  ",
        "\t",
        "*",
        "~",
        "!",
      );
      const value = fc.oneof(
        fc.array(ugly, { maxLength: 8 }).map((parts) => parts.join("")),
        fc
          .string({ unit: "binary", maxLength: 40 })
          .map((text) => Buffer.from(text.replaceAll("\0", ""), "utf8").toString("utf8")),
        fc.constantFrom("", "-rf /", "x".repeat(4096), "\n\n"),
      );
      const some = fc.dictionary(names, value, { maxKeys: 25 });
      for (const env of fc.sample(some, { numRuns: 6, seed: 20261202 })) {
        const secrets = new Map(Object.entries(env).filter((_, index) => index % 2 === 0));
        const rest = Object.fromEntries(Object.entries(env).filter(([each]) => !secrets.has(each)));
        const out = join(host.work, "environ");
        const command = `cat /proc/self/environ >'${out}'`;
        await ran({ secrets: [...secrets.keys()] }, { command, env: rest }, secrets);
        const got = new Map(
          readFileSync(out, "utf8")
            .split("\0")
            .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const),
        );
        for (const [each, wanted] of Object.entries(env)) {
          // Some shells hand IFS on and some do not.
          if (each !== "IFS") assert.equal(got.get(each), wanted, each);
        }
      }
      assert.ok(!readdirSync(host.work).includes("pwned"));
    });

    it("refuses names that a shell keeps for itself, and too much", async () => {
      const refused = async (env: Record<string, string>): Promise<string> =>
        reasonOf(await host.ops.launch(host.request({ stage: "names", env })));
      for (const each of ["UID", "PPID", "SHELLOPTS", "ML_SESSION_RUN"])
        assert.match(await refused({ [each]: "1" }), /cannot be set/);
      assert.match(await refused({ "A-B": "1" }), /cannot be the name/);
      assert.match(await refused({ A: "x".repeat(125_000) }), /environment is too large/);
      await assert.rejects(refused({ A: "a\0b" }), /NUL/);
    });

    it("records what the job got so that two runs can be compared", async () => {
      const stage = "compared";
      const once = async (env: Record<string, string>, token: string): Promise<RunRecord> =>
        ran({ secrets: ["TOKEN"], path: ["~/tools"] }, { stage, env }, new Map([["TOKEN", token]]));
      const first = await once({ A: "1", B: "same" }, "hunter2");
      const same = await once({ A: "1", B: "same" }, "hunter2");
      const other = await once({ A: "2", B: "same" }, "hunter3");
      assert.match(first.environmentSalt ?? "", /^[0-9a-f]{16}$/);
      assert.deepEqual(same.environment, first.environment);
      assert.equal(other.environmentSalt, first.environmentSalt);
      assert.equal(other.environment?.["B"], first.environment?.["B"]);
      assert.notEqual(other.environment?.["A"], first.environment?.["A"]);
      assert.notEqual(other.environment?.["TOKEN"], first.environment?.["TOKEN"]);
      assert.ok(first.effectivePath?.startsWith(`${host.home}/tools:`));
      assert.equal(first.environment?.["PATH"], undefined);
      assert.equal(first.environment?.["ML_SESSION_RUN"], undefined);
      const elsewhere = await ran({}, { env: { A: "1" } });
      assert.notEqual(elsewhere.environment?.["A"], first.environment?.["A"]);
    });

    it(
      "records the commit, and whether it was changed, without a write",
      { skip: !has("git") && "no git" },
      async () => {
        const repository = join(host.work, "code");
        const git = (...args: string[]): string =>
          execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-C", repository, ...args], {
            encoding: "utf8",
          }).trim();
        mkdirSync(repository);
        git("init", "-q");
        assert.equal((await ran({}, { cwd: repository })).git, undefined);
        writeFileSync(join(repository, "train.py"), "1\n");
        git("add", ".");
        git("commit", "-q", "-m", "one");
        writeFileSync(join(repository, "output.jsonl"), "not known to git\n");
        // A program that the repository names must not run.
        git("config", "core.fsmonitor", `touch '${join(host.work, "ran")}'; true`);
        const index = join(repository, ".git", "index");
        const before = statSync(index).mtimeMs;
        assert.deepEqual((await ran({}, { cwd: repository })).git, { commit: git("rev-parse", "HEAD"), dirty: false });
        writeFileSync(join(repository, "train.py"), "22\n");
        mkdirSync(join(repository, "sub"));
        const dirty = await ran({}, { cwd: join(repository, "sub") });
        assert.deepEqual(dirty.git, { commit: git("-c", "core.fsmonitor=false", "rev-parse", "HEAD"), dirty: true });
        assert.equal(statSync(index).mtimeMs, before);
        assert.ok(!readdirSync(host.work).includes("ran"));
        assert.equal((await ran({}, { cwd: host.work })).git, undefined);
      },
    );

    it("does not wait for a git that takes long", async () => {
      const tools = join(host.work, "slow git");
      program(join(tools, "git"), `case "$*" in *rev-parse*) echo ${"a1".repeat(20)};; *) exec sleep 300;; esac`);
      const record = await ran({ path: [tools] }, {});
      assert.deepEqual(record.git, { commit: "a1".repeat(20) });
      program(join(tools, "git"), "exec sleep 300");
      assert.equal((await ran({ path: [tools] }, {})).git, undefined);
    });

    it("names the program behind what runs it", async () => {
      const tools = join(host.work, "tools");
      const real = program(join(tools, "trainer"), "exit 0");
      program(join(tools, "uv"), "exit 0");
      program(join(tools, "conda"), "exit 0");
      const project = join(host.work, "project");
      const inVenv = program(join(project, ".venv", "bin", "trainer"), "exit 0");
      program(join(project, ".venv", "bin", "python"), "exit 0");
      mkdirSync(join(project, "deep"));
      const inConda = program(join(host.home, ".conda", "envs", "e 1", "bin", "trainer"), "exit 0");
      const own = program(join(project, "deep", "run me.sh"), "exit 0");
      const binary = async (command: string, cwd = host.work): Promise<string> =>
        (await ran({ path: [tools] }, { command, cwd })).binary;
      for (const before of ["", "env A=b ", "nohup ", "stdbuf -oL ", "time ", "A=1 exec nice -n 5 env -u B "])
        assert.equal(await binary(`${before}trainer -m x`), real, before);
      assert.equal(await binary("cd / && trainer x | cat"), real);
      assert.equal(await binary("uv run trainer x"), real);
      assert.equal(await binary("uv run trainer x", join(project, "deep")), inVenv);
      assert.equal(await binary("uv run x.py", project), join(project, ".venv", "bin", "python"));
      assert.equal(await binary("conda run -n 'e 1' trainer x"), inConda);
      assert.equal(await binary(`conda run -p '${join(project, ".venv")}' trainer x`), inVenv);
      assert.equal(await binary("'./run me.sh'", join(project, "deep")), own);
      assert.equal(await binary("surely-missing-program"), "");
      assert.equal(await binary("$UNKNOWN x"), "");
    });

    it("says which line of setup ended the run, however it did", async () => {
      const exits = program(join(host.home, "exits.sh"), "exit 0");
      for (const [line, code] of [
        ["false", 1],
        ["exit 7", 7],
        ["exit 0", 1],
        [`. '${exits}'`, 1],
        ["set -e; false; true", 1],
        ["if then", 2],
        ["set -u; : $SURELY_UNSET_VARIABLE", undefined],
      ] as const) {
        const record = await ran({ setup: ["true", line, "touch never"] }, { command: "touch never" });
        assert.equal(record.setupFailed, line);
        const exit = record.end?.exit;
        assert.ok(exit?.kind === "code" && exit.code !== 0, line);
        if (code !== undefined) assert.equal(exit.code, code, line);
        assert.match(logOf(record), /ml-session: the setup line (failed with exit code|ended the shell)/);
        assert.deepEqual(record.setup, ["true", line, "touch never"]);
      }
      assert.ok(!readdirSync(host.work).includes("never"));
    });

    it("keeps what setup leaves behind from the job and from its record", async () => {
      const setup = [
        "set -x",
        "set -eu; IFS=:; number=7; dir=/x; text=y; ml=z",
        "umask 077; cd /",
        "export LATE=1",
        "alias ls=false",
      ];
      const secrets = new Map([["TOKEN", "hunter2"]]);
      const record = await ran({ setup, secrets: ["TOKEN"] }, { command: "echo $LATE $PWD $0" }, secrets);
      assert.match(logOf(record), /^1 \/ (bash|sh)$/m);
      assert.doesNotMatch(logOf(record), /hunter/);
      assert.match(record.environment?.["LATE"] ?? "", /./);
    });

    it("activates a virtual environment", { skip: !has("python3") && "no python3" }, async () => {
      const venv = join(host.work, "my venv");
      try {
        execFileSync("python3", ["-m", "venv", "--without-pip", venv], { stdio: "ignore" });
      } catch {
        // Debian's python3 without python3-venv: as the module writes it.
        program(join(venv, "bin", "python"), "exit 0");
        writeFileSync(
          join(venv, "bin", "activate"),
          `VIRTUAL_ENV='${venv}'\nexport VIRTUAL_ENV\nPATH="$VIRTUAL_ENV/bin:$PATH"\nexport PATH\nhash -r\n`,
        );
      }
      for (const shellName of ["auto", "sh"] as const) {
        const record = await ran(
          { setup: [`cd '${host.work}'`, "source 'my venv/bin/activate'"], shell: shellName },
          { command: 'echo "$VIRTUAL_ENV"; python -c ""' },
        );
        assert.equal(logOf(record), `${venv}\n`);
        assert.equal(record.binary, join(venv, "bin", "python"));
      }
    });

    it("activates a conda environment without an interactive shell", async () => {
      // The shape of what `conda shell.posix hook` prints: a function that evaluates what the program prints.
      const base = join(host.home, "miniconda3");
      const env = join(base, "envs", "train");
      program(
        join(base, "bin", "conda"),
        `case "$1 $2" in
shell.posix\\ hook | shell.bash\\ hook)
  printf '%s\\n' "export CONDA_EXE='$0'" 'conda() { case $1 in activate) eval "$("$CONDA_EXE" shell.posix activate "$2")" ;; esac; }' ;;
"shell.posix activate") printf '%s\\n' "export CONDA_PREFIX='${env}' PATH='${env}/bin':\\"\\$PATH\\"" ;;
*) echo "CondaError: Run 'conda init' before 'conda activate'" >&2; exit 1 ;;
esac`,
      );
      const python = program(join(env, "bin", "python"), "exit 0");
      for (const setup of [
        ["conda activate train"],
        ["true && conda activate train"],
        ["cd /\nconda activate train"],
      ]) {
        const record = await ran({ setup }, { command: "python -m x; echo $CONDA_PREFIX" });
        assert.equal(logOf(record), `${env}\n`, setup[0]);
        assert.equal(record.binary, python);
      }
      const looking = await host.connect({ setup: ["conda activate train"] });
      const [tool] = await looking.findTools(["python"], undefined);
      assert.deepEqual([tool?.path, tool?.onPath], [python, true]);
      const named = await ran({}, { command: "conda run -n train python x" });
      assert.equal(named.binary, python);
    });

    it("loads modules where they are a function of login shells", async () => {
      const modules = join(host.home, "modules");
      mkdirSync(join(modules, "init"), { recursive: true });
      writeFileSync(join(modules, "init", "sh"), 'module() { LOADED="$LOADED[$*]"; export LOADED; }\n');
      const record = await ran(
        { setup: ["module load cuda/13.1", "module load gcc"], env: { MODULESHOME: modules } },
        { command: 'echo "$LOADED"' },
      );
      assert.equal(logOf(record), "[load cuda/13.1][load gcc]\n");
    });

    it("gives the GPUs that were asked for, and leaves slices and UUIDs alone", async () => {
      const seen = async (gpus: LaunchRequest["gpus"], before?: string): Promise<string> => {
        const command = 'echo "${CUDA_VISIBLE_DEVICES-unset} ${CUDA_DEVICE_ORDER-unset}"';
        const env = before === undefined ? {} : { CUDA_VISIBLE_DEVICES: before };
        return logOf(await ran({ env }, { command, ...(gpus === undefined ? {} : { gpus }) })).trim();
      };
      assert.equal(await seen(undefined), "unset unset");
      assert.equal(await seen(undefined, "MIG-1234"), "MIG-1234 unset");
      assert.equal(await seen([1, 3], "0"), "1,3 PCI_BUS_ID");
      assert.equal(await seen([]), "PCI_BUS_ID");
      assert.equal(await seen("all", "0,1"), "unset PCI_BUS_ID");
      assert.equal(await seen("all", "MIG-1234"), "MIG-1234 PCI_BUS_ID");
      assert.equal(await seen("all", "GPU-ab,GPU-cd"), "GPU-ab,GPU-cd PCI_BUS_ID");
    });

    it("finds nvidia-smi through the host's path", { skip: has("nvidia-smi") && "nvidia-smi is on PATH" }, async () => {
      const tools = join(host.home, "driver");
      program(join(tools, "nvidia-smi"), "echo '0, GPU-x, H200, 5, 1, 2, 30, 4, 5'; exec sleep 300");
      const first = async (ops: HostOps): Promise<unknown> => {
        const over = new AbortController();
        for await (const report of ops.gpus(1, over.signal)) {
          over.abort();
          return report.kind;
        }
        return undefined;
      };
      assert.equal(await first(host.ops), "unavailable");
      assert.equal(await first(await host.connect({ path: ["~/driver"] })), "samples");
    });

    it("fails with what fails in a pipe", async () => {
      const record = await ran({}, { command: "exit 3 | cat" });
      assert.deepEqual(record.end?.exit, { kind: "code", code: 3 });
      const plain = await ran({ shell: "sh" }, { command: "exit 3 | cat" });
      assert.deepEqual(plain.end?.exit, { kind: "code", code: 0 });
    });
  });
}
