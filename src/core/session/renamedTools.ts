/**
 * Programs that go by another name today, the best successor first.
 * huggingface-cli: huggingface_hub 1.0 release notes ("the `huggingface-cli` is replaced by `hf`").
 * `python` and `pip` are absent where only `python3` and `pip3` are installed (PEP 394).
 */
export const renamedTools: ReadonlyMap<string, readonly string[]> = new Map([
  ["huggingface-cli", ["hf"]],
  ["python", ["python3"]],
  ["pip", ["pip3"]],
]);
