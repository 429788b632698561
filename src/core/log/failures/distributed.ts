import { group, rule, type FailureRule } from "./rule";

/** Several processes, several hosts: NCCL, torchrun, Ray, data loaders, batch systems. */
export const distributedRules: readonly FailureRule[] = [
  rule({
    failure: "nccl-timeout",
    weight: 3,
    scope: "both",
    needles: [
      "Watchdog caught collective operation timeout",
      "Collective operation timeout",
      "due to a collective timeout",
      "due to collective timeout",
      "watchdog got stuck for",
      "failed to pass monitoredBarrier",
      "ms for recv operation",
      "ms for send operation",
      "Termination timeout for ",
    ],
    pattern:
      /(?:^|\] |Error: |what\(\): {1,2})(?:\[Rank (?<rank>\d+)\] )?(?:Watchdog caught collective operation timeout|Some NCCL operations have failed or timed out|Received a dump signal due to a collective timeout|.{0,80}Terminating the process .{0,60}due to collective timeout|ProcessGroupNCCL's watchdog got stuck for \d+|(?:\[Rank \d+\]: )?Ranks? .{1,60} failed to pass monitoredBarrier|.{0,160}Timed out waiting \d+ms for (?:recv|send) operation|Termination timeout for .{1,160} exceeded)(?:: WorkNCCL\(.{0,60}?OpType=(?<operation>\w+))?/,
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
      "Timed out initializing process group",
      "Barrier timed out",
      "RuntimeError: Socket Timeout",
      "connect to coordination service",
      "seconds waiting for worker",
    ],
    pattern:
      /Timed out after \d+ seconds waiting for clients|RendezvousTimeoutError|RendezvousConnectionError|client socket has timed out after|(?:DistStoreError|DistNetworkError|TimeoutError): .{0,200}(?:clients joined|waiting for clients)|[Ww]ait timeout after \d+ms|Timed out initializing process group in store based barrier|DEADLINE_EXCEEDED: Barrier timed out|RuntimeError: Socket Timeout|Failed to connect to coordination service|Timed out after \d+ seconds waiting for worker/,
    cause: "The processes of the job never all met: at least one did not join the group.",
    remedy:
      "Check that all nodes were started with the same MASTER_ADDR and port, that the port is open between them, and what the missing one says.",
  }),
  rule({
    failure: "port-in-use",
    scope: "both",
    weight: 3,
    needles: [
      ...["ddress already in use", "EADDRINUSE", "port is already allocated", "couldn't bind HTTP server socket"],
      ...[
        "Cannot find empty port in range",
        "could not bind to port",
        "is already running at",
        "is already in use",
        "is utilizing it",
      ],
    ],
    pattern:
      /^(?:RuntimeError: The server socket has failed to (?:listen|bind) .{0,300}Address already in use|Error: listen EADDRINUSE|OSError: Cannot find empty port in range|(?:ERROR: )?TensorBoard could not bind to port|[\w.]*(?:ValueError|RuntimeError|OSError): Port \d+ is already in use|ConnectionError: .{0,200}(?:is already running at|another process is utilizing it)|.{0,400}os_error:"Address already in use")|^(?:.{0,400}?(?:: |\(|\] |, ))?(?:\[Errno 98\]|EADDRINUSE\b|(?:Address|address) already in use[).]{0,2}\s*$|port is already allocated|couldn't bind HTTP server socket)/,
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
      "DistNetworkError: failed to recv",
      "gloo/transport/",
    ],
    pattern:
      /NCCL error|nccl(?:Internal|System|UnhandledCuda|Remote|InvalidUsage)Error?|DistNetworkError: failed to recv|gloo\/transport\/.{0,60}(?:Connection (?:closed|reset) by peer|Connect(?:ion)? .{0,20}(?:refused|timed? ?out))/,
    cause: "The GPUs could not talk to each other (NCCL failed).",
    remedy:
      "Run with NCCL_DEBUG=INFO; look for two ranks on one GPU, a wrong network interface (NCCL_SOCKET_IFNAME), a small /dev/shm, or another rank that died first.",
  }),
  // what NCCL itself warns of, for what is never harmless
  rule({
    failure: "nccl-error",
    needles: ["NCCL WARN "],
    pattern:
      /NCCL WARN (?:Call to ibv_\w+ failed|NET\/IB ?: ?Got (?:completion|async)|Cuda failure|Duplicate GPU detected|Bootstrap ?: (?=no socket interface)|Mismatched collective)(?<what>.{0,120})/,
    cause: (captured) =>
      `The GPUs could not talk to each other (NCCL)${group(captured, "what") === "" ? "" : `: ${group(captured, "what").trim()}`}.`,
    remedy:
      "Check the network between the nodes (ibstat, NCCL_SOCKET_IFNAME, NCCL_IB_HCA), and that no two ranks use one GPU; run with NCCL_DEBUG=INFO.",
    subject: () => ({}),
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
    unless: /NCCL|Watchdog|ProcessGroup|std::bad_alloc|template is not supported/,
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
      "WorkerProc initialization failed",
      "TerminatedWorkerError",
      "WorkerLostError",
      "died with exit code ",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception|BrokenProcessPool)(?:\(\w{1,60}\))?(?:: |$|\n).{0,200})?(?:One of the subprocesses has abruptly died|.{0,40}(?:ActorDiedError|RayActorError|WorkerCrashedError)|A worker died or was killed while executing a task|.{0,80}A process in the process pool was terminated abruptly|DataLoader worker \(pid(?:\(s\))? [\d, ]+\) exited unexpectedly|Worker proc \S{1,60} died unexpectedly|The actor died unexpectedly|Pin memory thread exited unexpectedly|WorkerProc initialization failed|Process \S{1,60} died with exit code (?!0\b|-15\b))|^[\w.]*(?:TerminatedWorker|WorkerLost)Error: /,
    cause:
      "A worker process died without an error of its own: mostly killed because the host ran out of main memory, or crashed.",
    remedy:
      "Look into `dmesg` for the kernel's out-of-memory killer; use fewer workers (num_proc, num_workers), and look at the worker's own log.",
  }),
  rule({
    failure: "killed-oom",
    scope: "exception",
    weight: 3,
    needles: ["is killed by signal: Killed", "terminated with signal SIGKILL"],
    pattern:
      /DataLoader worker \(pid(?:\(s\))? [\d, ]+\) is killed by signal: Killed|process \d+ terminated with signal SIGKILL/,
    cause: "A process of the job was killed with signal 9, nearly always because the host ran out of main memory.",
    remedy:
      "Look into `dmesg` or the cgroup's memory events; use fewer workers or smaller pieces, or ask for more memory (--mem).",
  }),
  rule({
    failure: "segfault",
    scope: "exception",
    weight: 3,
    needles: ["is killed by signal: Segmentation", "terminated with signal SIGSEGV"],
    pattern:
      /DataLoader worker \(pid(?:\(s\))? [\d, ]+\) is killed by signal: Segmentation|process \d+ terminated with signal SIGSEGV/,
    cause: "A process of the job crashed in native code (segmentation fault).",
    remedy: "Run it with `python -X faulthandler`; mostly a native package does not fit its libraries.",
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
  // vLLM V0: -15 is a clean stop
  rule({
    failure: "worker-died",
    needles: [" died, exit code: "],
    pattern: /^Worker \S{1,60} pid \d+ died, exit code: (?<code>(?!0\b|-15\b|-9\b|-2\b)-?\d+)/,
    cause: (captured) => `A worker process of the engine died (exit code ${group(captured, "code")}).`,
    remedy: "Its own error stands above in the log; mend that and start the server again.",
    subject: () => ({}),
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
    needles: ["failed (exitcode: -11)", "exits with return code = -11"],
    pattern: /^(?:failed \(exitcode: -11\)|.{0,200}exits with return code = -11)/,
    cause: "A process of the job crashed in native code (segmentation fault).",
    remedy: "Run it with `python -X faulthandler`; mostly a native package does not fit its libraries.",
  }),
];

const otherTimeLimits = [
  "exceeded hard wallclock time",
  "active longer than specified deadline",
  "has been revoked",
  "timeout: sending signal ",
];

/** Batch systems. */
export const schedulerRules: readonly FailureRule[] = [
  rule({
    failure: "time-limit",
    permanent: true,
    weight: 3,
    needles: [
      "DUE TO TIME LIMIT",
      "TERM_RUNLIMIT",
      "job killed: walltime",
      "exceeded limit walltime",
      ...otherTimeLimits,
    ],
    pattern:
      /^(?:slurmstepd(?:-[\w.-]{1,60})?: |srun: .{0,40})?(?:error: )?\*{0,3} ?(?:(?:JOB|STEP) (?<job>[\d._a-z+]+) ON \S{1,100} )?.{0,80}(?:CANCELLED AT \S{1,40} DUE TO TIME LIMIT|TERM_RUNLIMIT|job killed: walltime|exceeded limit walltime|exceeded hard wallclock time|active longer than specified deadline)|^(?:salloc: Job allocation \d+ has been revoked|timeout: sending signal \w{3,7} to command )/,
    cause: "The batch system stopped the job because its requested time was over.",
    remedy:
      "Ask for more time (--time), or resume from the last checkpoint in a new job; `--signal=B:USR1@300` lets it save in time.",
  }),
  rule({
    failure: "node-failure",
    weight: 3,
    needles: [
      ...["NODE FAILURE", "Node failure on", "NODE_FAIL", "NodeDiedError", "has been marked dead because"],
      ...["lost communication with a remote daemon", "missing step on node", "(NodeLost)", "NodeNotReady"],
    ],
    scope: "both",
    pattern:
      /^(?:[\w.]*NodeDiedError\b|srun: error: Node failure on \S+|(?:slurmstepd(?:-[\w.-]{1,60})?|srun): error: .{0,100}DUE TO NODE FAILURE|.{0,100}NODE_FAIL\b|The node with node id: .{0,200}has been marked dead because|ORTE has lost communication with a remote daemon|srun: error: .{0,60}io error and missing step on node|.{0,60}\(NodeLost\))/,
    cause: "A node of the job stopped answering.",
    remedy: "Start the job again from its last checkpoint, without that node (--exclude).",
  }),
  rule({
    failure: "preempted",
    weight: 3,
    needles: ["DUE TO PREEMPTION", "DUE TO JOB REQUEUE", " preempted", "Preempted", "was low on resource: "],
    pattern:
      /^(?:slurmstepd(?:-[\w.-]{1,60})?|srun): (?:error: )?.{0,100}DUE TO (?:PREEMPTION|JOB REQUEUE)|^(?:Warning {1,8}\w{1,20} .{0,80})?(?:Preempted (?:by|in order to)\b|The node was low on resource: )|^(?:\[\w+\])?(?:(?:The|This|Your) )?(?:[Ss]pot )?(?:[Ii]nstance|[Cc]luster|[Nn]ode|VM|[Jj]ob|[Pp]od)\b.{0,60} (?:was|is being|has been) preempted\b/,
    unless: /\bearlier\b|\battempt\b|\b[Rr]esum|\b[Pp]revious/,
    cause: "The scheduler took the job off its node (preempted or put back into the queue).",
    remedy: "It starts again when it is its turn; make sure that it resumes from a checkpoint.",
  }),
  rule({
    failure: "killed-oom",
    weight: 3,
    needles: [
      ...["Out Of Memory", "Exceeded job memory limit", "exceeded memory limit", "Exceeded step memory limit"],
      ...["job killed: mem ", "TERM_MEMLIMIT", "OOMKilled"],
    ],
    pattern:
      /^(?:=>> PBS: job killed: (?:v?mem|pvmem) |TERM_MEMLIMIT\b|(?:Reason: {1,20}|.{0,60}\b)OOMKilled\b|slurmstepd(?:-[\w.-]{1,60})?: error: (?:Exceeded (?:job|step) memory limit|Job \S+ exceeded memory limit)|srun: error: .{0,100}Out Of Memory)/,
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
  rule({
    failure: "preempted",
    needles: ["Preempted to accommodate a workload"],
    pattern: /^(?:.{0,120} )?Preempted to accommodate a workload/,
    cause: "The cluster took the GPUs away for work of higher priority.",
    remedy: "It is started again by the queue, if it may; let it resume from a checkpoint.",
  }),
  rule({
    failure: "node-failure",
    needles: ["has been set to ERROR in coordination service", "received SISTER_EOF", "stall_inspector.cc"],
    pattern:
      /^(?:\/job:\S{1,120} has been set to ERROR in coordination service|=>> PBS: job killed: node .{0,200}SISTER_EOF)/,
    cause: "One of the nodes was lost.",
    remedy: "Start again without that node; ask who runs the cluster about it.",
  }),
  rule({
    failure: "nan-loss",
    scope: "both",
    weight: 3,
    needles: ["number of nan iterations: ", "Loss became infinite or NaN", "NanLossDuringTrainingError"],
    pattern:
      /^ ?(?:iteration {1,12}\d{1,9}\/.{0,600}number of nan iterations: {1,6}[1-9]|[\w.]*FloatingPointError: Loss became infinite or NaN|[\w.]*NanLossDuringTrainingError: )/,
    cause: "The loss is not a number any more.",
    remedy:
      "Go back to a checkpoint before it; lower the learning rate, clip gradients, and look at the data of that step.",
  }),
];
