import type { LogRule } from "../../session/definition";
import type { PeeledLine } from "../prefixes";
import type { FailureReading, LogVerdict, ProgressReading } from "../reading";
import { exceptionRules } from "./rules";
import { HeldFindings, type Finding } from "./held";
import { matchRule, type FailureRule } from "./rule";
import { placed } from "./place";
import { TracebackTracker, type ExceptionChain, type LinePlace, type RaisedException } from "./tracebacks";
import { TrendWatcher } from "./trends";
import { UserRules } from "./userRules";

const bareException =
  /^(?:(?:[a-z_]\w*\.){0,12}[A-Z]\w*(?:Error|Exception|Failure|Timeout)|(?:[a-z_]\w*\.){1,12}[A-Z]\w*)(?:\([\w.]{1,80}\))?: \S/;
const notFailures =
  /^(?:KeyboardInterrupt|(?:Base)?ExceptionGroup\b|SystemExit(?:: 0)?$|(?:[\w.]*\.)?CancelledError|GeneratorExit)/;
/** Lines that a failure's echoes may come after it. */
const echoLines = 100;
/** Exceptions that only say that another process failed. */
const consequences =
  /^(?:[\w.]*\.)?(?:ChildFailedError|CalledProcessError|ProcessExitedException|ProcessRaisedException)\b/;
/** Failures of a script's step; the next step fails for reasons of its own. */
const withoutEcho = new Set([
  "command-not-found",
  "deprecated-command",
  "env-setup",
  "dependency-conflict",
  "permission",
]);

/** Ends that come from outside with a SIGKILL: who is killed then had memory enough. */
const takenAway = new Set(["time-limit", "preempted", "node-failure"]);
/** Mistakes of the program itself: they are no echo of what failed elsewhere. */
const ownMistakes =
  /^(?:KeyError|IndexError|TypeError|NameError|UnboundLocalError|ZeroDivisionError|RecursionError|NotImplementedError|UnicodeDecodeError|UnicodeEncodeError)\b/;
/** A line of a chat, or a field of a record: what it says was written by a person or a model. */
const spoken =
  /^(?:<\|)?(?:user|assistant|human|system|gpt|tool|prompt|response|completion|question|answer|instruction)(?:\|>)?\s{0,2}:/i;
/** A script's own name before its lines; not the role of a chat. */
const scriptTag =
  /^\[(?!(?:user|assistant|human|system|gpt|tool|prompt|response|model)\b)[A-Za-z][\w./-]{1,30}\] (?=\S)/i;
/** `cp: `, `python3: `: another program says something, so the one that raised an exception before it is gone. */
const programSpeaks = /^(?:\/[\w./+-]{1,80}|[a-z][\w.+-]{0,40}): /;
/** What could be found in a line: the rules of which it holds a needle. */
export interface AskedRules {
  readonly rules: readonly FailureRule[];
  /** It may be an exception without a traceback that a rule for exceptions knows. */
  readonly bareException: boolean;
}

/**
 * Finds failures in the lines of a log: one reading for one cause, however many lines repeat it. A line that claims
 * success never takes a failure back.
 */
export class FailureFinder {
  readonly #tracebacks = new TracebackTracker();
  readonly #trends = new TrendWatcher();
  readonly #held = new HeldFindings();
  readonly #seen = new Set<string>();
  readonly #own: UserRules | undefined;
  #failed = false;
  #lastError = Number.NEGATIVE_INFINITY;
  #lastTakenAway = Number.NEGATIVE_INFINITY;
  #verdict: LogVerdict = "healthy";
  #lastLabel: string | undefined;
  #lastDone: number | undefined;

  /**
   * @param rules of the session file, tried before all others
   * @throws ExpectedError in plain words for a rule that cannot be used
   */
  constructor(rules: readonly LogRule[] = []) {
    this.#own = rules.length === 0 ? undefined : new UserRules(rules);
  }

  /** Whether it has rules of a session file, which want to see all text. */
  get hasOwn(): boolean {
    return this.#own !== undefined;
  }

  /** Whether lines mean something that would mean nothing by themselves: all must be looked at. */
  get wantsLines(): boolean {
    return this.#own !== undefined || this.#tracebacks.wantsLines || this.#held.wantsLines;
  }

  /** Whether requests that were served well mean something. */
  get wantsRequests(): boolean {
    return this.#trends.refusing;
  }

  /** What all lines so far say. A traceback that still waits for its end counts. */
  verdict(): LogVerdict {
    return this.#verdict;
  }

