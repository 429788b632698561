import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mainProgram } from "../../src/core/session/mainProgram";

/** `WORD`, or `WORD by uv`, `by conda E`, `in FOLDER`. */
function said(command: string): string | undefined {
  const program = mainProgram(command);
  if (!program) return undefined;
  const { word, through } = program;
  switch (through.kind) {
    case "path":
      return word;
    case "uv":
      return `${word} by uv`;
    case "conda":
      return `${word} by ${through.tool} ${through.environment}`;
    case "prefix":
      return `${word} in ${through.folder}`;
  }
}

const cases: readonly (readonly [string, string | undefined])[] = [
  ["python train.py", "python"],
  ["A=1 B='x y' python train.py", "python"],
  ["~/ml-env/bin/python x.py", "~/ml-env/bin/python"],
  ["'/opt/my tools/run' x", "/opt/my tools/run"],
  ["python -m vllm.entrypoints.openai.api_server --port 8000", "python"],
  ["env A=b hf download x", "hf"],
  ["env -u HTTP_PROXY -C /data A=b hf download x", "hf"],
  ["nohup hf download x > a.log 2>&1 &", "hf"],
  ["stdbuf -oL python x.py", "python"],
  ["stdbuf -o L -e 0 python x.py", "python"],
  ["time python x.py", "python"],
  ["time -p nice -n 10 timeout -k 5 2h torchrun x.py", "torchrun"],
  ["exec env X=1 nohup nice python x", "python"],
  ["cd /data && export A=1; set -e; mkdir -p out && python x.py | tee log", "python"],
  ["if true; then python x.py; fi", "python"],
  ["while ! curl -sf localhost; do sleep 1; done; python x.py", "curl"],
  ["uv run train.py --x", "python by uv"],
  ["uv run python -m x", "python by uv"],
  ["uv run --with rich -p 3.12 --extra gpu -- accelerate launch x.py", "accelerate by uv"],
  ["uv --project /data/x run --no-sync vllm serve m", "vllm by uv"],
  ["uv run -m pytest", "python by uv"],
  ["uv run env A=b hf x", "hf by uv"],
  ["uv sync", "uv"],
  ["uv pip install x", "uv"],
  ["conda run -n train python x.py", "python by conda train"],
  ["conda run --no-capture-output --name=train --cwd /d python x.py", "python by conda train"],
  ["mamba run --live-stream -n e hf x", "hf by mamba e"],
  ["conda run -p /envs/x python y", "python in /envs/x"],
  ["conda run python y", "python by conda base"],
  ["CUDA_VISIBLE_DEVICES=0 nohup uv run hf download x &", "hf by uv"],
  ['"$PYTHON" x.py', undefined],
  ["$(which python) x.py", undefined],
  ["./run.sh -x", "./run.sh"],
  ["exit 3", undefined],
  ["", undefined],
  ["case $x in a) python y;; esac", undefined],
  ["> log python x", "python"],
  ["(python x.py)", "python"],
];

for (const [command, expected] of cases) {
  test(`what a command is about: ${command}`, () => {
    assert.equal(said(command), expected);
  });
}

test("any text is read to an end", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc
          .array(fc.constantFrom("uv", "run", "conda", "-n", "--", "env", "A=b", "|", "'", "python", "-", ">"))
          .map((words) => words.join(" ")),
      ),
      (command) => {
        const program = mainProgram(command);
        assert.notEqual(program?.word, "");
      },
    ),
  );
});
