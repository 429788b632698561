import { group, rule, type FailureRule } from "./rule";

/** Several processes, several hosts: NCCL, torchrun, Ray, data loaders. */
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
    // What ray::… raised follows.
    unless: /\bray::|its node has died/,
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
  // Horovod says it each minute; once is normal while a rank still loads its data
  rule({
    failure: "stalled",
    severity: "warning",
    needles: ["One or more tensors were submitted to be reduced"],
    pattern: /^.{0,100}One or more tensors were submitted to be reduced/,
    held: { takenBack: /^progress$/, confirmed: /One or more tensors were submitted to be reduced/ },
    cause: "Some ranks do not take part any more while the others wait for them: the training stands still.",
    remedy:
      "Look at the ranks that the next lines call missing: their own logs, `py-spy dump --pid PID`; one of them mostly died or took another way through the code.",
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
  // torchrun's list of what failed: what ended first stands last
  rule({
    failure: "killed-oom",
    scope: "exception",
    weight: 1,
    needles: ["ChildFailedError"],
    pattern: /^(?:[\w.]*\.)?ChildFailedError\b[\s\S]{0,8000}\nRoot Cause[\s\S]{0,400}\n\s{1,4}exitcode\s{1,4}: -9\b/,
    cause: "A process of the job was killed with signal 9, nearly always because the host ran out of main memory.",
    remedy:
      "Look into `dmesg` or the cgroup's memory events; use fewer workers or smaller pieces, or ask for more memory (--mem).",
  }),
  rule({
    failure: "segfault",
    scope: "exception",
    weight: 1,
    needles: ["ChildFailedError"],
    pattern: /^(?:[\w.]*\.)?ChildFailedError\b[\s\S]{0,8000}\nRoot Cause[\s\S]{0,400}\n\s{1,4}exitcode\s{1,4}: -11\b/,
    cause: "A process of the job crashed in native code (segmentation fault).",
    remedy: "Run it with `python -X faulthandler`; mostly a native package does not fit its libraries.",
  }),
  rule({
    failure: "segfault",
    needles: ["failed (exitcode: -11)", "exits with return code = -11"],
    pattern: /^(?:failed \(exitcode: -11\)|.{0,200}exits with return code = -11)/,
    cause: "A process of the job crashed in native code (segmentation fault).",
    remedy: "Run it with `python -X faulthandler`; mostly a native package does not fit its libraries.",
  }),
];
