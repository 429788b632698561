import { group, rule, type FailureRule } from "./rule";

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
      "its node has died",
    ],
    scope: "both",
    pattern:
      /^(?:[\w.]*NodeDiedError\b|[\w.]*ActorDiedError: [\s\S]{0,600}\bits node has died|srun: error: Node failure on \S+|(?:slurmstepd(?:-[\w.-]{1,60})?|srun): error: .{0,100}DUE TO NODE FAILURE|.{0,100}NODE_FAIL\b|The node with node id: .{0,200}has been marked dead because|ORTE has lost communication with a remote daemon|srun: error: .{0,60}io error and missing step on node|.{0,60}\(NodeLost\))/,
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
  // kubectl get events, submitit
  rule({
    failure: "preempted",
    weight: 3,
    needles: ["Preempted by ", ": this job is preempted"],
    pattern:
      /^(?:.{0,80}\b(?:Normal|Warning) {1,12}Preempted\b.{0,200}Preempted by |Caught signal \w{3,12} on \S{1,100}: this job is preempted)/,
    cause: "The scheduler took the job off its node for work of higher priority.",
    remedy: "It is started again by the queue, if it may; let it resume from a checkpoint.",
  }),
  rule({
    failure: "time-limit",
    weight: 3,
    needles: [": this job is timed-out"],
    pattern: /^Caught signal \w{3,12} on \S{1,100}: this job is timed-out/,
    cause: "The batch system stopped the job because its requested time was over.",
    remedy:
      "Ask for more time (timeout_min), or let it resume from its checkpoint; submitit puts it back into the queue.",
  }),
  rule({
    failure: "node-failure",
    needles: ["has been set to ERROR in coordination service", "received SISTER_EOF"],
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
