import { thin, type ThinSamples, type ThinWindow } from "../thin";
import type { Track } from "./chartOwners";
import type { PlannedLine } from "./chartLines";
import type { ChartPlan } from "./chartPlan";
import { ChartSources, type ChartSource } from "./chartSources";

/** Samples of one line, to be drawn. */
export interface FedLine extends ThinSamples {
  readonly key: string;
}

interface Fed {
  readonly line: PlannedLine;
  readonly chart: string;
  readonly source: ChartSource;
  /** How many samples were there when it was sent last; undefined for one that nobody looks at. */
  sent: number | undefined;
}

/**
 * What of a plan's lines a page was given, so that it gets only what is new, thinned to its pixels. Charts that nobody
 * sees cost nothing: what they draw is not even computed.
 */
export class ChartFeed {
  readonly #sources = new ChartSources();
  #plan: ChartPlan | undefined;
  #lines: readonly Fed[] = [];

  /** Whether the page's charts are these still: same lines, from the same sources. */
  fits(plan: ChartPlan): boolean {
    const [ours, theirs] = [identity(this.#plan), identity(plan)];
    return ours.length === theirs.length && ours.every((part, index) => part === theirs[index]);
  }

  /** From here on the page has these charts, and nothing of their samples. */
  begin(plan: ChartPlan): void {
    this.#plan = plan;
    this.#sources.renew();
    this.#lines = plan.charts.flatMap((chart) =>
      chart.lines.flatMap((line) => {
        const source = this.#sources.of(line.source);
        return source ? { line, chart: chart.id, source, sent: undefined } : [];
      }),
    );
  }

  /**
   * The window's samples of charts in sight. From now on `more` tells of them.
   * @param onlyNew leave out charts that were in sight already
   */
  window(charts: ReadonlySet<string>, window: ThinWindow, onlyNew = false): readonly FedLine[] {
    const fed: FedLine[] = [];
    for (const line of this.#lines) {
      if (!charts.has(line.chart)) line.sent = undefined;
      else if (!onlyNew || line.sent === undefined) {
        line.source.update();
        const { series } = line.source;
        fed.push({ key: line.line.key, ...thin(series, window) });
        line.sent = series.appended;
      }
    }
    return fed;
  }

  /** What came since the last call for charts in sight; lines with nothing new are left out. */
  more(window: ThinWindow): readonly FedLine[] {
    const fed: FedLine[] = [];
    for (const line of this.#lines) {
      if (line.sent === undefined) continue;
      line.source.update();
      const { series } = line.source;
      if (series.appended <= line.sent) continue;
      fed.push({ key: line.line.key, ...thin(series, window, series.indexAfter(line.sent)) });
      line.sent = series.appended;
    }
    return fed;
  }

  /** All lines with everything that is known of them. */
  whole(): readonly { readonly line: PlannedLine; readonly chart: string; readonly series: ChartSource["series"] }[] {
    return this.#lines.map(({ line, chart, source }) => {
      source.update();
      return { line, chart, series: source.series };
    });
  }
}

function identity(plan: ChartPlan | undefined): readonly unknown[] {
  if (!plan) return [undefined];
  return plan.charts.flatMap(({ id, lines }) => [
    id,
    ...lines.flatMap(({ key, source }) => [key, ...seriesOf(source)]),
  ]);
}

function seriesOf(source: PlannedLine["source"]): readonly unknown[] {
  return tracksOf(source).flatMap(({ kept, live }) => [kept, live]);
}

function tracksOf(source: PlannedLine["source"]): readonly Track[] {
  switch (source.kind) {
    case "plain":
      return [source.track];
    case "interval-mean":
      return [source.counts, source.means];
    case "throughput":
      return [source.counts];
    case "envelope":
      return source.of.flatMap(tracksOf);
  }
}
