import * as z from "zod/mini";
import { durationPattern, percentPattern, sizePattern } from "./units";

/**
 * The session file's shape, once: types, validation and `schemas/ml-session.schema.json` come from here. The text of
 * a schema's error completes the sentence "`key` must be …". Keys that this version cannot do yet are in the shape
 * as well; `unsupported.ts` knows which.
 */

const text = z.string("a text");
const flag = z.boolean("true or false");
const path = z.string("a path");
const scalar = z.union([z.string(), z.number(), z.boolean()], "a text or a number");
const count = z.int("a whole number").check(z.gte(0, "a whole number, 0 or more"));
const port = z.int("a port number").check(z.gte(1, "a port number"), z.lte(65_535, "a port number"));
const duration = z.union(
  [
    z.number().check(z.gte(0, "0 or more seconds")),
    z.string().check(z.regex(durationPattern, "a duration such as `15m`, `120s` or `12h`")),
  ],
  "a duration such as `15m`, `120s` or `12h`",
);
const size = z.union(
  [
    z.number().check(z.gte(0, "a size such as `1.5 GB`")),
    z.string().check(z.regex(sizePattern, "a size such as `1.5 GB`")),
  ],
  "a size such as `1.5 GB`, `300 MiB` or a number of bytes",
);
const percent = z.string("a share such as `5%`").check(z.regex(percentPattern, "a share such as `5%`"));
const paths = z.union([path, z.array(path)], "a path or a list of paths");
const names = z.union([text, z.array(text)], "a name or a list of names");
const lines = z.union([text, z.array(text)], "a line or a list of lines");
const matrixValue = z.string().check(z.regex(/^\{\{\s*[A-Za-z_][\w-]*\s*\}\}$/, "a number"));
const gpu = z.union([count, matrixValue], "a number, or a value of `matrix` such as `{{shard}}`");
const gpus = z.union(
  [z.literal("all"), gpu, z.array(gpu)],
  "`all` or a list of GPU numbers such as `[0, 1]`, as nvidia-smi counts them",
);
const environment = z.record(z.string(), scalar, "a map of names and values");

/** A key that may be left out, with the words for hover and completion. */
function key<T extends z.core.$ZodType>(schema: T, description: string): z.ZodMiniOptional<T> {
  return z.optional(schema).check(z.describe(description));
}

const logSource = z.union(
  [
    path,
    z.strictObject({ journal: text.check(z.describe("A systemd unit whose journal is read.")) }),
    z.strictObject({ tmux: text.check(z.describe("A tmux pane, as `session:window.pane`.")) }),
    z.strictObject({ docker: text.check(z.describe("A container, by name or id.")) }),
  ],
  "a path, `{ journal: unit }`, `{ tmux: pane }` or `{ docker: container }`",
);
const logs = z.union([logSource, z.array(logSource)], "a list of paths, globs, journals, panes or containers");

const retries = z.union(
  [
    count,
    z.strictObject(
      {
        max: key(count, "How many times at most."),
        on: key(z.enum(["transient", "any"], "`transient` or `any`"), "Which failures: `transient` ones or `any`."),
        backoff: key(duration, "How long to wait before the first retry; doubled each time."),
      },
      "a number, or a map such as `{ max: 3, on: transient }`",
    ),
  ],
  "a number, or a map such as `{ max: 3, on: transient }`",
);

const signals = ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2"] as const;
const stop = z.strictObject(
  {
    signal: key(
      z.enum(signals, "one of TERM, INT, HUP, QUIT, USR1, USR2"),
      "The signal that asks the stage to end: TERM (default), INT, HUP, QUIT, USR1 or USR2.",
    ),
    grace: key(duration, "How long the stage may take to end before it is killed. Default `30s`."),
  },
  "a map such as `{ signal: TERM, grace: 120s }`",
);

const progress = z.strictObject(
  {
    total: key(z.number("a number").check(z.gt(0, "more than 0")), "How many there will be in the end."),
    pattern: key(
      z.string("a regular expression"),
      "A regular expression with the named groups `done` and `total` (and `rate`), for logs in a format of their own.",
    ),
  },
  "a map with `total` or `pattern`",
);

