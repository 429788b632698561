import { missingProgramCause, missingProgramRemedy, programSubject } from "./programs";
import { group, rule, type FailureRule } from "./rule";

/** Who speaks in front of a shell's message: `bash:`, `-bash:`, `sh: 1:`, `./run.sh: line 14:`, `zsh:1:`, a Slurm script. */
const shell = String.raw`(?:-?(?:[\w.~/-]{0,200}/)?(?:ba|da|a|k|mk|z|fi|tc|c)?sh|[^\s:'"]{1,200}(?:\.(?:sh|bash|zsh|ksh|slurm|sbatch)|(?=: (?:line )?\d+:|:\d+:)))(?: \(deleted\))?:(?: ?(?:line )?\d+:)? ?`;
const quote = `["'‘’\x60“”]?`;
const program = String.raw`(?<program>[^\s:'"‘’\x60]{1,200})`;
const launcher = String.raw`(?:[\w./-]{0,80}/)?(?:nohup|env|timeout|setsid|nice|ionice|stdbuf|chrt|taskset|numactl|xargs|time|sudo|doas|exec|chroot|watch|strace|unshare|flock|runuser|su|script)`;

const notFound = (pattern: string, needles: readonly string[], unless?: RegExp): FailureRule =>
  rule({
    failure: "command-not-found",
    permanent: true,
    needles,
    pattern: new RegExp(`^${pattern}\\s*$`, "u"),
    ...(unless === undefined ? {} : { unless }),
    cause: missingProgramCause,
    remedy: missingProgramRemedy,
    subject: programSubject,
  });

