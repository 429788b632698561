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
      "critical libmamba ",
      "Could not find conda environment",
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
      /^(?:(?:[^\s:]{1,200}: )(?:line )?(?:\d+: )?(?:source: |\.: )?(?:\S{0,200}\/)?activate: No such file or directory|CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'|CondaError: Run 'conda init' before 'conda activate'|EnvironmentNameNotFound: .{1,120}|EnvironmentLocationNotFound: .{1,120}|(?:Could not find conda environment: |critical libmamba (?:Cannot activate|Shell not initialized)).{0,200}|\S{1,40} is not in the sudoers file\..{0,80}|sudo: (?:a terminal is required|no tty present|a password is required|sorry, you must have a tty).{0,160}|Lmod has detected the following error:.{0,200}|(?:ModuleCmd_Load\.c\(\d+\):)?ERROR:? ?(?:\d+: ?)?Unable to locate a modulefile.{0,120}|'?(?:micromamba|mamba)'? is running as a subprocess and can't modify the parent shell.{0,80})/,
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
      "FATAL:  ",
      "slurmstepd: error: pyxis: ",
    ],
    pattern:
      /^(?:docker: )?(?:Error response from daemon: (?<what>(?!pull access denied|unauthorized|toomanyrequests|denied:).{1,200})|docker: .{0,60}[Cc]annot connect to the Docker daemon.{0,100}|Error: .{0,60}(?:OCI runtime|crun: |runc: |runc create|CDI devices).{0,200}|nvidia-container-cli: .{1,160}|[Cc]annot connect to the Docker daemon.{0,100}|FATAL: {2,8}\S.{1,200}|slurmstepd(?:-[\w.-]{1,60})?: error: pyxis: (?!\s).{1,160})/,
    unless:
      /river\/library version mismatch|address already in use|port is already allocated|No such container|[Nn]o space left|unauthorized: |daemon: (?:Get|Head|Post|Put) "https?:/,
    cause: (captured) =>
      `The container could not be started${captured["what"] === undefined ? "" : `: ${captured["what"]}`}.`,
    remedy:
      "For GPUs install nvidia-container-toolkit on the host and restart the daemon (podman: `nvidia-ctk cdi generate`); else correct what the line names.",
  }),
  rule({
    failure: "permission",
    permanent: true,
    needles: ["permission denied while trying to connect to the "],
    pattern:
      /^(?:docker: |ERROR: |Error: )?(?:Got )?permission denied while trying to connect to the (?<what>Docker|docker)/,
    cause: "The job's user may not use Docker: its socket belongs to another group.",
    remedy:
      "Have the user put into the group docker (`sudo usermod -aG docker $USER`, then log in anew), or use rootless Docker, podman or apptainer.",
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
  rule({
    failure: "env-setup",
    permanent: true,
    needles: [
      "cannot open ",
      "an't open ",
      "unbound variable",
      "parameter not set",
      "externally-managed-environment",
      "No virtual environment found",
      "Could not get lock /var/lib/",
      "Unable to locate package",
      "ensurepip is not",
      "pyenv: version",
      "EnvironmentNotWritableError",
      "is not allowed to execute",
      "no such file or directory: ",
      "no new privileges",
      "No `pyproject.toml` found",
      "CommandNotFoundError: ",
      "sourcing file ",
    ],
    pattern:
      /^(?:[^\s:]{1,200}: \d+: \.: (?:cannot|[Cc]an't) open (?:\S{0,200}\/)?activate\b.{0,40}|(?:[^\s:]{1,200}: )(?:line \d+: |\d+: )?\w{1,60}: (?:unbound variable|parameter not set)|[^\s:]{1,200}:(?:source:|\.:)?\d+: no such file or directory: \S{0,200}\/activate|source: Error encountered while sourcing file .{0,200}activate.{0,20}|error: externally-managed-environment|error: No virtual environment found|error: No `pyproject\.toml` found|E: (?:Could not get lock \/var\/lib\/|Unable to locate package ).{1,120}|The virtual environment was not created successfully because ensurepip is not|pyenv: version .{1,60} is not installed|EnvironmentNotWritableError: .{0,120}|Sorry, user \S{1,60} is not allowed to execute .{1,120}|sudo: .{0,10}The "no new privileges" flag is set.{0,100}|CommandNotFoundError: No command 'conda (?:de)?activate')\.?\s*/,
    cause: "Setting up the job's environment failed, so what follows ran without it (or not at all).",
    remedy:
      "Mend the line of the set-up that is named: source the environment by its full path, define the variable, use a virtual environment (`python -m venv`, `uv venv`) instead of the system's Python, or wait for the other installer.",
  }),
  rule({
    failure: "container-error",
    permanent: true,
    needles: [
      "ErrImagePull",
      "ImagePullBackOff",
      "CreateContainer",
      "RunContainerError",
      "Error: short-name ",
      "Error: initializing source",
      "Error: stat nvidia.com/",
    ],
    pattern:
      /^(?:Warning {1,8}\w{1,20} .{0,80})?(?:Error: )?(?:(?:ErrImagePull|ImagePullBackOff|CreateContainer(?:Config)?Error|RunContainerError)\b|short-name .{1,200}did not resolve|initializing source .{1,200}|stat nvidia\.com\/gpu.{1,80})/,
    cause: "The container could not be started, or its image could not be fetched.",
    remedy: "Look at the name of the image, at the login for its registry, and at the container's own log.",
  }),
  rule({
    failure: "container-error",
    weight: 0,
    needles: ["Back-off restarting failed container"],
    pattern: /^(?:Warning {1,8}\w{1,20} .{0,80})?Back-off restarting failed container/,
    cause: "The container ends again and again; it is started anew after ever longer pauses.",
    remedy:
      "Read the log of the container that ended (`kubectl logs --previous POD`) and its last state (`kubectl describe pod POD`).",
  }),
  rule({
    failure: "service-failed",
    permanent: true,
    needles: [
      ".service: Failed with result",
      ".service: start operation timed out",
      ".service: Failed to ",
      "Failed to connect to bus",
      "entered FATAL state",
      "Failed to start transient service",
    ],
    pattern:
      /^(?:(?<unit>[\w@.-]{1,100}\.service): (?:Failed with result '(?!oom-kill|success)[\w-]{1,30}'|start operation timed out|Failed to (?:load environment files|determine user credentials|set up .{1,60}))|Failed to connect to bus: .{1,80}|Failed to start transient service unit: .{1,160}|gave up: (?<name>\S{1,80}) entered FATAL state)/,
    cause: (captured) => `The service ${captured["unit"] ?? captured["name"] ?? ""} cannot run.`.replace("  ", " "),
    remedy:
      "Read `journalctl -u UNIT`. `Failed to connect to bus`: without a login there is no user manager (`loginctl enable-linger`, or set XDG_RUNTIME_DIR).",
    subject: (captured) => ({ unit: captured["unit"] ?? group(captured, "name") }),
  }),
  rule({
    failure: "dependency-conflict",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      "requires a different Python",
      "PackagesNotFoundError",
      "ResolvePackageNotFound",
      "VersionConflict",
      "version solving failed",
      "held broken packages",
      "have unmet dependencies",
      "is required for a normal functioning of this module",
      "because it doesn't have a source distribution",
      "error: No interpreter found for Python",
    ],
    pattern:
      /^(?:ERROR: Package '?\S{1,80}'? requires a different Python|PackagesNotFoundError: .{0,100}|ResolvePackageNotFound:.{0,100}|(?:[\w.]*\.)?(?:Contextual)?VersionConflict: .{1,200}|.{0,300}version solving failed|E: Unable to correct problems, you have held broken packages|The following packages have unmet dependencies|ImportError: (?<wanted>\S{1,80}) is required for a normal functioning of this module.{0,100}|error: No interpreter found for Python .{1,80}|error: Distribution .{1,200} can't be installed because it doesn't have a source distribution)/,
    cause: (captured) =>
      captured["wanted"] === undefined
        ? "The package manager found no set of versions that fit each other (or none for this Python)."
        : `The installed packages do not fit each other: ${captured["wanted"]} is needed.`,
    remedy:
      "Install the versions that the message names in one command, or use another Python version or a fresh environment.",
  }),
  rule({
    failure: "env-setup",
    severity: "warning",
    permanent: true,
    needles: ["couldn't chdir to "],
    pattern: /^slurmstepd(?:-[\w.-]{1,60})?: error: couldn't chdir to [`'](?<folder>[^'`]{1,300})'/,
    cause: (captured) => `The job's folder ${group(captured, "folder")} does not exist on this node; it runs in /tmp.`,
    remedy: "Give --chdir a folder that all nodes see.",
    subject: (captured) => ({ path: group(captured, "folder") }),
  }),
  rule({
    failure: "env-setup",
    permanent: true,
    needles: ["could not find a pyproject.toml", "init_fs_encoding: failed", "JAVA_HOME is not set"],
    pattern:
      /^(?:Poetry could not find a pyproject\.toml file|Fatal Python error: init_fs_encoding: failed|(?:Error: |ERROR: )?JAVA_HOME is not set)/,
    cause: "The environment is not set up: the program does not find its own files.",
    remedy:
      "Start in the folder of the project; unset PYTHONHOME and PYTHONPATH, make the environment anew, or set JAVA_HOME in `setup`.",
  }),
  rule({
    failure: "import-error",
    permanent: true,
    needles: ["Can't locate ", "Error: Cannot find module "],
    pattern: /^(?:Can't locate (?<a>\S{1,120}) in @INC|Error: Cannot find module '(?<b>[^']{1,200})')/,
    cause: (captured) =>
      `The module ${captured["a"] ?? captured["b"] ?? ""} is not installed where the program looks for it.`,
    remedy: "Install it for the interpreter that runs the job, or correct the path.",
  }),
  rule({
    failure: "container-error",
    permanent: true,
    needles: [": exec format error", "failed to solve: process ", "no matching manifest for "],
    pattern:
      /^(?:exec \S{1,200}: exec format error|ERROR: failed to solve: process .{0,300}did not complete successfully|(?:docker: |Error response from daemon: )?no matching manifest for \S{1,60})/,
    cause: "The image was not built, or is for another kind of processor.",
    remedy:
      "Read the step that failed above; build the image for this machine (--platform linux/amd64 or linux/arm64).",
  }),
  rule({
    failure: "dependency-conflict",
    scope: "both",
    weight: 3,
    permanent: true,
    needles: [
      "Could not solve for environment specs",
      "compiled with different CUDA major versions",
      "Descriptors cannot be created directly",
    ],
    pattern:
      /^(?:(?:error {1,8}libmamba )?Could not solve for environment specs|RuntimeError: Detected that PyTorch and \w{1,30} were compiled with different CUDA major versions|TypeError: Descriptors cannot be created directly)/,
    cause: "Packages that are installed or asked for do not go together.",
    remedy:
      "Install versions that go together, in an environment of their own (of PyTorch and torchvision those of one CUDA version; of protobuf below 4, where the message says so).",
  }),
];
