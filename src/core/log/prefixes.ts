/**
 * What launchers, loggers and collectors put in front of a line: ranks, worker names, times, levels. It is peeled off
 * before anything is matched, and what tells processes apart is kept as the source of the line.
 */

/** A line without its prefixes. */
export interface PeeledLine {
  /** What tells processes of one log apart: `rank0`, `EngineCore_DP0 pid=214`; `""` for none. */
  readonly source: string;
  /** The rest of the line; its leading blanks are kept, because tracebacks are told by them. */
  readonly body: string;
  /** The logger's level, upper case, where one stood in front. */
  readonly level: string;
  /** A logger or collector wrote this line: it had a time or a level of its own. */
  readonly record: boolean;
}

interface PrefixRule {
  /** Sticky. Group `source` is remembered, group `level`, too. */
  readonly pattern: RegExp;
  /** A prefix that only labels the stream, and says nothing about a logger. */
  readonly label?: boolean;
}

const levels = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL";
const clock = "\\d{1,2}:\\d\\d:\\d\\d(?:[.,:]\\d{1,9})?";
const date = "(?:\\d{4}[-/]\\d\\d[-/]\\d\\d|\\d\\d/\\d\\d/\\d{4})";

/**
 * `host unit[123]`, `gpu-07 kernel`: a word that is no host's name could be the label of a bar, as in `Adding requests: `.
 */
const unit = (name: string): string =>
  `(?=[\\w.-]{1,60} (?:\\S{1,60}\\[\\d+\\]|kernel|systemd|slurm\\w*|dockerd|containerd): |[A-Za-z][\\w.-]{0,60}\\d)[\\w.-]+ (?<source>${name}(?:\\[\\d+\\])?)`;

