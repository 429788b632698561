import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { commandHazards, commandPort } from "../../src/core/session/commandHazards";

const kinds = (command: string, shell: "bash" | "sh" = "bash"): string[] =>
  commandHazards(command, shell).map(({ kind }) => kind);

describe("what a command line would hide", () => {
  test("work that is left to others or to the background", () => {
    for (const command of [
      "docker run -d image",
      "docker run --gpus all --detach image python x.py",
      "docker run --rm -itd image",
      "sudo docker compose -f x.yml up -d",
      "podman run --name x -d image",
      "sbatch job.sh",
      "cd /x && sbatch --gres=gpu:1 job.sh",
      "tmux new -d -s train 'python train.py'",
      "tmux new-session -ds train python train.py",
      "screen -dmS train python train.py",
      "screen -d -m python train.py",
      "nohup python x.py &",
      "nohup python x.py > log 2>&1 &",
      "python x.py & disown",
      "python x.py & echo $! > pid",
      "python x.py &\nPID=$!\necho started",
      "(python x.py) &",
      "{ python x.py; } &",
      "for i in 1 2; do python x.py & done",
      "X=1 nohup env Y=2 sbatch job.sh",
      "qsub job.sh",
    ])
      assert.deepEqual(kinds(command), ["detaches"], command);
  });

  test("a death that looks like success", () => {
    for (const command of [
      "python x.py || true",
      "python x.py || :",
      "python x.py; true",
      "python x.py; echo done",
      "python x.py\necho done",
      "python x.py; exit 0",
      "cd /x && python x.py || echo failed",
      "(python x.py) || true",
    ])
      assert.deepEqual(kinds(command), ["hides"], command);
    for (const command of ["python x.py | tee log", "python x.py 2>&1 | tee -a log", "python x.py |& tee log"]) {
      assert.deepEqual(kinds(command, "sh"), ["hides"], command);
      assert.deepEqual(kinds(command, "bash"), [], command);
    }
    assert.deepEqual(kinds("set -o pipefail; python x.py | tee log", "sh"), []);
  });

  test("nothing where nothing is hidden, or it is not sure", () => {
    for (const command of [
      "python x.py",
      "python x.py && echo done",
      "docker run --rm image python x.py -d",
      "docker run -it image",
      "docker run -d --name v image; docker wait v",
      "docker build -d x",
      "sbatch --wait job.sh",
      "tmux ls",
      "python a.py & python b.py & wait",
      "server & python client.py",
      "python x.py 2>&1",
      "python x.py &> log",
      "python x.py || exit 1",
      "python x.py || { echo no; exit 1; }",
      "python x.py; rc=$?; echo $rc; exit $rc",
      "python x.py; exit $?",
      "set -e; python x.py; echo done",
      "test -f x || true; python x.py",
      "echo 'a & b'",
      "python x.py '&'",
      "cat <<E | python -\nx &\nE",
      "echo hello",
      "",
    ])
      assert.deepEqual(kinds(command, "bash"), [], command);
  });

  test("reads any text without failing, and a quoted word never changes what it says", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "a",
        "&",
        "|",
        "||",
        ";",
        "true",
        "docker",
        "run",
        "-d",
        "(",
        ")",
        "'",
        '"',
        "$(",
        "\n",
        ">",
        "tee",
      ),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        commandHazards(pieces.join(" "), "sh");
        commandPort(pieces.join(" "));
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (text) => {
        assert.deepEqual(kinds(`python x.py '${text.replaceAll("'", "")}'`, "sh"), []);
      }),
    );
  });
});

test("the port that a command names", () => {
  const cases: [string, number | undefined][] = [
    ["vllm serve m --port 8000", 8000],
    ["vllm serve m --port=8001 --x", 8001],
    ["cd x; python -m sglang.launch_server --port '30000' | tee l", 30000],
    ["x --port $PORT", undefined],
    ["x --port", undefined],
    ["x --port 99999", undefined],
    ["x --report 80", undefined],
  ];
  for (const [command, port] of cases) assert.equal(commandPort(command), port, command);
});
