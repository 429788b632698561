import type { ThinSamples } from "../thin";
import { thin } from "../thin";
import type { ChartPlan, PlannedLine } from "./chartPlan";
import { IntervalMean } from "./intervalMean";
import type { MetricSeries } from "./series";

/** Samples of one line, to be drawn. */
interface FedLine extends ThinSamples {
  readonly key: string;
}

interface Fed {
  readonly line: PlannedLine;
  readonly source: MetricSeries;
  readonly mean?: IntervalMean;
  sent: number;
}

/**
 * What of a plan's lines a page was given, so that it gets only what is new. Lines are thinned to `limit` samples
 * when they are given whole.
 */
export class ChartFeed {
  readonly #limit: number;
  #lines = new Map<string, Fed>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the page's charts are these still: same lines, from the same sources. */
  fits(plan: ChartPlan): boolean {
    const lines = plan.charts.flatMap((chart) => chart.lines);
    return (
      lines.length === this.#lines.size && lines.every((line) => this.#lines.get(line.key)?.line.series === line.series)
    );
  }

  /** All samples of all lines. */
  whole(plan: ChartPlan): readonly FedLine[] {
    const lines = plan.charts.flatMap((chart) => chart.lines);
    this.#lines = new Map(lines.map((line) => [line.key, this.#begin(line)]));
    return this.more();
  }

  /** What came since the last call; lines with nothing new are left out. */
  more(): readonly FedLine[] {
    return [...this.#lines.values()].flatMap((fed) => {
      fed.mean?.update();
      const { length, times, values } = fed.source;
      if (length <= fed.sent) return [];
      const samples = thin({ times, values }, this.#limit, fed.sent);
      fed.sent = length;
      return { key: fed.line.key, ...samples };
    });
  }

  #begin(line: PlannedLine): Fed {
    const old = this.#lines.get(line.key);
    const mean =
      line.counts &&
      (old?.line.series === line.series && old.mean ? old.mean : new IntervalMean(line.counts, line.series));
    return { line, source: mean?.series ?? line.series, ...(mean && { mean }), sent: 0 };
  }
}