const ruleKind = /^[a-z][a-z\d-]{0,39}$/;
const rule = z.strictObject(
  {
    pattern: z
      .string("a regular expression")
      .check(
        z.describe("A regular expression, searched for in the first 300 characters of a line without its prefixes."),
      ),
    kind: key(
      z.string("a name").check(z.regex(ruleKind, "a name of small letters, digits and `-`")),
      "Name of the kind of failure, such as `cuda-oom` or one of your own.",
    ),
    severity: key(z.enum(["error", "warning"], "`error` or `warning`"), "`error` (default) or `warning`."),
    cause: key(text, "What the line means. `{name}` stands for what the pattern's group of this name took."),
    remedy: key(text, "What to do about it. `{name}` as in `cause`."),
    permanent: key(flag, "Whether starting it again cannot help. Default `false`."),
    ignore: key(flag, "`true`: lines that fit are harmless, whatever the built-in rules say."),
  },
  "a map with `pattern`, `kind` and `cause`, or with `pattern` and `ignore: true`",
);

const outputs = z.strictObject(
  {
    files: key(paths, "Paths or globs of the files that the stage writes."),
    count: key(z.enum(["lines", "files", "bytes"], "`lines`, `files` or `bytes`"), "What is counted in them."),
    token_field: key(
      text,
      "Where the number of tokens stands in each line's JSON, as `usage.completion_tokens`: keys joined by dots.",
    ),
  },
  "a map with `files`",
);

const doneWhen = z.strictObject(
  {
    files: key(paths, "Paths or globs that must all match something. Relative to `cwd`."),
    exists: key(paths, "The same as `files`."),
    min_size: key(size, "The least size of all that `files` matched, or of the snapshot, as `1.5 GB` or `300 MiB`."),
    hf_snapshot: key(path, "A folder that must hold all shards of a Hugging Face snapshot."),
    outputs_at_least: key(count, "How many outputs there must be."),
    command: key(text, "A command that must exit with 0."),
    log_line: key(text, "A line, as an extended regular expression (`grep -E`), that the log must hold."),
  },
  "a map such as `{ files: out/*.jsonl, min_size: 1 GB }`",
);

const failWhen = z.strictObject(
  {
    error_share: key(percent, "The share of errors above which the stage counts as failed."),
    log_line: key(text, "A line, as a regular expression, that means failure."),
  },
  "a map with `error_share` or `log_line`",
);

const host = z.strictObject(
  {
    ssh: key(
      text,
      "An alias of your SSH configuration, `user@host:port`, or `local` for this machine. Default: the host's name here.",
    ),
    path: key(paths, "Folders that go before PATH of all that is started on this host."),
    setup: key(lines, "Lines of shell that run before each command, such as `module load cuda/13.1`."),
    shell: key(
      z.enum(["auto", "bash", "sh"], "`auto`, `bash` or `sh`"),
      "`auto` (default): bash with pipefail where there is one, else sh.",
    ),
    env: key(environment, "Environment of all that is started on this host. No secrets: the file is plain text."),
    secrets: key(z.array(text, "a list of names"), "Names of secrets that commands get in their environment."),
    env_file: key(path, "A file on the host, mode 0600, with the values of `secrets`."),
    launcher: key(
      z.enum(
        ["detached", "tmux", "systemd", "slurm", "docker"],
        "one of `detached`, `tmux`, `systemd`, `slurm`, `docker`",
      ),
      "How stages are started. Only `detached` (default) is supported yet.",
    ),
    state_dir: key(path, "Where the records of runs are kept on the host. Default `~/.local/state/ml-session`."),
    login_node: key(
      flag,
      "`true`: many people share it, so it is watched gently: less often, without GPUs and flight recorder. Default: whether it has a scheduler (Slurm, PBS, LSF) and no GPU.",
    ),
  },
  "a map, such as `{ ssh: gpu8 }`",
);

/** Keys of a stage that `defaults` may hold as well. */
const common = {
  host: key(text, "The host that it runs on: a key of `hosts`. May be left out if there is only one."),
  cwd: key(path, "The folder that it runs in. Default: the home folder."),
  env: key(environment, "Environment of the command. No secrets: the file is plain text."),
  gpus: key(
    gpus,
    "The GPUs that it gets: `all`, or a list such as `[0, 1]`, as nvidia-smi counts them. Sets CUDA_VISIBLE_DEVICES.",
  ),
  stalled_after: key(duration, "How long progress may stand still before the stage counts as stalled."),
  stop: key(stop, "How the stage is stopped."),
  rules: key(
    z.array(rule, "a list of rules"),
    "What lines of the log mean that the built-in rules do not know, or take for a failure.",
  ),
  retries: key(retries, "How often a failed stage is started again by itself."),
  timeout: key(duration, "How long the stage may run. Not supported yet."),
  when_busy: key(
    z.enum(["wait", "start", "refuse"], "`wait`, `start` or `refuse`"),
    "What happens when the GPUs are taken.",
  ),
};

