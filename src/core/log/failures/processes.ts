import { group, rule, type FailureRule } from "./rule";

const killedCause =
  "The process was killed from outside (signal 9), most often by the kernel because the host ran out of main memory.";
const killedRemedy =
  "Look into `dmesg` or the cgroup's memory events; use fewer workers or smaller pieces, or ask for more memory (--mem). scancel and docker kill look the same.";

/** Shells and supervisors report how a process ended. */
export const processRules: readonly FailureRule[] = [
  // bash: `./run.sh: line 28:  8156 Killed                  python3 main.py`; `Killed` alone
  rule({
    failure: "killed-oom",
    needles: ["Killed", "killed", "signal 9", "signal SIGKILL", "was sent SIGKILL"],
    pattern:
      /^(?:zsh: killed {1,9}\S.{0,300}|Command terminated by signal 9|srun: error: \S{1,100}: tasks? [\d,-]{1,60}: Killed|fish: .{0,200}terminated by signal SIGKILL.{0,40}|(?:mpirun|mpiexec|prterun) noticed that process rank .{1,120} exited on signal 9 .{0,20}|systemd-oomd\S{0,20}: Killed .{1,300}|Killed \S{1,300} due to memory pressure for .{1,400}|(?:cc|c\+\+|g\+\+|gcc|nvcc)[\w-]{0,20}: (?:fatal )?error: Killed signal terminated program .{1,40}|Worker \(pid:\d+\) was sent SIGKILL! .{0,60}|[\w@.-]{1,100}\.service: A process of this unit has been killed by the OOM killer\.?|[^\s:]{1,200}: line \d+: {1,8}(?<pid>\d+) Killed(?: {2,}(?:\(core dumped\) )?(?<command>.{0,300}))?|(?:\[\d+\][+-]? {1,3})?Killed {2,40}(?<job>\S.{0,300}))\s*$/,
    cause: killedCause,
    remedy: killedRemedy,
  }),
  // by itself: after an error the program, or what watched it, put an end to itself
  rule({
    failure: "killed-oom",
    weight: 0,
    needles: ["Killed"],
    pattern: /^(?:\[\d+\][+-]? {1,3})?Killed\s*$/,
    cause: killedCause,
    remedy: killedRemedy,
  }),
  rule({
    failure: "segfault",
    needles: [
      ...["Segmentation fault", "Segfault encountered", "segmentation fault", "SIGSEGV", "Process received signal"],
      ...["]: segfault at ", "exited on signal 11"],
    ],
    pattern:
      /^(?:srun: error: \S{1,100}: tasks? [\d,-]{1,60}: Segmentation fault|[\w.:/-]{1,60}\[\d+\]: segfault at |(?:mpirun|mpiexec|prterun) noticed that process rank .{1,120} exited on signal 11|fish: .{0,200}terminated by signal SIGSEGV|[^\s:]{1,200}: line \d+: {1,8}\d+ Segmentation fault|Segmentation fault(?: \(core dumped\))?\s*$|Fatal Python error: Segmentation fault|\[?zsh:? ?\d*\]? .{0,40}segmentation fault|!{3,} Segfault encountered !{3,}|\*{3} SIGSEGV|(?:\[[^\]]{1,80}\] )?\*{3} Process received signal \*{3})/,
    cause:
      "The program crashed in native code (segmentation fault); its output is incomplete even if a script goes on.",
    remedy:
      "Run it with `python -X faulthandler` to see where; mostly a native package does not fit its libraries: reinstall the one that is named.",
  }),
  rule({
    failure: "native-crash",
    weight: 0,
    needles: ["Illegal instruction", "Floating point exception", "Aborted"],
    pattern:
      /^(?:[^\s:]{1,200}: line \d+: {1,8}\d+ (?<what>Illegal instruction|Floating point exception|Aborted)\b|(?<alone>Illegal instruction|Floating point exception|Aborted) \(core dumped\)\s*$)/,
    cause: (captured) =>
      `The program crashed in native code (${(captured["what"] ?? group(captured, "alone")).toLowerCase()}).`,
    remedy:
      "Look at the lines above for the native library's own message; an illegal instruction is often a build for another processor.",
  }),
  // kernel and Slurm confirm that memory was the reason
  rule({
    failure: "killed-oom",
    weight: 3,
    scope: "both",
    needles: [
      "node running low on memory",
      "killed due to memory pressure",
      "oom-kill event",
      "oom_kill event",
      "Out of memory: Killed process",
      "Memory cgroup out of memory",
      "oom-kill:constraint=",
    ],
    pattern:
      /(?:^|: )(?:error: )?(?:Detected (?<count>[1-9]\d*) oom[-_]kill events?(?:\(s\))? in |(?:Memory cgroup out of memory|Out of memory): Kill(?:ed)? process )|^oom-kill:constraint=|^(?:Task was killed due to the node running low on memory|ray\.exceptions\.OutOfMemoryError: |[1-9]\d* Workers \(tasks \/ actors\) killed due to memory pressure)/,
    cause: "The host's memory limit was reached and the kernel killed the process.",
    remedy: "Ask for more memory (--mem), or use fewer workers and smaller pieces.",
  }),
  rule({
    failure: "killed-oom",
    weight: 3,
    scope: "both",
    needles: ["std::bad_alloc", "DefaultCPUAllocator"],
    pattern:
      /^(?:what\(\): {1,2}std::bad_alloc|[\w.]*Error: .{0,120}DefaultCPUAllocator: (?:can't allocate|not enough) memory)/,
    cause: "The machine's main memory ran out: the program could not get the memory it asked for.",
    remedy: "Use fewer workers or smaller pieces, or ask for more memory (--mem); `free -g` shows what else uses it.",
  }),
  // programs in Rust, Go and JavaScript
  rule({
    failure: "native-crash",
    weight: 1,
    needles: [" panicked at ", "panic: runtime error", "FATAL ERROR: Reached heap limit"],
    pattern:
      /^(?:thread '[^']{1,80}'(?: \(\d+\))? panicked at (?<where>.{1,160})|panic: runtime error: (?<what>.{1,160})|FATAL ERROR: Reached heap limit)/,
    cause: (captured) =>
      `The program broke off: ${captured["what"] ?? captured["where"] ?? "it reached its own memory limit"}.`,
    remedy: "Read the lines below for its reason; mostly an input, an option or a version that it did not foresee.",
  }),
  // what a supervisor or script says about an exit code, when nothing else was said
  rule({
    failure: "killed-oom",
    weight: 0,
    needles: ["code 137", "code: 137", "code=137", "status 137", "returned 137", "rc=137"],
    pattern:
      /\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _](?:code|status)|return(?:ed|[ _]code)|status|rc)(?: ?[:=] ?| )137\b/,
    unless: /[Pp]revious|last run|resum|restart/,
    cause: killedCause,
    remedy: killedRemedy,
  }),
  rule({
    failure: "segfault",
    weight: 0,
    needles: ["code 139", "code: 139", "code=139", "status 139", "returned 139", "rc=139"],
    pattern:
      /\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _](?:code|status)|return(?:ed|[ _]code)|status|rc)(?: ?[:=] ?| )139\b/,
    unless: /[Pp]revious|last run|resum|restart/,
    cause:
      "The program crashed in native code (segmentation fault, exit code 139); its output is incomplete even if a script goes on.",
    remedy:
      "Run it with `python -X faulthandler` to see where; mostly a native package does not fit its libraries: reinstall the one that is named.",
  }),
  rule({
    failure: "stalled",
    severity: "warning",
    needles: [" blocked for more than "],
    pattern: /^INFO: task (?<task>\S{1,60}) blocked for more than \d+ seconds/,
    cause: (captured) =>
      `The kernel says that the process ${group(captured, "task")} has waited for a disk or network file system for minutes.`,
    remedy: "Look at `dmesg` and at the mounts (NFS, Lustre): the server behind them hangs, or the disk is failing.",
    subject: () => ({ sign: "blocked" }),
  }),
  // launchers, when the program itself said nothing
  rule({
    failure: "worker-died",
    weight: 0,
    lastWord: true,
    needles: [": Exited with exit code ", "exits with return code = "],
    pattern:
      /^(?:srun: error: \S{1,100}: tasks? [\d,-]{1,60}: Exited with exit code (?<task>[1-9]\d*)|.{0,400}exits with return code = (?<code>(?!0\b|-(?:2|7|9|11|15)\b)-?\d+))/,
    cause: (captured) =>
      `A process of the job ended with exit code ${captured["task"] ?? group(captured, "code")}, and said nothing of why here.`,
    remedy:
      "Look at the log of that process (torchrun: --log-dir, --tee 3; srun: --output with %t), and at the lines above.",
    subject: () => ({}),
  }),
  rule({
    failure: "killed-oom",
    scope: "both",
    weight: 3,
    needles: [
      "java.lang.OutOfMemoryError",
      "JavaScript heap out of memory",
      "Job has gone over cgroup memory limit",
      "KilledWorker: ",
      "memory allocation of ",
    ],
    pattern:
      /^(?:(?:.{0,100}[: ])?java\.lang\.OutOfMemoryError: |(?:FATAL ERROR: )?.{0,80}JavaScript heap out of memory|(?:.{0,80} )?Job has gone over cgroup memory limit|[\w.]*KilledWorker: |memory allocation of \d{1,20} bytes failed)/,
    cause: "The program needed more main memory than it had.",
    remedy: "Give it more (heap size, --mem, request_memory), or let it work on smaller pieces and with fewer workers.",
  }),
  rule({
    failure: "native-crash",
    needles: [
      "GGML_ASSERT(",
      "double free or corruption",
      "free(): invalid ",
      "malloc(): ",
      "corrupted size vs. prev_size",
      "Check failure stack trace: ",
    ],
    pattern:
      /^(?:.{0,160}GGML_ASSERT\(.{1,300}\) failed|(?:double free or corruption|free\(\): invalid (?:pointer|size|next size)|malloc\(\): .{1,60}|corrupted size vs\. prev_size)\b.{0,40}$|\*\*\* Check failure stack trace: \*\*\*)/,
    // What the shell says of its end says it for all of them.
    held: { takenBack: /\b(?:Aborted|core dumped|SIGABRT|[Ss]ignal 6)\b/, confirmed: /(?!)/ },
    cause: "The program broke off inside native code.",
    remedy: "Look at the lines above for what was checked; another version of the library that is named mostly helps.",
  }),
  rule({
    failure: "worker-died",
    needles: ["WORKER TIMEOUT (pid:"],
    pattern: /^WORKER TIMEOUT \(pid:\d{1,9}\)/,
    cause: "The web server ended one of its workers because a request took longer than its --timeout.",
    remedy: "Raise --timeout of gunicorn, or let long work be done elsewhere.",
  }),
];