  /** Takes a line (or a segment of one) and returns what it completes. @param asked the rules that could fit it */
  look(peeled: PeeledLine, place: LinePlace, asked: AskedRules): readonly FailureReading[] {
    const { consumed, finished } = this.#tracebacks.feed(peeled, place);
    const readings = this.#finished(finished);
    if (this.#held.some) readings.push(...this.#decided(this.#held.decide(peeled.body)));
    if (!consumed) readings.push(...this.#line(peeled, place, asked));
    return readings;
  }

  /** Takes a reading of progress: runs of them can show a failure, and a process that goes on has survived its last traceback. */
  progress(reading: ProgressReading, where: () => LinePlace, body: string): readonly FailureReading[] {
    const finished = this.#tracebacks.progressed(reading.source, this.#drawnAgain(reading));
    const readings = finished.length === 0 ? [] : this.#finished(finished);
    // A quick way gives no body: that there was progress is what counts.
    if (this.#held.some && body !== "") readings.push(...this.#decided(this.#held.decide(body)));
    if (this.#held.some) readings.push(...this.#decided(this.#held.decide("progress")));
    const own = this.#own?.look(body);
    if (own === "harmless") return readings;
    if (own !== undefined) {
      const place = where();
      return [...readings, ...this.#found({ ...own, place, startLine: place.line })];
    }
    const trend = this.#trends.progress(reading, where);
    if (trend !== undefined) readings.push(...this.#report(trend));
    return readings;
  }

  /** A bar is drawn once more when it is closed, also by an exception: that is no progress. */
  #drawnAgain({ label, done }: ProgressReading): boolean {
    const again = done !== undefined && done === this.#lastDone && label === this.#lastLabel;
    this.#lastLabel = label;
    this.#lastDone = done;
    return again;
  }

  /** Returns what was only waiting for lines that may never come. */
  settle(): readonly FailureReading[] {
    const readings = this.#tracebacks.settle().flatMap((chain) => this.#chain(chain));
    return [...readings, ...this.#held.settle().flatMap((finding) => this.#certain(finding))];
  }

  /** The log has ended: nothing will be taken back any more. */
  end(): readonly FailureReading[] {
    return [...this.settle(), ...this.#decided(this.#held.end())];
  }

  #decided(finding: Finding | undefined): readonly FailureReading[] {
    return finding === undefined ? [] : this.#certain(finding);
  }

  /** @param echoes what says less and comes soon after it follows from it */
  #report(finding: FailureReading, echoes = !withoutEcho.has(finding.failure)): readonly FailureReading[] {
    const key = `${finding.failure} ${JSON.stringify(finding.subject)}`;
    if (this.#seen.has(key)) return [];
    this.#seen.add(key);
    if (finding.severity === "error") {
      this.#verdict = "failed";
      this.#failed = true;
      if (echoes) this.#lastError = finding.line;
      if (takenAway.has(finding.failure)) this.#lastTakenAway = finding.line;
    } else if (this.#verdict === "healthy") {
      this.#verdict = "warning";
    }
    return [finding];
  }

  #line(peeled: PeeledLine, place: LinePlace, asked: AskedRules): readonly FailureReading[] {
    const body = peeled.body.trimStart();
    if (body === "") return [];
    const own = this.#own?.look(body);
    if (own === "harmless") return [];
    if (own !== undefined) return this.#found({ ...own, place, startLine: place.line });
    if (spoken.test(body)) return [];
    const said = explainLine(body, peeled.level, asked.rules) ?? explainTagged(body, peeled.level, asked.rules);
    if (said !== undefined) return this.#explained(said, peeled.source, body, place);
    const trend = this.#trends.line(body, place);
    if (trend !== undefined && !this.#isEcho(place.line)) return this.#report(trend);
    return asked.bareException ? this.#bare(peeled, place) : [];
  }

  #explained(said: Explanation, source: string, body: string, place: LinePlace): readonly FailureReading[] {
    const waiting = this.#tracebacks.waiting(source);
    // The line explains the exception above it, which is reported with it.
    if (waiting !== undefined && explain(waiting)?.rule.failure === said.rule.failure) return [];
    // What a launcher says last, and what only follows from something, is weighed against all that was said before.
    const last = said.rule.lastWord === true || said.rule.weight < 2 || programSpeaks.test(body);
    const before = last ? this.settle() : [];
    return [...before, ...this.#found({ ...said, place, startLine: place.line })];
  }

  /** An exception that is printed without a traceback counts only when a rule knows its cause. */
  #bare(peeled: PeeledLine, place: LinePlace): readonly FailureReading[] {
    if (!bareException.test(peeled.body)) return [];
    const known = explain(peeled.body);
    return known === undefined || known.rule.weight < 2 ? [] : this.#found({ ...known, place, startLine: place.line });
  }

  /** A launcher's exception ends the log of a process that says nothing more: what that one raised comes first. */
  #finished(chains: readonly ExceptionChain[]): FailureReading[] {
    return chains.flatMap((chain) => {
      const before = consequences.test(chain.raised.at(-1)?.message ?? "") ? this.settle() : [];
      return [...before, ...this.#chain(chain)];
    });
  }

  #chain(chain: ExceptionChain): readonly FailureReading[] {
    if (chain.harmless) return [];
    const raised = chain.raised.filter((one) => !notFailures.test(one.message));
    const last = raised.at(-1);
    if (last === undefined) return [];
    const own = this.#ownOf(chain, raised);
    if (own !== undefined) return own === "harmless" ? [] : this.#found(own);
    return this.#raised(chain, last, bestOf(chain, raised));
  }

  /** @param best what the rules know about it */
  #raised(chain: ExceptionChain, last: RaisedException, best: Finding | undefined): readonly FailureReading[] {
    const unclear = best === undefined || best.rule.weight < 2;
    if (chain.thread !== undefined && unclear) return this.#report(threadDied(chain, chain.thread, last.place));
    // What one request did wrong; that many are refused shows in the answers.
    if (chain.request && (unclear || best.rule.failure === "config-error")) return [];
    if (best !== undefined) return this.#found(best);
    if (chain.logging) return [];
    const echo = this.#isEcho(last.place.line) && !ownMistakes.test(last.message);
    if (this.#failed && consequences.test(last.message)) return [];
    return echo ? [] : this.#report(unknownException(chain, last.message, last.place));
  }

  /** What the session file says about the exceptions of a chain; the first that it knows decides. */
  #ownOf(chain: ExceptionChain, raised: readonly RaisedException[]): Finding | "harmless" | undefined {
    for (const { message, place } of this.#own === undefined ? [] : raised) {
      const own = this.#own?.look(message);
      if (own !== undefined) return own === "harmless" ? own : { ...own, place, startLine: chain.startLine };
    }
    return undefined;
  }

  #found(finding: Finding): readonly FailureReading[] {
    if (finding.rule.held === undefined) return this.#certain(finding);
    this.#held.hold(finding);
    return [];
  }

  #certain(finding: Finding): readonly FailureReading[] {
    const { rule, captured, place, startLine } = finding;
    if (rule.failure === "killed-oom" && rule.weight < 3 && place.line - this.#lastTakenAway <= echoLines) return [];
    if (rule.weight === 0 && (rule.lastWord === true ? this.#failed : this.#isEcho(place.line))) return [];
    const reading = {
      ...placed(place, startLine),
      failure: rule.failure,
      severity: rule.severity,
      permanent: rule.permanent,
      // What is quoted may end with a full stop of its own.
      cause: rule.cause(captured).replace(/(?<!\.)\.\.$/, "."),
      remedy: rule.remedy(captured),
      subject: rule.subject?.(captured) ?? {},
    };
    return rule.heading === true ? this.#report(reading, false) : this.#report(reading);
  }

  /** A cause was found a moment ago: what only says that something went wrong follows from it. */
  #isEcho(line: number): boolean {
    return line - this.#lastError <= echoLines;
  }
}

type Explanation = Pick<Finding, "rule" | "captured">;

/** The first rule that fits a line. A loose rule does not hold for what a logger calls information. */
function explainLine(body: string, level: string, rules: readonly FailureRule[]): Explanation | undefined {
  const chatty = level === "INFO" || level === "DEBUG" || level === "TRACE";
  for (const rule of rules) {
    if (chatty && rule.scope === "both") continue;
    const captured = matchRule(rule, body);
    if (captured !== undefined) return { rule, captured };
  }
  return undefined;
}

/** What a script says behind a name of its own: `[bench] `. */
function explainTagged(body: string, level: string, rules: readonly FailureRule[]): Explanation | undefined {
  if (rules.length === 0 || !body.startsWith("[")) return undefined;
  const inner = body.replace(scriptTag, "");
  return inner === body || spoken.test(inner) ? undefined : explainLine(inner, level, rules);
}

/** The rule that knows most about an exception. */
function explain(message: string): Explanation | undefined {
  let best: Explanation | undefined;
  for (const rule of exceptionRules) {
    if (best !== undefined && rule.weight <= best.rule.weight) continue;
    const captured = matchRule(rule, message);
    if (captured !== undefined) best = { rule, captured };
  }
  return best;
}

/** The exception of a chain that explains most; of equals the last. */
function bestOf(chain: ExceptionChain, raised: readonly RaisedException[]): Finding | undefined {
  let best: Finding | undefined;
  for (const { message, place } of raised) {
    const known = explain(message);
    if (known !== undefined && (best === undefined || known.rule.weight >= best.rule.weight))
      best = { ...known, place, startLine: chain.startLine };
  }
  return best;
}

function threadDied(chain: ExceptionChain, thread: string, place: LinePlace): FailureReading {
  return {
    ...placed(place, chain.startLine),
    failure: "worker-died",
    severity: "error",
    permanent: false,
    cause: `The thread ${thread} died of an exception while the program goes on without it; what it did (writing results, for example) is no longer done.`,
    remedy: "Stop the job, mend the exception that is named, and start it again.",
    subject: { thread },
  };
}

function unknownException(chain: ExceptionChain, message: string, place: LinePlace): FailureReading {
  const [first] = message.split("\n");
  const words = (first ?? message).slice(0, 300);
  return {
    ...placed(place, chain.startLine),
    failure: "python-exception",
    severity: "error",
    permanent: false,
    ...(consequences.test(message)
      ? {
          cause: `Another process of the job failed, and its own error is not in this log: ${words}`,
          remedy:
            "Look into the log of that process; with torchrun, `--tee 3` brings the output of every rank here, and @record on the main function its traceback.",
        }
      : {
          cause: `The program stopped with an exception: ${words}`,
          remedy:
            "Read the traceback from its last line of your own code upwards; mend that, and start the stage again.",
        }),
    subject: { exception: words.replace(/\d+/g, "0").slice(0, 120) },
  };
}
