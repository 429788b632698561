import { group, type Captured } from "./rule";

/** Programs whose absence has a better explanation than "not on PATH". */
const advice: Readonly<Record<string, { readonly cause: string; readonly remedy: string }>> = {
  "huggingface-cli": {
    cause:
      "The program huggingface-cli is not on the PATH of this job. Besides, the tool is called hf in current versions of huggingface_hub; huggingface-cli is only its old name.",
    remedy:
      "Use `hf` instead of `huggingface-cli` and give its full path (for example /root/ml-env/bin/hf), or add the environment's bin folder to `path` of the host. If it is not installed: pip install -U huggingface_hub.",
  },
  hf: {
    cause: "The program hf is not on the PATH of this job. A shell without login has another PATH than your terminal.",
    remedy:
      "Call it by its full path (for example /root/ml-env/bin/hf) or add the environment's bin folder to `path` of the host. If it is not installed: pip install -U huggingface_hub.",
  },
  conda: {
    cause:
      "conda is not on the PATH of this job: a shell without login does not read the set-up that `conda init` wrote.",
    remedy:
      "Source the hook first: `source ~/miniconda3/etc/profile.d/conda.sh`, or call the environment's programs by full path.",
  },
  module: {
    cause: "The command `module` is a shell function that only login shells define; this job's shell is not one.",
    remedy:
      "Source the site's modules script first (often /etc/profile.d/modules.sh or lmod.sh), or run the job by `bash -l`.",
  },
  "nvidia-smi": {
    cause:
      "nvidia-smi is not on the PATH: the NVIDIA driver is not installed here, or the container was started without GPUs.",
    remedy:
      "Check the driver on the host; in a container use `--gpus all` with the NVIDIA container toolkit installed.",
  },
};

/** The name of a program as people know it: without folder and quotes. */
function programName(captured: Captured): string {
  return group(captured, "program")
    .replace(/^.*\//, "")
    .replace(/(?:\\r|\r)$/, "");
}

/** Why a program could not be found. */
export function missingProgramCause(captured: Captured): string {
  const program = group(captured, "program");
  const name = programName(captured);
  if (/\\r$|\r$/.test(program)) {
    return `The script was saved with Windows line ends, so the system looked for a program called "${name}" followed by a carriage return.`;
  }
  if (program.includes("/") && name !== "huggingface-cli") return `There is no program ${program} on this machine.`;
  return (
    advice[name]?.cause ??
    `The program ${name} is not on the PATH of this job. A shell without login has another PATH than your terminal.`
  );
}

/** What to do about a missing program. */
export function missingProgramRemedy(captured: Captured): string {
  const program = group(captured, "program");
  const name = programName(captured);
  if (/\\r$|\r$/.test(program))
    return "Convert the script with `dos2unix` (or `sed -i 's/\\r$//' SCRIPT`) and start it again.";
  if (program.includes("/") && name !== "huggingface-cli") {
    return "Check the path; if it belongs to an environment that was moved or rebuilt, make the environment again or use its new path.";
  }
  return (
    advice[name]?.remedy ??
    `Call ${name} by its full path, add its folder to \`path\` of the host, or activate its environment in the launch command. Install it if it is not there.`
  );
}

/** `{ program }`, what the cure works on. */
export function programSubject(captured: Captured): Readonly<Record<string, string>> {
  const program = group(captured, "program").replace(/(?:\\r|\r)$/, "");
  return {
    program: program.includes("/") && programName(captured) === "huggingface-cli" ? "huggingface-cli" : program,
  };
}