/** One entry a prefix, tried in a loop until none fits. */
const prefixRules: readonly PrefixRule[] = [
  // srun --label: `12: `, padded to the widest task number; the line may begin with blanks of its own
  { pattern: /(?<source> {0,5}\d{1,5}): (?= {0,60}\S)/y, label: true },
  // torchrun --tee, PyTorch's rank prefix, hand-made ones: `[rank0]:`, `[default0]:`, `[w0] `, `[GPU 3] `
  {
    pattern: /\[(?<source>(?:rank|default|worker|trainer|node|gpu|shard|proc|w)[ _=-]?\d{1,5})\](?:: ?| )/iy,
    label: true,
  },
  // mpirun --tag-output, kubectl logs --prefix, pdsh: `[1,0]<stdout>:`, `[pod/vllm-0/server] `, `worker-1: `
  { pattern: /\[(?<source>[\w@.-]{0,60}\d{1,5},\d{1,5})\]<std(?:out|err)>: ?/y, label: true },
  // SageMaker: `[1,mpirank:0,algo-1]<stderr>:`, `algo-1-x7k2p  | `; pm2: `0|vllm  | `; honcho: `web.1  | `
  { pattern: /\[\d{1,5},(?<source>mpirank:\d{1,5},algo-\d{1,5})\]<std(?:out|err)>:/y, label: true },
  {
    pattern: /(?<source>algo-\d{1,5}-\w{4,8}|\d{1,3}\|[\w.-]{1,40}|[a-z][\w-]{0,40}\.\d{1,3})\s{1,20}\| ?/y,
    label: true,
  },
  // pdsh, as DeepSpeed starts it: what the hostfile says, `10.0.0.12: `, `node-3.cluster.local: `, `gpu[03]: `
  { pattern: /(?<source>\d{1,3}(?:\.\d{1,3}){3}): (?=\s{0,60}\S)/y, label: true },
  { pattern: /\[(?<source>\d{1,3}(?:\.\d{1,3}){3})\] (?=\s{0,60}\S)/y, label: true },
  {
    pattern:
      /(?<source>[a-z][\w-]{0,40}\d(?:\.[a-z][\w-]{0,40}){0,4}\.(?:local|lan|internal|cluster|hpc|edu|gov|org|net|com|io|ai|us|ca|au|uk|eu|de|at|ch|fr|nl|be|it|es|se|no|fi|dk|cz|jp|cn|kr|tw|sg)|(?:node|worker|gpu|compute|dgx|hgx)\[\d{1,5}\]): (?=\s{0,60}\S)/y,
    label: true,
  },
  // torchx: `trainer/0 `; Intel MPI and torchrun together: `[0] [rank0]: `
  { pattern: /(?<source>(?:trainer|worker|node|rank)\/\d{1,5}) (?=\s{0,60}\S)/y, label: true },
  { pattern: /\[\d{1,5}\] (?=\[rank\d)/y, label: true },
  { pattern: /\[(?<source>pod\/[\w./-]{1,120})\] /y, label: true },
  {
    pattern:
      /(?<source>(?:node|worker|gpu|compute|dgx|hgx)[\w.-]{0,40}\d|(?:rank|shard|task|proc)[ _-]?\d{1,5}|w\d{1,4}): (?= {0,60}\S)/y,
    label: true,
  },
  // Ray actors, vLLM processes: `(APIServer pid=1) `, `(TaskRunner pid=40881, ip=10.0.0.1) `, `(raylet) `
  {
    pattern:
      /\((?<source>(?:[A-Za-z_][\w.:-]{0,80}(?: [A-Za-z]\w{0,30})?,? ?)?(?:\w{1,30}=[\w.:-]{1,80}(?:, )?){1,5})\) ?/y,
    label: true,
  },
  { pattern: /\((?<source>raylet|autoscaler|gcs_server)(?:[ ,][^)]{0,80})?\) ?/y, label: true },
  // docker compose: `vllm-1  | `
  { pattern: /(?<source>[A-Za-z][\w.-]{0,60}[-_]\d{1,4})\s{1,20}\| ?/y, label: true },
  // syslog and journald: `Jun 19 17:16:35 host unit[123]: `
  {
    pattern: new RegExp(`[A-Z][a-z]{2} [ \\d]\\d ${clock} ${unit("[^\\s:\\[]{1,60}")}: `, "y"),
  },
  // journald and rsyslog with full times: `2026-02-14T05:03:44.123456+00:00 host kernel: `
  {
    pattern: new RegExp(
      `${date}T${clock}(?:Z|[+-]\\d\\d:?\\d\\d) (?!(?:${levels})\\b)${unit("[A-Za-z(][^\\s:\\[]{0,60}")}: `,
      "y",
    ),
  },
  // containerd: `2026-02-14T05:03:44.123456789Z stderr F `
  { pattern: new RegExp(`${date}T${clock}(?:Z|[+-]\\d\\d:?\\d\\d) std(?:out|err) [FP] `, "y") },
  // Ray's own processes: `[2026-01-02 10:00:00,123 E 12 40] (raylet) node_manager.cc:3064: `
  {
    pattern: new RegExp(
      `\\[${date} ${clock} (?<level>[IWEFD]) \\d+ \\d+\\] (?:\\((?<source>[\\w-]{1,40})\\) )?(?:[\\w./]+:\\d+: {1,2})?`,
      "y",
    ),
  },
  // gunicorn: `[2026-02-11 10:00:01 +0000] [12] `
  { pattern: new RegExp(`\\[${date} ${clock} [+-]\\d{4}\\] \\[\\d+\\] `, "y") },
  // dmesg -T: `[Sat Feb 14 05:03:44 2026] `
  { pattern: new RegExp(`\\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${clock} \\d{4}\\] `, "y") },
  // TensorFlow and XLA, after their time: `F external/xla/xla/service/rendezvous.cc:36] `
  { pattern: /(?<level>[IWEF]) (?:tensorflow|external|xla)\/[\w./-]{1,160}:\d+\] /y },
  // JAX: `WARNING:2026-02-11 10:00:00,123:jax._src.xla_bridge:794: `
  { pattern: new RegExp(`(?<level>${levels}):${date} ${clock}:[\\w.]+:\\d+: `, "y") },
  // pytorch and glog: `W0411 02:12:00.114000 50112 torch/run.py:774] `, `[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] `
  { pattern: new RegExp(`\\[?(?<level>[IWEFVC])\\d{3,4} ${clock} {1,8}(?:\\d+ )?[\\w./-]+:\\d+\\] ?`, "y") },
  // vLLM: `INFO 11-02 10:00:20 [loggers.py:127] `, `INFO 08-01 10:00:05 metrics.py:351] `
  { pattern: new RegExp(`(?<level>${levels}) \\d\\d-\\d\\d ${clock} \\[?[\\w./]+:\\d+\\] ?`, "y") },
  // transformers, LLaMA-Factory, NeMo: `[INFO|2025-11-02 10:00:00] module:143 >> `, `[NeMo I 2025-11-02 10:00:00 file:393] `
  { pattern: new RegExp(`\\[(?<level>${levels})\\|${date} ${clock}\\] [\\w.]+:\\d+ >> `, "y") },
  { pattern: new RegExp(`\\[NeMo (?<level>[IWEFD]) ${date} ${clock} [\\w.]+:\\d+\\] ?`, "y") },
  // Hydra: `[2025-11-02 10:00:00,123][__main__][INFO] - `
  { pattern: new RegExp(`\\[${date} ${clock}\\]\\[[\\w.]{1,60}\\]\\[(?<level>${levels})\\] - `, "y") },
  // a time in brackets, with ranks: `[2025-03-02 10:00:00 TP0] `, `[11/02/2025-10:00:13] `, `[21:40:12] `, `[11/02/25 10:00:01] `
  {
    pattern: new RegExp(
      `\\[(?:${date}|\\d\\d/\\d\\d/\\d{2,4})?[ T-]?${clock}Z?(?<source>(?: (?:DP|TP|PP|EP|CP)\\d+){0,5})\\] ?`,
      "y",
    ),
  },
  // ISO and plain times, as of docker, logging, structlog
  {
    pattern: new RegExp(
      `(?:${date}|\\d\\d/\\d\\d)[ T:-]${clock}(?:Z|[+-]\\d\\d:?\\d\\d)?(?: - | \\| | >> | |: |\\t)`,
      "y",
    ),
  },
  // Python's logging with the file: `INFO 2025-11-02 10:00:00,123 train.py:88 `
  { pattern: new RegExp(`(?<level>${levels}) {1,4}${date} ${clock} (?:[\\w./-]+\\.py:\\d+:? )?(?:- )?`, "y") },
  // submitit: `submitit WARNING (2025-11-02 10:00:00,123) - `
  { pattern: new RegExp(`[a-z][\\w.]{0,40} (?<level>${levels}) \\(${date} ${clock}\\) - `, "y") },
  // a bare time, if a level follows: `10:00:00 | INFO `, `10:00:00 [INFO] `
  { pattern: new RegExp(`${clock}(?: - | \\| | )(?=\\[?(?:${levels})\\b)`, "y") },
  // llama.cpp: `0.12.441.207 I `
  { pattern: /\d{1,5}\.\d\d\.\d{3}\.\d{3} (?<level>[IWEDN]) /y },
  // a time alone, as `ts` and many loggers print it: `10:00:00 `, `Nov 02 10:00:00 `
  { pattern: /(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})? (?= {0,60}\S)/y },
  // `ts %.s`: `1717171717.123456 `
  { pattern: /\d{10}\.\d{6} (?=\s{0,60}\S)/y },
  // dmesg: `[1844021.551902] `
  { pattern: /\[ {0,8}\d{1,9}\.\d{6}\] /y },
  // levels by themselves: `[INFO] `, `INFO - `, `ERROR | `, `WARNING  `, `INFO:__main__:`
  { pattern: new RegExp(`\\[(?<level>${levels}|(?:INFO|WARNING|ERROR)\\|[\\w.:-]+) {0,9}\\](?: - | ?)`, "iy") },
  { pattern: new RegExp(`(?<level>${levels})(?: - | {1,9}\\| | {1,8}(?=[^ \\d]))`, "y") },
  { pattern: new RegExp(`(?<level>${levels}):[\\w.]+:`, "y") },
  // names of loggers: `[titan] `, `[TRT-LLM] [I] `, `[logging.py:96:log_dist] `, `[Rank 0] `, `root - `, `openai._base_client | `
  { pattern: /\[(?:titan|TRT-LLM|transformers|[IWEFV]|[\w./]+\.(?:py|cpp|cc|cu):\d+(?::\w+)?)\] /y },
  { pattern: new RegExp(`[A-Za-z_][\\w.]{0,60} - (?=(?:${levels})\\b)`, "y") },
  // PyTorch 2.1 and 2.2: `torch.distributed.elastic.multiprocessing.api: [ERROR] `, after their time
  { pattern: new RegExp(`[a-z_]\\w{0,60}(?:\\.\\w{1,60}){1,8}: (?=\\[(?:${levels})\\])`, "y") },
  // loguru: `__main__:main:12 - `
  { pattern: /[\w.]{1,80}:[\w<>]{1,60}:\d{1,6} - /y },
  { pattern: /(?:root|__main__|mmengine|[a-z_][\w.]*\.\w+) (?:-|\|) /y },
  { pattern: /(?:root|__main__): /y },
  // the file that logs: `train.py:88 - `; ray's: `worker.py:1821 -- `
  { pattern: /[\w-]{1,60}\.py:\d{1,6} (?:-{1,2} )?(?=\S)/y },
];

