import { group, rule, type FailureRule } from "./rule";

/** Several processes, several hosts: NCCL, torchrun, Ray, data loaders, batch systems. */
export const distributedRules: readonly FailureRule[] = [
  rule({
    failure: "nccl-timeout",
    weight: 3,
    scope: "both",
    needles: ["Watchdog caught collective operation timeout", "Collective operation timeout"],
    pattern:
      /(?:^|\] |Error: |what\(\): {1,2})(?:\[Rank (?<rank>\d+)\] )?(?:Watchdog caught collective operation timeout|Some NCCL operations have failed or timed out)(?:: WorkNCCL\(.{0,60}?OpType=(?<operation>\w+))?/,
    cause: (captured) =>
      `One process waited in vain for the others in a collective operation${captured["operation"] === undefined ? "" : ` (${captured["operation"].toLowerCase()})`}: another rank is stuck, slower, or dead.`,
    remedy: "Look at the rank that did NOT report: its log shows the cause. Raising the time-out rarely helps.",
  }),
  rule({
    failure: "rendezvous-timeout",
    weight: 3,
    scope: "both",
    needles: [
      "clients joined",
      "RendezvousTimeoutError",
      "RendezvousConnectionError",
      "waiting for clients",
      "client socket has timed out",
      "Wait timeout",
      "wait timeout",
    ],
    pattern:
      /Timed out after \d+ seconds waiting for clients|RendezvousTimeoutError|RendezvousConnectionError|client socket has timed out after|(?:DistStoreError|DistNetworkError|TimeoutError): .{0,200}(?:clients joined|waiting for clients)|[Ww]ait timeout after \d+ms/,
    cause: "The processes of the job never all met: at least one did not join the group.",
    remedy:
      "Check that all nodes were started with the same MASTER_ADDR and port, that the port is open between them, and what the missing one says.",
  }),
  rule({
    failure: "port-in-use",
    scope: "both",
    weight: 3,
    needles: ["ddress already in use", "EADDRINUSE", "port is already allocated", "couldn't bind HTTP server socket"],
    pattern:
      /^(?:.{0,400}?(?:: |\(|\] |, ))?(?:\[Errno 98\]|EADDRINUSE\b|(?:Address|address) already in use[).]{0,2}\s*$|port is already allocated|couldn't bind HTTP server socket)/,
    unless: /no 'address|\bno ['"]/,
    cause: "The port is taken, usually by an older server that is still running.",
    remedy: "Find it with `ss -ltnp` and stop it, or choose another port.",
  }),
  rule({
    failure: "nccl-error",
    scope: "exception",
    needles: [
      "NCCL error",
      "ncclInternalError",
      "ncclSystemError",
      "ncclUnhandledCudaError",
      "ncclRemoteError",
      "ncclInvalidUsage",
    ],
    pattern: /NCCL error|nccl(?:Internal|System|UnhandledCuda|Remote|InvalidUsage)Error?/,
    cause: "The GPUs could not talk to each other (NCCL failed).",
    remedy:
      "Run with NCCL_DEBUG=INFO; look for two ranks on one GPU, a wrong network interface (NCCL_SOCKET_IFNAME), a small /dev/shm, or another rank that died first.",
  }),
  // the last words of a C++ program; mostly an echo of what stands above
  rule({
    failure: "nccl-error",
    weight: 0,
    needles: ["NCCL error"],
    pattern: /^what\(\): .{0,200}NCCL error: (?<what>.{1,120})/,
    cause: (captured) => `The GPUs could not talk to each other (NCCL): ${group(captured, "what")}.`,
    remedy: "Look for the rank that died first; run with NCCL_DEBUG=INFO.",
  }),
  rule({
    failure: "native-crash",
    weight: 0,
    needles: ["what():  "],
    pattern: /^what\(\): {1,2}(?<what>.{1,200})/,
    unless: /NCCL|Watchdog|ProcessGroup/,
    cause: (captured) => `The program ended with an error of its native code: ${group(captured, "what")}.`,
    remedy: "Read the lines above; mostly a native package does not fit its libraries or its input.",
  }),
  rule({
    failure: "worker-died",
    scope: "both",
    weight: 2,
    needles: [
      "abruptly died",
      "ActorDiedError",
      "RayActorError",
      "WorkerCrashedError",
      "worker died",
      "BrokenProcessPool",
      "exited unexpectedly",
      "died unexpectedly",
      "terminated abruptly",
      "unexpected system error",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception|BrokenProcessPool)(?:\(\w{1,60}\))?(?:: |$|\n).{0,200})?(?:One of the subprocesses has abruptly died|.{0,40}(?:ActorDiedError|RayActorError|WorkerCrashedError)|A worker died or was killed while executing a task|.{0,80}A process in the process pool was terminated abruptly|DataLoader worker \(pid(?:\(s\))? [\d, ]+\) exited unexpectedly|Worker proc \S{1,60} died unexpectedly|The actor died unexpectedly)/,
    cause:
      "A worker process died without an error of its own: mostly killed because the host ran out of main memory, or crashed.",
    remedy:
      "Look into `dmesg` for the kernel's out-of-memory killer; use fewer workers (num_proc, num_workers), and look at the worker's own log.",
  }),
  rule({
    failure: "worker-died",
    scope: "exception",
    weight: 2,
    needles: ["DataLoader worker"],
    pattern: /DataLoader worker \(pid(?:\(s\))? [\d, ]+\) is killed by signal: (?<signal>[\w ]{3,40})/,
    cause: (captured) =>
      `A data-loading worker was killed by a signal (${group(captured, "signal")}), mostly because the host ran out of main memory.`,
    remedy: "Use fewer DataLoader workers, look into `dmesg`, or ask for more memory.",
  }),
  // torchrun's own line about a rank; exit code -15 is a victim, 1 has its traceback above
  rule({
    failure: "killed-oom",
    needles: [
      "failed (exitcode: -9)",
      "exits with return code = -9",
      "exit code: -9",
      "died with <Signals.SIGKILL",
      "exited with exit code -9",
    ],
    pattern:
      /^(?:failed \(exitcode: -9\)|.{0,200}exits with return code = -9|.{0,200}died, exit code: -9|.{0,200}died with <Signals\.SIGKILL)/,
    cause: "A process of the job was killed with signal 9, nearly always because the host ran out of main memory.",
    remedy:
      "Look into `dmesg` or the cgroup's memory events; use fewer workers or smaller pieces, or ask for more memory (--mem).",
  }),
  rule({
    failure: "segfault",
    needles: ["failed (exitcode: -11)", "exits with return code = -11", "failed (exitcode: -7)"],
    pattern: /^(?:failed \(exitcode: -(?:11|7)\)|.{0,200}exits with return code = -11)/,
    cause: "A process of the job crashed in native code (segmentation fault or bus error).",
    remedy: "Run it with `python -X faulthandler`; a bus error is mostly a full /dev/shm.",
  }),
];

