import { group, rule, type Captured, type FailureRule } from "./rule";

const things =
  "(?:records|samples|rows|lines|examples|tokens|items|responses|completions|outputs|answers|generations|prompts|conversations|results|files|shards)";

/** Share of left-out samples from which on it is worth a word: some are normal. */
const largeShare = 0.01;

/** Share of failed requests from which on a stage counts as failing. */
const mostFailed = 0.5;
/** `finished: 0 ok, 5000 failed`, `Completed: 5000 requests, 4981 failed`, `ok=9 errors=203`. */
const summary =
  /^(?:[\w.]{1,30}(?:: ?| \| | - ))*(?:[Aa]ll (?<every>[1-9]\d*) (?:requests|prompts|samples) failed\b|(?:(?<good>\d+) (?:ok|succeeded|successful|successes|done)|(?<all>\d+) (?:requests|prompts|samples))[,;/]? {0,2}(?<failed>\d+) (?:failed|errors)\b|(?:ok|succeeded|success|successful)(?:=|: ?)(?<fine>\d+),? {0,2}(?:failed|errors)(?:=|: ?)(?<bad>\d+)\b)/;

/** What comes out of a job, or goes into it, is not what it should be: weights, losses, results. */
export const outputRules: readonly FailureRule[] = [
  rule({
    failure: "weights-mismatch",
    severity: "warning",
    needles: [
      "| MISSING",
      "newly initialized",
      "were not initialized from the model checkpoint",
      "missing adapter keys",
    ],
    pattern:
      /^(?:(?!(?:classifier|score|qa_outputs|pre_classifier|pooler)\b)[\w.*{}, ]{3,200} {1,80}\| MISSING {1,10}\||Some weights of (?<model>(?!\w{1,60}For(?:Sequence|Token|Image|Audio)Classification|\w{1,60}ForQuestionAnswering|\w{1,60}ForMultipleChoice)\w{1,80}) were not initialized from the model checkpoint.{0,300}|(?:.{0,300}UserWarning: )?Found missing adapter keys while loading the checkpoint)/,
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
    needles: [
      "Error(s) in loading state_dict",
      "size mismatch for",
      "weights were not initialized from checkpoint",
      "There is no module or parameter named",
    ],
    pattern:
      /Error\(s\) in loading state_dict for (?<model>\w{1,80})|size mismatch for (?<key>[\w.]{1,120})|weights were not initialized from checkpoint|There is no module or parameter named/,
    cause: "The checkpoint does not fit the model: keys are missing or shapes differ.",
    remedy: "Use the configuration that the checkpoint was made with.",
  }),
  rule({
    failure: "empty-output",
    severity: "warning",
    needles: [
      ...["are empty", "were empty", "is empty", "s written", "s saved", "s generated", "produced output"],
      ...["rote 0 ", "Saved 0 ", "saved 0 ", "enerated 0 ", "xported 0 ", "umped 0 ", "roduced 0 ", "ollected 0 "],
      "mpty completion",
      "mpty response",
    ],
    pattern: new RegExp(
      String.raw`^(?:[\w.]{1,30}: ?)*(?:(?<empty>[1-9]\d*) (?:of|out of|/) ?(?<all>[1-9]\d*) (?:model )?${things} (?:are|were|came back) empty|[Ee]mpty (?:completion|response|output)s? (?:for|in) (?<blank>[1-9]\d*) (?:of|out of|/) ?(?<whole>[1-9]\d*)|(?:[Ww]rote|[Ss]aved|[Gg]enerated|[Ee]xported|[Dd]umped|[Pp]roduced|[Cc]ollected) 0 (?:(?:of|out of|/) ?[1-9]\d* )?${things}\b|0 (?:(?:of|out of|/) ?[1-9]\d* )?${things} (?:were |was )?(?:written|saved|generated|produced)\b|(?:(?:[Tt]he )?(?:output|result|dataset|split)\b.{0,200}?) is empty\b)`,
      "u",
    ),
    unless: /existing|new (?:samples|rows|records)|nothing to do|already|checking|if (?:it|the)/i,
    cause: (captured) =>
      captured["empty"] === undefined && captured["blank"] === undefined
        ? "The tool wrote no output at all."
        : `${captured["empty"] ?? group(captured, "blank")} of ${captured["all"] ?? group(captured, "whole")} results are empty.`,
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
      "is non-finite",
      "returned nan values",
      "invalid value (nan)",
      "Invalid loss, terminating",
      "Non-finite loss",
      "on-finite grad",
      "training_step` is nan",
      "NaN loss",
    ],
    pattern:
      /^(?:[\w.]*(?:Error|Exception): )?(?:Loss is (?:nan|NaN|inf),? (?:stopping|exiting|aborting).{0,100}|(?:.{0,120})Current loss scale already at minimum.{0,120}|(?:.{0,80})[Mm]inimum loss scale reached.{0,120}|Rank \d+(?:: found NaN in |,.{1,100}: Unexpected result nan).{1,120}|probability tensor contains either .{1,80}|(?:[Tt]raining )?[Ll]oss (?:is|became) (?:nan|NaN)\b.{0,120}|found NaN in .{1,120}|The loss returned in `training_step` is (?:nan|inf)|Function '\w{1,60}' returned nan values in its|The total norm of .{1,80} is non-finite|invalid value \(nan\) encountered|(?:Batch \d+: )?Invalid loss, terminating training|(?:.{0,80} )?(?:[Nn]on-finite|NaN) (?:loss|grad\w{0,10})\b.{0,80}(?:stopping|exiting|aborting|terminating).{0,40})/,
    scope: "both",
    weight: 3,
    cause: "The loss or a gradient is not a number any more: the training has diverged.",
    remedy:
      "Go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  }),
  // apex halves the scale without end, DeepSpeed down to its least: a few overflows at the start are normal, this is not
  rule({
    failure: "nan-loss",
    weight: 3,
    needles: [
      "reducing loss scale to ",
      "Attempted loss scale: 1, reducing to 1",
      "Attempted loss scale: 1.0, reducing to 1.0",
    ],
    pattern:
      /^(?:Gradient overflow\. {1,2}Skipping step, loss scaler \d{1,3} reducing loss scale to (?:0\.\d{1,40}|0|\d(?:\.\d{1,40})?e-\d{1,4})$|.{0,60}OVERFLOW! .{0,60}Attempted loss scale: (?<least>1(?:\.0)?), reducing to 1(?:\.0)?$)/,
    held: { takenBack: /(?!)/, confirmed: /reducing loss scale to|, reducing to / },
    cause:
      "Step after step overflows, down to the least loss scale: the gradients are not numbers any more, and nothing is learnt.",
    remedy:
      "Go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  }),
  // counts of what was left out, when there are many
  rule({
    failure: "partial-output",
    severity: "warning",
    needles: [
      ...["kipped ", "kipping ", "ropped ", "ropping ", "iscarded ", "eft out ", "issing "].map((word) => `${word}\\d`),
      ...[
        "failed and were ",
        "failed, skipping",
        "failed; skipping",
        "missing, skipping",
        "could not be read, skipping",
      ],
      ...["s were dropped", "s were left out", "s were lost", "s are missing"],
    ],
    pattern: new RegExp(
      String.raw`^(?:[\w.]{1,30}: ?)*(?:(?:[Ss]kipp|[Dd]ropp|[Dd]iscard)(?:ed|ing) (?<out>[1-9]\d*) (?:of|out of|/) ?(?<all>[1-9]\d*) ${things}|(?<lost>[1-9]\d*) (?:of|out of|/) ?(?<whole>[1-9]\d*) ${things} (?:were|are) (?:dropped|skipped|left out|lost|missing)|(?<failed>[1-9]\d*) (?:requests|${things}) failed and were (?:left out|dropped|skipped)|(?:[Ss]hard|[Pp]art|[Ff]ile) \S{1,120} (?:failed|is missing|missing|could not be read)[,;] (?:skipping|ignoring|continuing))`,
      "u",
    ),
    unless: /\balready\b|\bexist|\bcached\b|\boptional\b/,
    when: (captured) => shareOf(captured) >= largeShare,
    cause: (captured) =>
      `${captured["out"] ?? captured["lost"] ?? captured["failed"] ?? "A part"}${(captured["all"] ?? captured["whole"]) ? ` of ${captured["all"] ?? group(captured, "whole")}` : ""} of the data was left out of the output.`,
    remedy:
      "Find out why (the lines above), count the outputs before the next stage uses them, and run the missing ones again.",
  }),
  // a client's own summary; a single failed request among many is normal
  rule({
    failure: "request-errors",
    needles: [
      "\\d\\d failed",
      "\\d\\d errors",
      "failed: \\d\\d",
      "failed=\\d\\d",
      "errors=\\d\\d",
      "errors: \\d\\d",
      "requests failed",
      "prompts failed",
    ],
    pattern: summary,
    when: (captured) => failedShare(captured) >= mostFailed,
    cause: (captured) =>
      `The requests of this stage fail: ${captured["failed"] ?? captured["bad"] ?? group(captured, "every")} of them did.`,
    remedy:
      "Look at the first error of a request: time-outs need fewer requests at once or a longer client time-out, HTTP 400 a correct request (model name, length, chat template).",
    subject: () => ({}),
  }),
  // an evaluation or a generator whose server refuses what it asks
  rule({
    failure: "request-errors",
    scope: "exception",
    weight: 2,
    needles: ["Client Error: "],
    pattern:
      /HTTPError: (?<status>4(?:00|04|05|13|15|22)) Client Error: .{0,60} for url: https?:\/\/[^/\s]{1,200}\/(?:v1\/|generate|completions?\b|chat\/|api\/(?:chat|generate)\b)/,
    cause: (captured) => `The server refuses the requests of this stage (HTTP ${group(captured, "status")}).`,
    remedy:
      "Compare what is sent with what the server takes: the model's name (`curl …/v1/models`), the path, the length, the chat template.",
    subject: () => ({}),
  }),
  rule({
    failure: "partial-output",
    severity: "warning",
    needles: [
      "\\d\\d failed",
      "\\d\\d errors",
      "failed: \\d\\d",
      "failed=\\d\\d",
      "errors=\\d\\d",
      "errors: \\d\\d",
      "requests failed",
      "prompts failed",
    ],
    pattern: summary,
    when: (captured) => failedShare(captured) >= largeShare,
    cause: (captured) =>
      `${captured["failed"] ?? group(captured, "bad")} requests failed, and their results are missing.`,
    remedy: "Count the outputs before the next stage uses them, and run the missing ones again.",
  }),
  rule({
    failure: "nan-loss",
    scope: "exception",
    weight: 2,
    needles: [
      "etected NaN",
      "NaN detected",
      "ncountered NaN",
      "NaN encountered",
      "ound NaN",
      "NaN found",
      "etected nan",
      "nan detected",
    ],
    pattern:
      /\b(?:[Dd]etected|[Ee]ncountered|[Ff]ound) (?:an? )?[Nn]a[Nn]s?\b|\b[Nn]a[Nn]s? (?:was |were )?(?:detected|encountered|found)\b/,
    cause: "A value became NaN (not a number), and the program stopped for it.",
    remedy:
      "Go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  }),
  rule({
    failure: "partial-output",
    needles: [
      "Final Job Status: CompletedWith",
      "files/objects could not be",
      "download failed: s3://",
      "upload failed: ",
    ],
    pattern:
      /^(?:Final Job Status: (?:CompletedWithErrors|CompletedWithSkipped|Failed)\b|CommandException: \d{1,9} files?\/objects? could not be|(?:download|upload) failed: .{1,600} An error occurred \((?!SlowDown)\w{1,60}\) when calling )/,
    cause: "Some files were not transferred.",
    remedy: "Start the transfer again: what is there already is passed over; the lines above name the files.",
  }),
  // its last word also when a script goes on
  rule({
    failure: "partial-output",
    weight: 0,
    needles: ["(code 23)", "(code 24)"],
    pattern:
      /^rsync error: some files\/attrs were not transferred .{0,60}\(code 23\)|^rsync warning: some files vanished .{0,80}\(code 24\)/,
    cause: "The copy is not complete: some files were not transferred.",
    remedy:
      "Mend what the lines above name (rights, names, a full disk), then start it again: what is there already is passed over.",
  }),
  rule({
    failure: "empty-output",
    needles: ["Output file is empty, nothing was encoded"],
    pattern: /^Output file is empty, nothing was encoded/,
    cause: "Nothing was written: the output is empty.",
    remedy:
      "Look at the options that cut the input (-ss, -t, filters), and at whether the input has what is asked for.",
  }),
  rule({
    failure: "silent-fallback",
    severity: "warning",
    needles: ["Device is changed from GPU to CPU", "bitsandbytes was compiled without GPU support"],
    pattern:
      /^(?:.{0,120}\.cc:\d{1,5}: Device is changed from GPU to CPU|(?:.{0,200}UserWarning: )?The installed version of bitsandbytes was compiled without GPU support)/,
    cause: "It goes on without the GPU, many times slower.",
    remedy: "Install the build for this GPU, and look with nvidia-smi whether one is there.",
  }),
];

function failedShare(captured: Captured): number {
  if (captured["every"] !== undefined) return 1;
  const failed = Number(captured["failed"] ?? captured["bad"]);
  const all =
    captured["all"] === undefined ? failed + Number(captured["good"] ?? captured["fine"]) : Number(captured["all"]);
  return failed / Math.max(1, all);
}

function shareOf(captured: Captured): number {
  const all = Number(captured["all"] ?? captured["whole"] ?? 0);
  return all === 0 ? 1 : Number(captured["out"] ?? captured["lost"] ?? 0) / all;
}
