import type { Captured, FailureRule } from "./rule";
import type { LinePlace } from "./tracebacks";

/** A rule that fits at a place. */
export interface Finding {
  readonly rule: FailureRule;
  readonly captured: Captured;
  readonly place: LinePlace;
  readonly startLine: number;
}

/** More than these do not wait. */
const mostHeld = 16;

/** Findings that count only after what comes next: see `HeldUntil`. */
export class HeldFindings {
  #held: readonly Finding[] = [];

  /** Whether any waits. */
  get some(): boolean {
    return this.#held.length > 0;
  }

  /** Whether any line decides about one. */
  get wantsLines(): boolean {
    return this.#held.some((finding) => byAnyLine(finding) || finding.rule.held?.everyLine === true);
  }

  /** Keeps a finding until it is decided. */
  hold(finding: Finding): void {
    if (this.#held.length < mostHeld) this.#held = [...this.#held, finding];
  }

  /** What a line confirms: of several, which are about one event, the one that says most. */
  decide(line: string): Finding | undefined {
    const body = line.trim();
    if (body === "") return undefined;
    const left = this.#held.filter(({ rule }) => rule.held?.takenBack.test(body) !== true);
    const waits = ({ rule }: Finding): boolean => rule.held?.confirmed?.test(body) === false;
    this.#held = left.filter(waits);
    return strongest(left.filter((finding) => !waits(finding)));
  }

  /** What any line would confirm: none came. */
  settle(): readonly Finding[] {
    const certain = this.#held.filter(byAnyLine);
    this.#held = this.#held.filter((finding) => !byAnyLine(finding));
    return certain;
  }

  /** The log has ended: nothing will be taken back any more. */
  end(): Finding | undefined {
    const best = strongest(this.#held);
    this.#held = [];
    return best;
  }
}

function byAnyLine({ rule }: Finding): boolean {
  return rule.held?.confirmed === undefined;
}

function strongest(findings: readonly Finding[]): Finding | undefined {
  return findings.reduce<Finding | undefined>(
    (best, finding) => (best === undefined || finding.rule.weight > best.rule.weight ? finding : best),
    undefined,
  );
}