/** Batch systems. */
export const schedulerRules: readonly FailureRule[] = [
  rule({
    failure: "time-limit",
    permanent: true,
    weight: 3,
    needles: ["DUE TO TIME LIMIT", "TERM_RUNLIMIT", "job killed: walltime", "exceeded limit walltime"],
    pattern:
      /^(?:slurmstepd: error: |srun: .{0,40})?\*{0,3} ?(?:(?:JOB|STEP) (?<job>[\d._a-z+]+) ON \S{1,100} )?.{0,80}(?:CANCELLED AT \S{1,40} DUE TO TIME LIMIT|TERM_RUNLIMIT|job killed: walltime|exceeded limit walltime)/,
    cause: "The batch system stopped the job because its requested time was over.",
    remedy:
      "Ask for more time (--time), or resume from the last checkpoint in a new job; `--signal=B:USR1@300` lets it save in time.",
  }),
  rule({
    failure: "node-failure",
    weight: 3,
    needles: ["NODE FAILURE", "Node failure on", "NODE_FAIL", "NodeDiedError"],
    scope: "both",
    pattern:
      /^(?:[\w.]*NodeDiedError\b|srun: error: Node failure on \S+|(?:slurmstepd|srun): error: .{0,100}DUE TO NODE FAILURE|.{0,100}NODE_FAIL)/,
    cause: "A node of the job stopped answering.",
    remedy: "Start the job again from its last checkpoint, without that node (--exclude).",
  }),
  rule({
    failure: "preempted",
    weight: 3,
    needles: ["DUE TO PREEMPTION", "DUE TO JOB REQUEUE", "preempted"],
    pattern: /^(?:slurmstepd|srun): error: .{0,100}DUE TO (?:PREEMPTION|JOB REQUEUE)/,
    cause: "The scheduler took the job off its node (preempted or put back into the queue).",
    remedy: "It starts again when it is its turn; make sure that it resumes from a checkpoint.",
  }),
  rule({
    failure: "killed-oom",
    weight: 3,
    needles: ["Out Of Memory", "Exceeded job memory limit", "exceeded memory limit"],
    pattern:
      /^(?:slurmstepd: error: (?:Exceeded job memory limit|Job \S+ exceeded memory limit)|srun: error: .{0,100}Out Of Memory)/,
    cause: "The job used more main memory than it had asked the batch system for.",
    remedy: "Ask for more (--mem), or use fewer workers.",
  }),
  rule({
    failure: "config-error",
    permanent: true,
    needles: ["sbatch: error: ", "srun: error: Unable to"],
    pattern:
      /^(?:sbatch: error: (?:Batch job submission failed: )?(?<what>.{1,200})|srun: error: Unable to (?:create step|allocate resources).{0,20}: (?<step>.{1,160}))/,
    unless: /Memory specification can not be satisfied.*warning|Unable to open file/,
    cause: (captured) => `Slurm refused the job: ${captured["what"] ?? group(captured, "step")}.`,
    remedy: "Correct the request (partition, account, GPUs, memory, time) and submit it again.",
  }),
];
