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
    needles: ["Killed", "killed", "signal 9"],
    pattern:
      /^(?:zsh: killed {1,9}\S.{0,300}|Command terminated by signal 9|srun: error: \S{1,100}: tasks? [\d,-]{1,60}: Killed|[\w@.-]{1,100}\.service: A process of this unit has been killed by the OOM killer\.?|[^\s:]{1,200}: line \d+: {1,8}(?<pid>\d+) Killed(?: {2,}(?:\(core dumped\) )?(?<command>.{0,300}))?|(?:\[\d+\][+-]? {1,3})?Killed {2,40}(?<job>\S.{0,300}))\s*$/,
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
    needles: ["Segmentation fault", "Segfault encountered", "segmentation fault", "SIGSEGV", "Process received signal"],
    pattern:
      /^(?:srun: error: \S{1,100}: tasks? [\d,-]{1,60}: (?:Segmentation fault|Bus error)|[^\s:]{1,200}: line \d+: {1,8}\d+ Segmentation fault|Segmentation fault(?: \(core dumped\))?\s*$|Fatal Python error: Segmentation fault|\[?zsh:? ?\d*\]? .{0,40}segmentation fault|!{3,} Segfault encountered !{3,}|\*{3} SIGSEGV|(?:\[[^\]]{1,80}\] )?\*{3} Process received signal \*{3})/,
    cause:
      "The program crashed in native code (segmentation fault); its output is incomplete even if a script goes on.",
    remedy:
      "Run it with `python -X faulthandler` to see where; mostly a native package does not fit its libraries: reinstall the one that is named.",
  }),
  rule({
    failure: "segfault",
    needles: ["Bus error", "Illegal instruction", "Floating point exception", "Aborted"],
    pattern:
      /^(?:[^\s:]{1,200}: line \d+: {1,8}\d+ )(?<what>Bus error|Illegal instruction|Floating point exception|Aborted)\b/,
    cause: (captured) => `The program crashed in native code (${group(captured, "what").toLowerCase()}).`,
    remedy:
      "Look at the lines above for the native library's own message; a bus error is often a full /dev/shm, an illegal instruction a build for another processor.",
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
    ],
    pattern:
      /(?:^|: )(?:error: )?(?:Detected (?<count>[1-9]\d*) oom[-_]kill events?(?:\(s\))? in |(?:Memory cgroup out of memory|Out of memory): Kill(?:ed)? process )|^(?:Task was killed due to the node running low on memory|ray\.exceptions\.OutOfMemoryError: |[1-9]\d* Workers \(tasks \/ actors\) killed due to memory pressure)/,
    cause: "The host's memory limit was reached and the kernel killed the process.",
    remedy: "Ask for more memory (--mem), or use fewer workers and smaller pieces.",
  }),
];
