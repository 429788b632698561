import { hostDefaults } from "../core/session/defaults";
import type { HostDefinition } from "../core/session/definition";
import type { LaunchRequest } from "../core/ports";

/** Names of the demo's session and host, as its session file has them. */
export const sessionName = "eagle3-night";
export const hostName = "gpu8";

/** Where things are on the demo host. All absolute. */
export interface DemoPlaces {
  readonly home: string;
  /** The folder of the night's data and logs, also where the stages run. */
  readonly data: string;
}

/** The places below a home folder. */
export function placesIn(home: string): DemoPlaces {
  return { home, data: `${home}/eagle3` };
}

/** The host as the session file defines it, for the launches that the demo makes before anybody reads that file. */
export const hostDefinition: HostDefinition = {
  name: hostName,
  address: { kind: "alias", alias: hostName },
  ...hostDefaults,
};

const inferenceCommand = "python 01b_generate_synthetic.py --concurrency 200 --min-completion-tokens 50";
const downloadRest = "download AQ-MedAI/Kimi-K2-Instruct-eagle3 --local-dir";

/** What was started in the evening: the inference, and the download that dies at once. */
export function eveningLaunches({ data }: DemoPlaces): { inference: LaunchRequest; download: LaunchRequest } {
  const common = { session: sessionName, member: "0", cwd: data, env: { PYTHONUNBUFFERED: "1" }, launchedFrom: "demo" };
  return {
    inference: { ...common, stage: "inference", command: inferenceCommand, log: `${data}/synth_25k/inference.log` },
    download: {
      ...common,
      stage: "download",
      command: `nohup huggingface-cli ${downloadRest} ${data}/aq-medai-k2-drafter`,
      log: `${data}/download.log`,
    },
  };
}

/** The session file of the demo. It is also an example of the format, so it explains itself. */
export function sessionFileText({ data }: DemoPlaces): string {
  return `# The demo: a night on an eight-GPU host that exists only inside this editor, played in about ten minutes.
# Everything below is what a session file of your own would say.
session: ${sessionName}

# Used as {{data}} further down. $NAME stays the shell's own.
vars:
  data: ${data}

hosts:
  ${hostName}:
    ssh: ${hostName} # an alias from your SSH configuration, or user@host:port
    # Folders that go before PATH of all that is started here. A shell over SSH does not read what your terminal
    # reads, so a virtual environment's programs are often not found: that is what happens to the download below.
    path: []

# What serves the stages. Its log is read for the queue and the KV cache.
services:
  vllm:
    log: "{{data}}/vllm.log"
    gpus: all

stages:
  download:
    kind: download # gives the stage its icon and the command "Restart Download"
    command: nohup huggingface-cli ${downloadRest} {{data}}/aq-medai-k2-drafter
    cwd: "{{data}}"
    log: "{{data}}/download.log"
    # Exit code 0 alone does not make it finished: the file must be there, and be whole.
    # (The demo's file is small, so as not to fill your disk.)
    done_when:
      files: ["{{data}}/aq-medai-k2-drafter/model.safetensors"]
      min_size: 20 MB

  inference:
    kind: inference
    command: ${inferenceCommand}
    cwd: "{{data}}"
    log: "{{data}}/synth_25k/inference.log"
    needs: [vllm]
    progress:
      total: 25000
    stalled_after: 15m
    done_when:
      files: ["{{data}}/synth_25k/summary.json"]

  extract:
    kind: extraction
    command: python 02_extract_hidden_states.py --responses synth_25k --out hidden
    cwd: "{{data}}"
    log: "{{data}}/extract.log"
    needs: [inference]
    done_when:
      files: ["{{data}}/hidden/shard-*.safetensors"]

  train:
    kind: training
    command: python 03_train_eagle3.py --hidden hidden --draft aq-medai-k2-drafter --out draft
    cwd: "{{data}}"
    log: "{{data}}/train.log"
    needs: [extract, download]
    gpus: [0]
    done_when:
      files: ["{{data}}/draft/model.safetensors"]
      min_size: 4 MB
`;
}

/** The words of the old tool since huggingface_hub 1.0, as it prints them. */
export const stubWords = [
  "\u001b[33mWarning: `huggingface-cli` is deprecated and no longer works. Use `hf` instead.",
  "\u001b[0m",
  "\u001b[90mHint: `hf` is already installed! Use it directly.",
  "\u001b[0m",
  "\u001b[90mHint: Examples:",
  "  hf auth login",
  "  hf download unsloth/gemma-4-31B-it-GGUF",
  "  hf upload my-cool-model . .",
  '  hf models ls --search "gemma"',
  "  hf repos ls --format json",
  "  hf jobs run python:3.12 python -c 'print(\"Hello!\")'",
  "  hf --help",
  "\u001b[0m",
  "",
].join("\n");

export const hfUsage =
  "Usage: hf [OPTIONS] COMMAND [ARGS]...\n\n  Hugging Face Hub CLI\n\nCommands:\n  download  Download files from the Hub.\n";

/** The scripts that `python` plays on the demo host, and what each plays. */
export const playedScripts = {
  "01b_generate_synthetic.py": "inference",
  "02_extract_hidden_states.py": "extraction",
  "03_train_eagle3.py": "training",
} as const;

export const pythonUsage =
  "usage: python [option] ... [file] [arg] ...\nThe demo host's Python plays the scripts of its session and nothing else.\n";
