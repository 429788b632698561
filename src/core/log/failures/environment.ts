import { group, rule, type FailureRule } from "./rule";

/** Environments, containers, services, packages. */
export const environmentRules: readonly FailureRule[] = [
  rule({
    failure: "env-setup",
    permanent: true,
    needles: [
      "CommandNotFoundError: Your shell",
      "CondaError: Run ",
      "EnvironmentLocationNotFound",
      "is running as a subprocess and can't modify",
      "Could not find conda environment",
      "libmamba Cannot activate",
      "sudoers file",
      "you must have a tty",
      "a terminal is required",
      "no tty present",
      "a password is required",
      "Lmod has detected",
      "Unable to locate a modulefile",
      "EnvironmentNameNotFound",
      "activate: No such",
    ],
    pattern:
      /^(?:(?:[^\s:]{1,200}: )(?:line )?(?:\d+: )?(?:source: |\.: )?(?:\S{0,200}\/)?activate: No such file or directory|CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'|CondaError: Run 'conda init' before 'conda activate'|EnvironmentNameNotFound: .{1,120}|EnvironmentLocationNotFound: .{1,120}|(?:Could not find conda environment: |critical libmamba Cannot activate).{1,200}|\S{1,40} is not in the sudoers file\..{0,80}|sudo: (?:a terminal is required|no tty present|a password is required|sorry, you must have a tty).{0,160}|Lmod has detected the following error:.{0,200}|(?:ModuleCmd_Load\.c\(\d+\):)?ERROR:? ?(?:\d+:)?Unable to locate a modulefile.{0,120}|'?(?:micromamba|mamba)'? is running as a subprocess and can't modify the parent shell.{0,80})/,
    cause: (captured) =>
      group(captured, "x") +
      "Setting up the job's environment failed (conda, module, or sudo in a shell without terminal), so what follows ran without it.",
    remedy:
      "conda: source its hook first (`source ~/miniconda3/etc/profile.d/conda.sh`) or use `conda run -n ENV`; sudo: remove it from the job or allow the one command with NOPASSWD.",
  }),
  rule({
    failure: "container-error",
    permanent: true,
    needles: [
      "Error response from daemon",
      "annot connect to the Docker daemon",
      "permission denied while trying to connect",
      "OCI runtime",
      "nvidia-container-cli: ",
      "crun: ",
      "runc: ",
      "runc create",
      "CDI devices",
      "FATAL: ",
    ],
    pattern:
      /^(?:docker: )?(?:Error response from daemon: (?<what>(?!pull access denied|unauthorized|toomanyrequests|denied:).{1,200})|docker: .{0,60}(?:[Cc]annot connect to the Docker daemon|permission denied while trying to connect).{0,100}|Error: .{0,60}(?:OCI runtime|crun: |runc: |runc create|CDI devices).{0,200}|nvidia-container-cli: .{1,160}|[Cc]annot connect to the Docker daemon.{0,100}|FATAL: {1,4}(?:.{0,60}container|Unable to handle \w{1,20}:\/\/|could not open image|while performing build|Unable to (?:pull|build)).{1,160})/,
    unless:
      /river\/library version mismatch|address already in use|port is already allocated|No such container|Conflict\. The container name|[Nn]o space left/,
    cause: (captured) =>
      `The container could not be started${captured["what"] === undefined ? "" : `: ${captured["what"]}`}.`,
    remedy:
      "For GPUs install nvidia-container-toolkit on the host and restart the daemon (podman: `nvidia-ctk cdi generate`); else correct what the line names.",
  }),
  rule({
    failure: "service-failed",
    permanent: true,
    needles: [".service: ", "Failed to start ", "Job for "],
    pattern:
      /^(?<unit>[\w@.-]{1,100}\.service): (?:Main process exited, code=(?:exited, status=(?!0\/)(?<status>\d+\/\w+|[1-9]\d*\S*)|killed, status=(?!15\/|2\/|1\/)(?<signal>\d+\/\w+)|dumped, .{1,40})|Failed to locate executable (?<program>\S{1,200}): .{1,80}|Failed at step \w+ spawning \S{1,200}: .{1,80}|Start request repeated too quickly)|^(?:Failed to start|Job for) (?<name>[\w@.-]{1,100}\.service)(?! canceled)/,
    unless: /status=(?:130|143)/,
    cause: (captured) => {
      if (captured["program"] !== undefined)
        return `systemd cannot start ${group(captured, "unit")}: the program ${captured["program"]} does not exist.`;
      const status = captured["status"] ?? captured["signal"];
      return `The service ${captured["unit"] ?? group(captured, "name")} cannot run${status === undefined ? "" : ` (${status})`}.`;
    },
    remedy:
      "Read `journalctl -u UNIT`; 203/EXEC means that the program in ExecStart does not exist or may not be executed.",
    subject: (captured) => ({ unit: captured["unit"] ?? group(captured, "name") }),
  }),
  rule({
    failure: "dependency-conflict",
    severity: "warning",
    permanent: true,
    needles: ["which is incompatible", "is not installed."],
    pattern:
      /^(?<package>[\w.-]{1,80}) [\w.+!-]{1,40} (?:requires|depends on) (?<wanted>.{1,120}), (?:but you have (?<found>[\w.-]{1,80} \S{1,40}) which is incompatible|which is not installed)\.?\s*$/,
    cause: (captured) =>
      `${group(captured, "package")} needs ${group(captured, "wanted")}, but ${captured["found"] ?? "it"} is installed${captured["found"] === undefined ? " nowhere" : ""}; it may fail when it starts.`,
    remedy:
      "Install versions that fit each other (pip install both in one command), or use one environment for each tool.",
    subject: (captured) => ({ package: group(captured, "package") }),
  }),
  rule({
    failure: "dependency-conflict",
    permanent: true,
    needles: [
      "ResolutionImpossible",
      "No solution found when resolving",
      "conflicting dependencies",
      "LibMambaUnsatisfiableError",
      "Could not find a version that satisfies",
      "UnsatisfiableError",
      "No matching distribution found",
    ],
    pattern:
      /^(?:\s{0,4}[×x] No solution found when resolving.{0,100}|ERROR: (?:ResolutionImpossible|Cannot install .{1,200} conflicting dependencies|Could not find a version that satisfies the requirement .{1,200}|No matching distribution found for .{1,120})|LibMambaUnsatisfiableError.{0,100}|UnsatisfiableError.{0,100}|error: .{0,40}No solution found.{0,100})/,
    cause: "The package manager found no set of versions that fit each other (or none for this Python).",
    remedy:
      "Loosen or change the versions that the message names, or use another Python version or a fresh environment.",
  }),
];
