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

interface Held {
  readonly finding: Finding;
  readonly about: string | undefined;
}

/** Findings that count only after what comes next: see `HeldUntil`. */
export class HeldFindings {
  #held: readonly Held[] = [];

  /** Whether any waits. */
  get some(): boolean {
    return this.#held.length > 0;
  }

  /** Whether any line decides about one. */
  get wantsLines(): boolean {
    return this.#held.some(({ finding }) => byAnyLine(finding) || finding.rule.held?.everyLine === true);
  }

  /** Keeps a finding until it is decided. */
  hold(finding: Finding): void {
    if (this.#held.length >= mostHeld) return;
    const { about } = finding.rule.held ?? {};
    const named = about?.(finding.captured) ?? (about === undefined ? undefined : this.#held.at(-1)?.about);
    this.#held = [...this.#held, { finding, about: named }];
  }

  /** What a line confirms: of several, which are about one event, the one that says most. */
  decide(line: string): Finding | undefined {
    const body = line.trim();
    if (body === "") return undefined;
    const left = this.#held.filter((held) => !isTakenBack(held, body));
    const waits = ({ finding, about }: Held): boolean =>
      finding.rule.held?.confirmed?.test(body) === false || (about !== undefined && !body.includes(about));
    this.#held = left.filter(waits);
    return strongest(left.filter((held) => !waits(held)));
  }

  /** What any line would confirm: none came. */
  settle(): readonly Finding[] {
    const certain = this.#held.filter(({ finding }) => byAnyLine(finding));
    this.#held = this.#held.filter(({ finding }) => !byAnyLine(finding));
    return certain.map(({ finding }) => finding);
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

function isTakenBack({ finding, about }: Held, body: string): boolean {
  const { held } = finding.rule;
  if (held?.allTakenBack?.test(body) === true) return true;
  return held?.takenBack.test(body) === true && (about === undefined || body.includes(about));
}

function strongest(held: readonly Held[]): Finding | undefined {
  return held.reduce<Finding | undefined>(
    (best, { finding }) => (best === undefined || finding.rule.weight > best.rule.weight ? finding : best),
    undefined,
  );
}
