import type { Track } from "./chartOwners";
import type { LineSource } from "./chartLines";
import { Envelope } from "./envelope";
import { IntervalMean } from "./intervalMean";
import { MetricSeries } from "./series";
import { SeriesCursor } from "./seriesCursor";
import { Throughput } from "./throughput";

/** A series to draw. */
export interface ChartSource {
  readonly series: MetricSeries;
  /** Takes in what its sources got. */
  readonly update: () => void;
}

/** The series behind lines. What is computed is kept, shared by the lines that need it, and grows with its sources. */
export class ChartSources {
  readonly #ids = new WeakMap<MetricSeries, number>();
  #lastId = 0;
  readonly #continued = new Made<Continued>();
  readonly #means = new Made<IntervalMean>();
  readonly #speeds = new Made<Throughput>();
  readonly #envelopes = new Made<Envelope>();

  /** From here on, what is not asked for again is forgotten at the next call. */
  renew(): void {
    for (const made of [this.#continued, this.#means, this.#speeds, this.#envelopes]) made.renew();
  }

  /** The line's series; undefined where one that it needs is missing. */
  of(source: LineSource): ChartSource | undefined {
    switch (source.kind) {
      case "plain":
        return this.#track(source.track);
      case "interval-mean":
        return this.#intervalMean(source.counts, source.means);
      case "throughput": {
        const counts = this.#track(source.counts);
        if (!counts) return undefined;
        const speed = this.#speeds.get(this.#key(counts), () => new Throughput(counts.series));
        return after([counts], speed, speed[source.part]);
      }
      case "envelope": {
        const of = source.of.flatMap((one) => this.of(one) ?? []);
        const made = (): Envelope =>
          new Envelope(
            of.map(({ series }) => series),
            source.pace,
          );
        const envelope = this.#envelopes.get(this.#key(...of), made);
        return after(of, envelope, envelope[source.part]);
      }
    }
  }

  #intervalMean(of: Track, meansOf: Track): ChartSource | undefined {
    const [counts, means] = [this.#track(of), this.#track(meansOf)];
    if (!counts || !means) return undefined;
    const mean = this.#means.get(this.#key(counts, means), () => new IntervalMean(counts.series, means.series));
    return after([counts, means], mean, mean.series);
  }

  #track({ kept, live }: Track): ChartSource | undefined {
    const only = live ?? kept;
    if (!only) return undefined;
    if (!kept || !live) return { series: only, update: () => undefined };
    const key = this.#key({ series: kept }, { series: live });
    const both = this.#continued.get(key, () => new Continued(kept, live));
    return after([], both, both.series);
  }

  #key(...sources: readonly Pick<ChartSource, "series">[]): string {
    return sources.map(({ series }) => this.#idOf(series)).join(" ");
  }

  #idOf(series: MetricSeries): number {
    const id = this.#ids.get(series) ?? ++this.#lastId;
    this.#ids.set(series, id);
    return id;
  }
}

function after(
  sources: readonly ChartSource[],
  derived: { readonly update: () => void },
  series: MetricSeries,
): ChartSource {
  const update = (): void => {
    for (const source of sources) source.update();
    derived.update();
  };
  return { series, update };
}

/** What an earlier window kept, and after its end what this one sees. */
class Continued {
  readonly series: MetricSeries;
  readonly #live: SeriesCursor;

  constructor(kept: MetricSeries, live: MetricSeries) {
    this.series = new MetricSeries(live.name);
    this.#live = new SeriesCursor(live);
    const { times, values } = kept;
    for (let index = 0; index < times.length; index++) this.series.append(times[index] ?? NaN, values[index] ?? NaN);
  }

  readonly update = (): void => {
    const { times, values } = this.#live.rest();
    // What is older than the end of what was kept is known already, and dropped.
    for (let index = 0; index < times.length; index++) this.series.append(times[index] ?? NaN, values[index] ?? NaN);
    this.#live.pass(times.length);
  };
}

class Made<T> {
  #now = new Map<string, T>();
  #before = new Map<string, T>();

  renew(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  get(key: string, make: () => T): T {
    const made = this.#now.get(key) ?? this.#before.get(key) ?? make();
    this.#now.set(key, made);
    return made;
  }
}