/** Takes every known prefix off a line. Looks at the first 400 characters only. */
export function peelPrefixes(text: string): PeeledLine {
  let at = 0;
  let source = "";
  let level = "";
  let record = false;
  for (let round = 0; round < 8 && at < 400; round++) {
    const hit = nextPrefix(text, at);
    if (hit === undefined) break;
    at += hit.length;
    source = joinSource(source, hit.source);
    if (level === "") level = hit.level;
    record ||= !hit.label;
  }
  const rest = at === 0 ? text : text.slice(at);
  return { source, body: withoutTail(rest, record), level, record };
}

function withoutTail(text: string, record: boolean): string {
  const bare = text.includes(" [repeated ") ? text.replace(repeated, "") : text;
  return record && bare.includes(".py:") ? bare.replace(richTail, "") : bare;
}

/** rich's log handler names the file at the right end of a line. */
const richTail = / {2,80}[\w.]{1,80}\.py:\d{1,6} *$/;

/** Ray folds the same line of other workers. */
const repeated = / \[repeated \d+x across cluster\].{0,200}$/;

interface PrefixHit {
  readonly length: number;
  readonly source: string;
  readonly level: string;
  readonly label: boolean;
}

function nextPrefix(text: string, at: number): PrefixHit | undefined {
  if (!canStart(text.charCodeAt(at))) return undefined;
  for (const rule of prefixRules) {
    rule.pattern.lastIndex = at;
    const match = rule.pattern.exec(text);
    if (match === null || match[0] === "") continue;
    return {
      length: match[0].length,
      source: match.groups?.["source"]?.trim() ?? "",
      level: (match.groups?.["level"] ?? "").toUpperCase(),
      label: rule.label === true,
    };
  }
  return undefined;
}

/** Letters, digits, blanks, `(` and `[` are all that a prefix can begin with. */
function canStart(code: number): boolean {
  return (
    code === 32 ||
    code === 40 ||
    code === 91 ||
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 95 && code <= 122)
  );
}

function joinSource(known: string, more: string): string {
  if (more === "") return known;
  return known === "" ? more : `${known} ${more}`;
}