/** The shell, and the programs that start programs, could not start one. */
export const shellRules: readonly FailureRule[] = [
  // bash, ksh: `./fetch.sh: line 14: hf: command not found`; sudo: `sudo: hf: command not found`
  notFound(`(?:${shell}(?:exec: )?|(?:sudo|doas|exec|env): )${program}: command not found`, [": command not found"]),
  // dash: `sh: 1: hf: not found`; busybox: `sh: hf: not found`; `exec: hf: not found`
  notFound(
    String.raw`(?:${shell})?(?:exec: )?(?!line |Error|error|warning)${program}: not found`,
    [": not found"],
    /^(?:[\w./-]+\.so[.\d]*|E|W): /,
  ),
  // zsh: `zsh: command not found: hf`, `run.zsh:14: command not found: hf`
  notFound(`${shell}command not found: ${program}`, ["command not found: "]),
  // fish: `fish: Unknown command: hf`
  notFound(String.raw`fish: Unknown command:? ${quote}${program}${quote}\.?`, ["fish: Unknown command"]),
  // tcsh: `hf: Command not found.`; make: `make: hf: Command not found`
  notFound(String.raw`(?:make(?:\[\d+\])?: )?${program}: Command not found\.?`, [": Command not found"]),
  // apptainer, uv: `FATAL:   "vllm": executable file not found in $PATH`, "error: Failed to spawn: `vllm`"
  notFound(String.raw`FATAL: {1,8}"(?<program>[^"]{1,200})": executable file not found in \$PATH`, [
    "not found in $PATH",
  ]),
  notFound(String.raw`error: Failed to spawn: \x60(?<program>[^\x60]{1,200})\x60`, ["Failed to spawn"]),
  // Debian's handler: `Command 'hf' not found, did you mean:`
  notFound(String.raw`Command '${program}' not found(?:, .{0,200})?`, ["Command '"]),
  notFound(String.raw`make(?:\[\d+\])?: (?<program>[\w.+/-]{1,100}): No such file or directory`, [
    ": No such file or directory",
  ]),
  // coreutils and util-linux: `nohup: failed to run command 'hf': No such file or directory`, curly quotes, too
  notFound(
    String.raw`${launcher}: (?:failed to (?:run command|execute|exec)|can(?:no|')t (?:run(?: command)?|execute|exec)|unable to execute)? ?${quote}${program}${quote}: No such file or directory`,
    [": No such file or directory"],
  ),
  // Windows line ends: /usr/bin/env: ‘python3\r’: No such file or directory
  notFound(String.raw`${launcher}: ${quote}(?<program>[\w./-]{1,80}(?:\\r|\r))${quote}: No such file or directory`, [
    ": No such file or directory",
  ]),
  // bash with a path to a program, older and newer words for a missing interpreter
  notFound(
    String.raw`${shell}(?:exec: )?(?<program>(?!\S{0,300}\/activate:)(?:[^\s:'"]{0,200}/)?(?:s?bin|\.venv|venv)/[^\s:'"]{1,100}): (?:No such file or directory|cannot execute: required file not found)`,
    [": No such file or directory", "required file not found"],
  ),
  notFound(
    String.raw`${shell}[^\s:]{1,200}: (?<program>/[^\s:]{1,200}?(?:\^M)?): bad interpreter: No such file or directory`,
    ["bad interpreter"],
  ),
  notFound(String.raw`${shell}(?<program>[^\s:]{1,200}): cannot execute: required file not found`, [
    "required file not found",
  ]),
  // Slurm, Go, docker exec
  notFound(
    String.raw`(?:slurmstepd(?:-[\w.-]{1,60})?: )?(?:srun: )?error: (?:_fork_exec: )?execve\(\): ${program}: No such file or directory`,
    ["execve(): "],
  ),
  notFound(
    String.raw`(?:.{0,400}: )?exec: "(?<program>[^"]{1,200})": (?:executable file not found in \$PATH|stat [^:]{1,200}: no such file or directory)(?:: unknown)?\.?`,
    ['exec: "'],
  ),
  notFound(
    String.raw`(?:.{0,200}: )?executable file ${quote}(?<program>[^\s'"\x60]{1,200})${quote} not found in \$PATH.{0,200}`,
    ["not found in $PATH"],
  ),

  rule({
    failure: "permission",
    permanent: true,
    needles: [": Permission denied"],
    pattern: new RegExp(
      String.raw`^(?:${launcher}: (?:(?:failed to (?:run command|execute)|can(?:no|')t (?:run command|execute)) )?${quote}${program}${quote}|(?:mkdir|cp|mv|touch|tee|ln|tar|rsync|install): .{0,60}?['‘](?<path>[^'’]{1,300})['’]|tee: (?<written>[^\s:]{1,300})|(?:-?(?:/\S{0,80}/)?(?:ba|da|a|k|z)?sh|[^\s:]{1,200}\.(?:sh|bash|slurm|sbatch)): ?(?:line )?(?:\d+:)? ?(?<script>[^\s:]{1,200})|(?:slurmstepd(?:-[\w.-]{1,60})?: )?error: execve\(\): (?<step>[^\s:]{1,200})): Permission denied\s*$`,
      "u",
    ),
    cause: (captured) =>
      written(captured) === ""
        ? `${named(captured)} may not be executed (or a file it writes may not be opened): permission denied, exit code 126.`
        : `The job may not write here: ${written(captured)}: permission denied.`,
    remedy: (captured) =>
      written(captured) !== ""
        ? "Look at the owner with `ls -ld` (of the folder above it, too); use a folder of your own, or ask for access."
        : `Make it executable (\`chmod +x ${named(captured)}\`) or start it through its interpreter (\`bash …\`, \`python …\`); look at the owner with \`ls -l\`.`,
    subject: (captured) => ({ program: named(captured) }),
  }),
  rule({
    failure: "config-error",
    permanent: true,
    needles: ["cannot execute binary file", "Exec format error"],
    pattern: new RegExp(
      String.raw`^(?:${shell}|${launcher}: .{0,40})${quote}(?<program>[^\s:'"‘’]{1,200})${quote}: (?:cannot execute binary file(?:: Exec format error)?|cannot execute: .{0,80}|Exec format error)\s*$`,
      "u",
    ),
    cause: (captured) =>
      `${group(captured, "program")} is not a program for this machine: it was built for another processor, or it is cut off.`,
    remedy:
      "Install the build for this machine's architecture (`uname -m`), or give a script without `#!` line to its interpreter.",
    subject: programSubject,
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: ["No such file or directory", "no such file or directory", "an't open", "annot open"],
    pattern: new RegExp(
      String.raw`^(?:${shell}(?:cd: |source: |\.: )?(?<file>(?!(?:\S{0,200}/)?activate:)[^\s:'"]{1,300}): No such file or directory|(?:ba|da|a)?sh: \d+: (?:cannot open|can't open|Can't open) (?<input>[^\s:]{1,300})(?:: No such file)?|(?:cd|zsh): no such file or directory: (?<folder>[^\s]{1,300})|(?:cp|mv): cannot stat ['‘](?<copied>[^'’]{1,300})['’]: No such file or directory|sbatch: error: Unable to open file (?<batch>\S{1,300}))\s*$`,
      "u",
    ),
    unless:
      /^(?:ls|cat|tail|head|rm|rmdir|stat|du|find|grep|wc|pkill|kill|test|touch|readlink|realpath|pgrep|fuser|lsof|chmod|chown|warning|INFO|DEBUG)\b/,
    cause: (captured) =>
      `The file or folder ${namedFile(captured)} does not exist, seen from the folder the job was started in.`,
    remedy: "Check the path and the job's working folder (`cwd`); a relative path counts from there.",
    subject: (captured) => ({ path: namedFile(captured) }),
  }),
  // rsync, tar, llama.cpp, wget, curl, aws
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: [
      "link_stat ",
      ": Cannot open: No such",
      "failed to open ",
      "ERROR 404: ",
      "returned error: 404",
      "An error occurred (404)",
    ],
    pattern:
      /^(?:rsync: (?:\[\w+\] )?link_stat "(?<file>[^"]{1,300})" failed: No such file or directory|tar: (?<input>\S{1,300}): Cannot open: No such file or directory|(?:\w{1,60}: |error: )?failed to open (?:GGUF file )?'(?<copied>[^']{1,300})'(?:(?:: | \()No such file or directory|\s*$)|(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )?ERROR 404: |curl: \(22\) .{0,100}returned error: 404|fatal error: An error occurred \(404\))/,
    cause: (captured) =>
      namedFile(captured) === ""
        ? "The server has no file of this name (404)."
        : `The file ${namedFile(captured)} does not exist.`,
    remedy: "Check the path or address, and the job's working folder (`cwd`).",
    subject: (captured) => ({ path: namedFile(captured) }),
  }),
  // dash names the script twice: `./run.sh: 12: ./run.sh: hf: not found`
  notFound(String.raw`[\w.~/ +-]{1,200}: \d+: [\w.~/ +-]{1,200}: ${program}: not found`, [": not found"]),
  notFound(String.raw`Failed to find executable ${program}: No such file or directory`, [
    ": No such file or directory",
  ]),
  notFound(String.raw`(?:git|docker): '${program}' is not a (?:git|docker) command\..{0,100}`, [
    "is not a git command",
    "is not a docker command",
  ]),
  rule({
    failure: "command-not-found",
    permanent: true,
    needles: ["unable to find the specified executable"],
    pattern: /^(?:mpirun|mpiexec|prterun) was unable to find the specified executable file/,
    cause: "mpirun did not find the program on (one of) the hosts.",
    remedy: "Give the program by its full path, the same on all hosts, or pass the PATH on (`mpirun -x PATH`).",
  }),
  rule({
    failure: "permission",
    permanent: true,
    needles: [
      "ermission denied: ",
      "is not executable by this user",
      ": Permission denied",
      "dubious ownership",
      "Insufficient Permissions",
    ],
    pattern:
      /^(?:zsh: permission denied: (?<script>\S{1,300})|fish: The file '(?<program>[^']{1,300})' is not executable by this user|(?:\w{1,10}: \d+: )cannot create (?<path>\S{1,300}): Permission denied|(?!ls|du|find|rm|cat)[\w.+/-]{1,300}\.[\w-]{1,20}: Permission denied|tar: (?<step>[^:]{1,300}): Cannot (?:open|mkdir): Permission denied|rsync: (?:\[\w+\] )?\w[\w ]{1,40} "[^"]{1,300}" ?(?:failed|\(in \w+\))?: Permission denied \(13\)|fatal: (?:could not create|unable to create|cannot (?:create|mkdir)) .{1,300}: Permission denied|fatal: detected dubious ownership in repository at .{1,200}|(?:ERROR: )?Could not install packages due to an (?:OSError|EnvironmentError): \[Errno 13\].{0,300}|Failed to initialize NVML: Insufficient Permissions)\s*$/,
    cause: (captured) =>
      named(captured) === "the program"
        ? "The job's user may not read, write or use what the line names: permission denied."
        : `${named(captured)} may not be executed or written: permission denied.`,
    remedy:
      "Look at the owner with `ls -l`; make a script executable (`chmod +x`), use a folder of your own, or ask for access.",
    subject: (captured) => ({ program: named(captured) }),
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: [
      ": No such file or directory",
      "No URLs matched",
      "matched no objects or files",
      "errorCode=3 ",
      "change_dir ",
      "cannot find or open",
    ],
    pattern:
      /^(?:scp: (?<file>[^:]{1,300}): No such file or directory|CommandException: No URLs matched.{0,200}|ERROR: \(gcloud[\w.]{1,60}\) The following URLs matched no objects or files|rsync: (?:\[\w+\] )?change_dir "(?<folder>[^"]{1,300})" failed: No such file or directory|unzip: {1,2}cannot find or open (?<input>\S{1,300}?),?(?: .{0,200})?$)/,
    cause: (captured) =>
      namedFile(captured) === ""
        ? "There is no file of this name."
        : `The file or folder ${namedFile(captured)} does not exist.`,
    remedy: "Check the path or address, and the job's working folder (`cwd`).",
    subject: (captured) => ({ path: namedFile(captured) }),
  }),
  rule({
    failure: "command-not-found",
    subject: (captured) => ({ program: captured["a"] ?? captured["b"] ?? "" }),
    permanent: true,
    needles: ["execvp error on file ", "pyenv: "],
    pattern:
      /^(?:\[proxy:\S{1,60}\] )?(?:HYDU_create_process .{0,80}execvp error on file (?<a>\S{1,120}) \(No such file|pyenv: (?<b>[\w.+-]{1,60}): command not found)/,
    cause: (captured) =>
      `The program ${captured["a"] ?? captured["b"] ?? ""} does not exist in the environment that the job got.`,
    remedy: "Install it there, or give its absolute path; of an environment, activate it in `setup`.",
  }),
  rule({
    failure: "file-not-found",
    permanent: true,
    needles: [
      ": no matches found: ",
      "error: Unable to open file ",
      "error: Could not open file ",
      ": can't read ",
      "Failed to copy: directory not found",
    ],
    pattern:
      /^(?:[\w./-]{1,80}:\d{1,5}: no matches found: (?<a>.{1,200})|zsh: no matches found: (?<b>.{1,200})|sbatch: error: Unable to open file (?<c>.{1,200})|jq: error: Could not open file (?<d>.{1,200}?): No such file.{0,20}|sed: can't read (?<e>.{1,200}?): No such file.{0,20}|(?:ERROR : .{0,200}|NOTICE: )?Failed to copy: directory not found)$/,
    cause: (captured) =>
      `The file or folder ${captured["a"] ?? captured["b"] ?? captured["c"] ?? captured["d"] ?? captured["e"] ?? "to copy"} does not exist.`,
    remedy:
      "Correct the path, or run what writes it first; relative paths count from the folder the job was started in.",
  }),
  rule({
    failure: "permission",
    permanent: true,
    needles: ["slurmstepd: error: Could not open stdout file", "effective uid is not 0"],
    pattern:
      /^(?:slurmstepd: error: Could not open std(?:out|err) file .{1,300}: Permission denied|sudo: effective uid is not 0)/,
    cause: "The job may not do this here: its log cannot be written, or sudo does not work on this file system.",
    remedy:
      "Write to a folder of your own, or ask who runs the machine; sudo does not work in containers and on file systems without setuid.",
  }),
];

function named(captured: Readonly<Record<string, string | undefined>>): string {
  return captured["program"] ?? captured["script"] ?? captured["step"] ?? (written(captured) || "the program");
}

/** What could not be written, or `""`. */
function written(captured: Readonly<Record<string, string | undefined>>): string {
  return captured["path"] ?? captured["written"] ?? "";
}

function namedFile(captured: Readonly<Record<string, string | undefined>>): string {
  return captured["file"] ?? captured["input"] ?? captured["folder"] ?? captured["copied"] ?? captured["batch"] ?? "";
}
