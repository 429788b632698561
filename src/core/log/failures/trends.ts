import type { FailureReading, ProgressReading } from "../reading";
import { placed } from "./place";
import type { LinePlace } from "./tracebacks";

/** Readings in a row before a run of them means something. */
const nanRun = 2;
const idleRun = 3;
const refusedRun = 5;
const noticeRun = 3;
const droppedRun = 3;
/** Requests that failed, and their share, before the stage counts as failing. */
const failedRequests = 20;
const failedShare = 0.5;

const servedRequest =
  /^(?:INFO: {1,9})?(?:\S{1,60} - )?"POST \/(?:v1\/|generate|invocations|completion)[^"]{0,200} HTTP\/[\d.]{1,3}" (?<status>\d{3})\b/;
const nanLine = /\b(?:loss|Loss)["']?(?: is| ?[:=])? {0,8}["']?(?:nan|NaN|NAN|inf)\b/;
/** Lines in which the next such line must come. */
const nanLines = 200;
/** LLaMA-Factory */
const droppedExample = /^Dropped invalid example\b/;
const waitingNotice =
  /^No available shared memory broadcast block found in \d+ second|^Health check failed\. Server couldn't get a response from detokenizer/;

/** In each line that this finds something in, requests that were served well aside. */
export const trendNeedles: readonly string[] = [
  "No available shared memory broadcast block found in ",
  "Dropped invalid example",
  "Health check failed. Server couldn't get a response",
  ...["loss nan", "loss: nan", "loss:nan", "loss=nan", "loss = nan", "loss  nan", "loss NaN", "loss: NaN", "loss=NaN"],
  ...["loss': nan", 'loss": nan', 'loss": NaN', "Loss nan", "Loss: nan", "Loss: NaN"],
  ...["1.0", "1.1", "2", "2.0", "3"].flatMap((version) => [`HTTP/${version}" 4`, `HTTP/${version}" 5`]),
];
/** In each line about a request: one that was served well ends a run of others. */
export const requestNeedle = '"POST /';

type Found = Pick<FailureReading, "failure" | "severity" | "permanent" | "cause" | "remedy" | "subject">;

interface Run {
  count: number;
  first: LinePlace | undefined;
}

/** Failures that no single line shows: runs of readings. One event is normal, the same again and again is not. */
export class TrendWatcher {
  readonly #nan = new Map<string, Run>();
  readonly #nanLines: Run = { count: 0, first: undefined };
  readonly #idle = new Map<string, Run>();
  #served = 0;
  #noneServed: LinePlace | undefined;
  readonly #refused: Run = { count: 0, first: undefined };
  readonly #dropped: Run = { count: 0, first: undefined };
  readonly #notices: Run = { count: 0, first: undefined };

  /** Whether requests were refused: then those that are served well mean something. */
  get refusing(): boolean {
    return this.#refused.count > 0;
  }

  /** Takes a reading of progress; asks where it stands only when it is part of a run. */
  progress(reading: ProgressReading, where: () => LinePlace): FailureReading | undefined {
    if (reading.label === "Fetching 0 files") return failure(where(), nothingFetched);
    if (blankAnswers(reading)) return failure(where(), nothingAnswered);
    const benched = reading.format === "vllm-bench" ? this.#bench(reading, where) : undefined;
    return (
      benched ?? this.#nanLoss(reading, where) ?? this.#idleServer(reading, where) ?? failedShareOf(reading, where)
    );
  }

  /** Takes any other line, without prefixes. */
  line(body: string, place: LinePlace): FailureReading | undefined {
    if (body.includes('"POST /')) {
      const status = servedRequest.exec(body)?.groups?.["status"];
      if (status !== undefined) return this.#request(Number(status), place);
    }
    if (nanLine.test(body)) return this.#nanLine(place);
    if (droppedExample.test(body))
      return grown(this.#dropped, droppedRun, place)
        ? failure(this.#dropped.first ?? place, droppedExamples)
        : undefined;
    if (!waitingNotice.test(body)) return undefined;
    return grown(this.#notices, noticeRun, place) ? failure(place, hungServer) : undefined;
  }

  #nanLoss(reading: ProgressReading, where: () => LinePlace): FailureReading | undefined {
    const { metrics } = reading;
    if (metrics === undefined) return undefined;
    const { loss, eval_loss: evalLoss } = metrics;
    if (loss === undefined && evalLoss === undefined) return undefined;
    if (loss === "nan" || evalLoss === "nan" || (loss === 0 && metrics["grad_norm"] === "nan")) {
      const run = runOf(this.#nan, reading.source);
      const place = where();
      return grown(run, nanRun, place) ? failure(run.first ?? place, nanLoss) : undefined;
    }
    this.#nan.delete(reading.source);
    return undefined;
  }

  /** A loss that is not a number, in a line that is no reading of progress. */
  #nanLine(place: LinePlace): FailureReading | undefined {
    const run = this.#nanLines;
    if (run.first !== undefined && place.line - run.first.line > nanLines) reset(run);
    return grown(run, nanRun, place) ? failure(run.first ?? place, nanLoss) : undefined;
  }

  /** A benchmark prints the requests that succeeded and those that failed in two lines. */
  #bench(reading: ProgressReading, where: () => LinePlace): FailureReading | undefined {
    const none = this.#noneServed;
    this.#noneServed = reading.done === 0 ? where() : undefined;
    if (reading.done !== undefined) this.#served = reading.done;
    const { errors = 0 } = reading;
    // Older versions have no line for those that failed.
    if (none !== undefined && reading.errors === undefined)
      return failure(none, requestErrors("not one of them succeeded"));
    if (errors < failedRequests || errors / (errors + this.#served) < failedShare) return undefined;
    return failure(where(), requestErrors(`${errors} of ${errors + this.#served} requests failed`));
  }

  #idleServer(reading: ProgressReading, where: () => LinePlace): FailureReading | undefined {
    const { metrics } = reading;
    if (metrics === undefined) return undefined;
    const { running, gen_tok_s: generated } = metrics;
    if (running === undefined || generated === undefined) return undefined;
    if (typeof running === "number" && running > 0 && generated === 0 && (metrics["prompt_tok_s"] ?? 0) === 0) {
      const place = where();
      return grown(runOf(this.#idle, reading.source), idleRun, place) ? failure(place, hungServer) : undefined;
    }
    this.#idle.delete(reading.source);
    return undefined;
  }

  #request(status: number, place: LinePlace): FailureReading | undefined {
    if (status < 400 || status === 429) {
      reset(this.#refused);
      return undefined;
    }
    return grown(this.#refused, refusedRun, place)
      ? failure(this.#refused.first ?? place, requestErrors(`the server answers every request with HTTP ${status}`))
      : undefined;
  }
}

function failedShareOf(reading: ProgressReading, where: () => LinePlace): FailureReading | undefined {
  const { done, errors } = reading;
  if (done === undefined || errors === undefined || errors < failedRequests) return undefined;
  const share = errors / Math.max(done, errors);
  if (share < failedShare) return undefined;
  return failure(where(), requestErrors(`${errors} of ${Math.max(done, errors)} requests failed`));
}

/** Enough requests were answered, and all answers are empty. */
function blankAnswers(reading: ProgressReading): boolean {
  const { done = 0, errors = 0, metrics } = reading;
  return metrics?.["avg_completion_tokens"] === 0 && done - errors >= failedRequests;
}

function runOf(runs: Map<string, Run>, source: string): Run {
  const known = runs.get(source) ?? { count: 0, first: undefined };
  runs.set(source, known);
  return known;
}

function grown(run: Run, enough: number, place: LinePlace): boolean {
  run.count++;
  run.first ??= place;
  return run.count === enough;
}

function reset(run: Run): void {
  run.count = 0;
  run.first = undefined;
}

function failure(place: LinePlace, found: Found): FailureReading {
  return { ...placed(place, place.line), ...found };
}

const nanLoss: Found = {
  failure: "nan-loss",
  severity: "error",
  permanent: false,
  cause:
    "From here on the loss is not a number (or exactly 0 with a gradient that is not a number): the model is destroyed and the rest of the run is lost.",
  remedy:
    "Stop it and go back to an earlier checkpoint; use bf16 instead of fp16, a lower learning rate, gradient clipping, and look at the batch.",
  subject: {},
};

const nothingFetched: Found = {
  failure: "empty-output",
  severity: "warning",
  permanent: true,
  cause: "The download says that it is done, but it has fetched nothing: no file of the repository fits the pattern.",
  remedy: "Check --include, --exclude and the file names against the repository's list of files.",
  subject: {},
};

const nothingAnswered: Found = {
  failure: "empty-output",
  severity: "warning",
  permanent: false,
  cause: "The requests are answered, but all answers are empty.",
  remedy: "Look at a raw answer: mostly a stop token comes first, the token limit is 0, or the chat template is wrong.",
  subject: {},
};

const droppedExamples: Found = {
  failure: "partial-output",
  severity: "warning",
  permanent: true,
  cause: "Examples are left out because they are not as the trainer wants them (the turns of a chat must alternate).",
  remedy:
    "Compare the number of examples that the trainer names with that of the data; mend the data's format or its columns.",
  subject: {},
};

const hungServer: Found = {
  failure: "stalled",
  severity: "warning",
  permanent: false,
  cause: "The server holds requests, yet it has not produced a token for a while: it seems to hang.",
  remedy:
    "Look at the GPUs and at the server's newest lines (py-spy dump --pid PID); restart the server if nothing moves.",
  subject: {},
};

function requestErrors(what: string): Found {
  return {
    failure: "request-errors",
    severity: "error",
    permanent: false,
    cause: `The requests of this stage fail: ${what}.`,
    remedy:
      "Look at the first error of a request: time-outs need fewer requests at once or a longer client time-out, HTTP 400 a correct request (model name, length, chat template).",
    subject: {},
  };
}