/** The same words as `StageKind`. */
const stageKinds = ["download", "inference", "extraction", "training", "other"] as const;

const stage = z.strictObject(
  {
    kind: key(
      z.enum(stageKinds, "one of `download`, `inference`, `extraction`, `training`, `other`"),
      "What it does: decides its icon and which command restarts it. Guessed from name and command if left out.",
    ),
    command: key(text, "The command line. Without one the stage is only watched, by its log."),
    log: key(logSource, "The file that the output goes to. Default: a file in the run's own folder."),
    logs: key(logs, "Several logs, globs, journals, panes or containers. Not supported yet."),
    needs: key(names, "Stages and services that must come first."),
    progress: key(progress, "How progress is read where the log's format is not known by itself."),
    outputs: key(outputs, "What the stage writes."),
    done_when: key(doneWhen, "What must be there for the stage to count as finished."),
    resume: key(
      z.strictObject({ args: key(text, "Arguments added on a restart.") }, "a map such as `{ args: --skip-existing }`"),
      "How a restart goes on with what is there.",
    ),
    fail_when: key(failWhen, "When the stage counts as failed while it runs. Not supported yet."),
    matrix: key(
      z.record(
        z.string(),
        z.union([text, z.array(scalar)], "a list, or a range such as `0..7`"),
        "a map of names and ranges",
      ),
      "Several members of one stage, one for each value.",
    ),
    array: key(z.union([text, count], "a range such as `0-7`"), "A Slurm job array. Not supported yet."),
    launcher: host.shape.launcher,
    ...common,
  },
  "a map with `command` or `log`",
);

const service = z.strictObject(
  {
    host: common.host,
    log: key(logSource, "The file that the service writes. It is watched as a stage's log is."),
    logs: key(logs, "Several logs, globs, journals, panes or containers. Not supported yet."),
    gpus: key(gpus, "The GPUs that the service uses: `all` or a list."),
    start: key(text, "The command that starts it. Not supported yet."),
    systemd: key(text, "The systemd unit that it is. Not supported yet."),
    docker: key(text, "The container that it is. Not supported yet."),
    cwd: common.cwd,
    env: common.env,
    stop: common.stop,
    ready: key(text, "An address that answers once the service is ready. Not supported yet."),
    metrics: key(text, "Where its Prometheus metrics are. Not supported yet."),
    until: key(names, "The stage after which it is stopped. Not supported yet."),
    port: key(port, "The port that it listens on. Not supported yet."),
  },
  "a map with `log`",
);

/** The whole file, after aliases are resolved and before references are checked. */
export const sessionSchema = z.strictObject(
  {
    session: z
      .string("a name")
      .check(z.describe("The session's name: letters, digits, `.`, `_` and `-`, at most 64. Runs are recorded by it.")),
    vars: key(
      z.record(z.string(), scalar, "a map of names and values"),
      "Values that are put in for `{{name}}` anywhere below.",
    ),
    hosts: key(z.record(z.string(), host, "a map of hosts"), "The machines, by a name of your choice."),
    defaults: key(z.strictObject(common, "a map"), "Keys that every stage gets if it does not have its own."),
    services: key(
      z.record(z.string(), service, "a map of services"),
      "What serves the stages and has no end of its own, such as a vLLM server. Watched, not started.",
    ),
    stages: key(z.record(z.string(), stage, "a map of stages"), "The steps of the pipeline, by name."),
    notify: key(
      z.strictObject(
        {
          webhook_env: key(text, "Name of the variable on the host that holds the webhook's address."),
          heartbeat_env: key(text, "Name of the variable on the host that holds the heartbeat's address."),
          on_success: key(flag, "Whether success is news as well."),
        },
        "a map with `webhook_env` or `heartbeat_env`",
      ),
      "Messages that the host itself sends. Not supported yet.",
    ),
  },
  "a map with `session`, `hosts` and `stages`",
);

/** A valid file, as its schema reads it. */
export type SessionInput = z.infer<typeof sessionSchema>;
/** A host, as written. */
export type HostInput = z.infer<typeof host>;
/** A stage, as written. */
export type StageInput = z.infer<typeof stage>;
/** A service, as written. */
export type ServiceInput = z.infer<typeof service>;
/** A rule for lines of a log, as written. */
export type RuleInput = z.infer<typeof rule>;
/** What `log` may be, as written. */
export type LogInput = z.infer<typeof logSource>;
