/** What a rule captured: the named groups of its pattern. */
export type Captured = Readonly<Record<string, string | undefined>>;

/** Where a rule looks: at the start of a line without prefixes, at an exception with its message, or at both. */
export type RuleScope = "line" | "exception" | "both";

/** What later lines make of a finding that is not certain yet. */
export interface HeldUntil {
  /** Such a line shows that the program goes on all the same. */
  readonly takenBack: RegExp;
  /** Such a line confirms it; without this, any other line does, and so does the end of the log. */
  readonly confirmed?: RegExp;
  /** Such a line takes it back whatever it is about. */
  readonly allTakenBack?: RegExp;
  /** Only lines that hold this decide; a finding that names nothing is about what the one before it was about. */
  readonly about?: (captured: Captured) => string | undefined;
  /** Lines that say nothing by themselves may take it back. */
  readonly everyLine?: boolean;
}

/** One kind of failure in one family of wordings. The words of tools change with versions: rules are data. */
export interface FailureRule {
  /** The kind, a stable name that users see. */
  readonly failure: string;
  readonly severity: "error" | "warning";
  /** A retry cannot help. */
  readonly permanent: boolean;
  readonly scope: RuleScope;
  /**
   * One of these must be in the text: lines without are never decoded. Six bytes or more, `\d` for any digit, and rare in
   * lines that say nothing; a test holds the former.
   */
  readonly needles: readonly string[];
  /** For lines anchored at the start; for exceptions it may stand anywhere in the message. */
  readonly pattern: RegExp;
  /** Harmless look-alikes. */
  readonly unless?: RegExp;
  /** It is the last word of a launcher: it counts only when nothing else was found before it. */
  readonly lastWord?: boolean;
  /** It stands above the cause, which is no echo of it. */
  readonly heading?: boolean;
  /** What was captured must also be so. */
  readonly when?: (captured: Captured) => boolean;
  /** It counts only after what comes next. */
  readonly held?: HeldUntil;
  /**
   * How much the rule knows: 0 names an exception, 1 names a consequence, 2 a cause, 3 a cause that other causes hide
   * behind. In a chain of exceptions the highest wins, and of equals the last.
   */
  readonly weight: 0 | 1 | 2 | 3;
  readonly cause: (captured: Captured) => string;
  readonly remedy: (captured: Captured) => string;
  /** What was named; also tells two failures of one kind apart. */
  readonly subject?: (captured: Captured) => Readonly<Record<string, string>>;
}

/** A rule with the usual defaults: an error of a line, weight 2. */
export function rule(
  given: Pick<FailureRule, "failure" | "needles" | "pattern"> &
    Partial<Omit<FailureRule, "cause" | "remedy">> & {
      readonly cause: string | FailureRule["cause"];
      readonly remedy: string | FailureRule["remedy"];
    },
): FailureRule {
  const { cause, remedy } = given;
  return {
    severity: "error",
    permanent: false,
    scope: "line",
    weight: 2,
    ...given,
    cause: typeof cause === "string" ? () => cause : cause,
    remedy: typeof remedy === "string" ? () => remedy : remedy,
  };
}

/** The named groups if the rule fits. */
export function matchRule(candidate: FailureRule, text: string): Captured | undefined {
  // Needles with `\\d` are left to the pattern.
  if (!candidate.needles.some((needle) => needle.includes("\\d") || text.includes(needle))) return undefined;
  const match = candidate.pattern.exec(text);
  if (match === null || candidate.unless?.test(text) === true) return undefined;
  const captured = match.groups ?? {};
  return candidate.when === undefined || candidate.when(captured) ? captured : undefined;
}

/** A captured group, or `""`. */
export function group(captured: Captured, name: string): string {
  return captured[name] ?? "";
}
