import { group, rule, type FailureRule } from "./rule";

/** Serving engines, templates, options, compilers, weights. */
export const servingRules: readonly FailureRule[] = [
  rule({
    failure: "engine-dead",
    weight: 1,
    scope: "both",
    needles: [
      "EngineDeadError",
      "EngineCore encountered",
      "Engine core initialization failed",
      "EngineCore failed to start",
      "Received sigquit from a child process",
      "Executor failed",
      "Engine process failed",
      "Background loop",
      "engine is dead",
      "Engine loop is not running",
      "AsyncEngineDeadError",
      "Engine core proc",
      "EngineCore died",
    ],
    pattern:
      /^(?:(?:[\w.]*\.)?(?:Async)?EngineDeadError\b|(?:[\w.]*RuntimeError: )?(?:Engine core initialization failed|Executor failed\.?|Engine process failed to start|Engine loop is not running|Background loop (?:is stopped|has errored already))|EngineCore (?:encountered a fatal error|failed to start)|Received sigquit from a child process|Engine core proc \S{1,60} died unexpectedly)/,
    cause: "The serving engine is gone: this is the consequence, the cause stands above in the log.",
    remedy: "Mend the first error in the server's log, then start the server again; requests fail until then.",
  }),
  rule({
    failure: "template-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: ["chat template", "chat_template", "TemplateError", "UndefinedError"],
    pattern:
      /^(?:[\w.]*(?:Error|Exception)(?:\(\w{1,60}\))?: )?(?:.{0,200})(?:default chat template is no longer allowed|[Cc]annot use (?:chat template|apply_chat_template)|tokenizer\.chat_template is not set|does not (?:have|define) a chat template|chat template is not (?:set|defined))|^(?:jinja2\.exceptions\.)(?:TemplateError|TemplateSyntaxError|UndefinedError): (?<what>.{1,200})/,
    unless: /^(?:WARNING|INFO)|[Uu]sing (?:the )?default chat template/,
    cause: (captured) =>
      captured["what"] === undefined
        ? "The model's tokenizer has no chat template, so chat requests are refused."
        : `The chat template refuses the messages: ${captured["what"]}.`,
    remedy:
      "Give one with --chat-template FILE, serve the instruct variant of the model, or send messages in the roles and order that the template knows.",
  }),
  rule({
    failure: "config-error",
    permanent: true,
    scope: "both",
    weight: 2,
    needles: [
      "ValidationError",
      "max_model_len",
      "unrecognized arguments",
      "invalid choice",
      "the following arguments are required",
      "No such option",
      "Missing option",
      "unknown argument",
      "Unexpected argument",
      "not divisible",
      "must be divisible",
      "Unrecognized model",
      "does not recognize this architecture",
      "are not supported for now",
      "invalid value",
      "error: unexpected argument",
      "error: invalid argument",
      "error while handling argument",
      "error: invalid parameter",
      "expected one argument",
      "Missing key",
      "ConfigAttributeError",
      "ConfigKeyError",
      "HfArgumentParser",
      "No such command",
      "Got unexpected extra argument",
      "Invalid value for",
    ],
    pattern:
      /^(?:[\w.]*ValidationError: \d+ validation errors? for (?<model>\w{1,60})(?<detail>\n[^\n]{0,300}(?:\n[^\n]{0,300})?)?|[\w.]*(?:ValueError|AssertionError|RuntimeError|NotImplementedError|KeyError): (?<said>.{0,200}(?:max_model_len|(?:not|be) divisible|does not recognize this architecture|Unrecognized model|Unrecognized configuration|are not supported for now|Some keys are not used by))|[\w./ -]{1,80}: error: (?:unrecognized arguments|argument .{1,100}|the following arguments are required|ambiguous option|invalid choice).{0,200}|Error: (?:No such (?:option|command)|Missing (?:option|argument)|Invalid value for|Got unexpected extra argument).{0,200}|error while handling argument .{0,200}|error: (?:unknown argument|invalid (?:argument|value|parameter)|unexpected argument).{0,200}|(?:omegaconf|hydra)\.[\w.]{1,60}Error.{0,200}|ValueError: Some specified arguments are not used by the HfArgumentParser.{0,200})/,
    cause: (captured) => {
      const detail = captured["said"] ?? group(captured, "detail").trim().split("\n")[0] ?? "";
      return `An option or value was refused at the start${detail === "" ? "" : `: ${detail.replace(/^Value error, /, "").slice(0, 220)}`}.`;
    },
    remedy: "Correct the option that the line names (`--help` shows what this version knows) and start again.",
  }),
  rule({
    failure: "compile-error",
    permanent: true,
    scope: "both",
    weight: 3,
    needles: [
      "fatal error: ",
      "Failed to find C compiler",
      "returned non-zero exit status",
      "CUDA_HOME environment variable is not set",
      "BackendCompilerFailed",
      "InductorError",
      "Ninja is required",
      "PTXASError",
      "CompilationError",
      "nvcc fatal",
      "Error compiling objects",
      "ninja: build stopped",
      "error: command '",
    ],
    pattern:
      /^(?:[\w./+-]{1,300}:\d+:\d+: fatal error: (?<header>[\w./+-]{1,100}): No such file or directory|[\w.]*(?:RuntimeError|InductorError|BackendCompilerFailed|PTXASError|CompilationError|OSError|CalledProcessError): .{0,120}(?:Failed to find C compiler|(?:\/gcc|\/cc|\/c\+\+|\/g\+\+|nvcc|ninja)'.{0,2000}returned non-zero exit status|CUDA_HOME environment variable is not set|backend='inductor' raised|Ninja is required|Error compiling objects|[Ii]nternal Triton PTX codegen error)|(?:[\w.]*\.)?(?:InductorError|BackendCompilerFailed|CompilationError)\b|nvcc fatal {1,4}: .{1,120}|ninja: build stopped: .{1,80}|error: command '\S{0,100}(?:gcc|g\+\+|cc|c\+\+|nvcc|ninja)\S{0,20}' failed)/,
    cause: (captured) =>
      captured["header"] === "Python.h"
        ? "A small C program must be compiled at the start and the Python headers are not installed."
        : captured["header"] === undefined
          ? "The compiler failed (Triton, Inductor, gcc or nvcc); its reason stands in the lines above."
          : `The compiler did not find ${captured["header"]}.`,
    remedy:
      "Install a C compiler and the Python headers (gcc, python3.X-dev) and a CUDA toolkit that fits torch, or use the prebuilt wheel.",
  }),
  rule({
    failure: "weights-mismatch",
    severity: "warning",
    needles: ["| MISSING", "newly initialized", "were not initialized from the model checkpoint"],
    pattern:
      /^(?:[\w.*{}, ]{3,200} {1,80}\| MISSING {1,10}\||Some weights of (?<model>\w{1,80}) were not initialized from the model checkpoint.{0,300})/,
    cause:
      "Some weights were not in the checkpoint and were filled with random numbers, so the output will be nonsense until they are trained.",
    remedy:
      "Check that the class and the key names fit the checkpoint (a prefix such as base_model. is often too much), unless a new head is meant to be trained.",
  }),
  rule({
    failure: "weights-mismatch",
    permanent: true,
    scope: "exception",
    weight: 2,
    needles: ["Error(s) in loading state_dict", "size mismatch for"],
    pattern: /Error\(s\) in loading state_dict for (?<model>\w{1,80})|size mismatch for (?<key>[\w.]{1,120})/,
    cause: "The checkpoint does not fit the model: keys are missing or shapes differ.",
    remedy: "Use the configuration that the checkpoint was made with.",
  }),
  rule({
    failure: "empty-output",
    severity: "warning",
    needles: ["are empty", "were empty", "rote 0 ", "enerated 0 ", "s written"],
    pattern:
      /^(?:\w{1,30}: )?(?:(?<empty>\d+) of (?<all>[1-9]\d*) (?:responses|completions|outputs|samples|answers|generations|records) (?:are|were) empty|[Ww]rote 0 (?:records|samples|rows|lines|examples)\b|0 (?:records|samples|rows|lines|examples) written\b|[Gg]enerated 0 (?:records|samples|rows|tokens)\b)/,
    cause: (captured) =>
      captured["empty"] === undefined
        ? "The tool wrote no output at all."
        : `${captured["empty"]} of ${group(captured, "all")} results are empty.`,
    remedy:
      "Look at a raw answer: mostly the token limit ends inside the reasoning, or the post-processing cuts everything away.",
  }),
  rule({
    failure: "partial-output",
    severity: "warning",
    needles: ["Skipping save", "shards failed", "were skipped", "could not be"],
    pattern:
      /^(?:(?:WARNING|Warning|ERROR|Error): )?(?:NaN found in [\w ]{1,60} for (?<path>\S{1,300}?)\. Skipping save|[1-9]\d*(?: of | ?\/ ?)\d+ (?:shards|samples|files|records) (?:failed|were skipped|could not be))/,
    cause: "Some samples or shards were silently left out of the output.",
    remedy:
      "Count the outputs before the next stage uses them, and run the missing ones again (with bf16 instead of fp16 when values were NaN).",
  }),
];

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
  rule({
    failure: "nan-loss",
    needles: [
      "oss is nan",
      "oss is NaN",
      "oss is inf",
      "inimum loss scale",
      "Unexpected result nan",
      "probability tensor contains",
      "Current loss scale already at minimum",
      "found NaN",
      "NaN in loss",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): )?(?:Loss is (?:nan|NaN|inf),? (?:stopping|exiting|aborting).{0,100}|(?:.{0,120})Current loss scale already at minimum.{0,120}|(?:.{0,80})[Mm]inimum loss scale reached.{0,120}|Rank \d+(?:: found NaN in |,.{1,100}: Unexpected result nan).{1,120}|probability tensor contains either .{1,80}|(?:[Tt]raining )?[Ll]oss (?:is|became) (?:nan|NaN)\b.{0,120})/,
    scope: "both",
    weight: 3,
    cause: "The loss or a gradient is not a number any more: the training has diverged.",
    remedy:
      "Go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  }),
];
