import { Chart, type ChartDataset, LinearScale, LineController, LineElement, PointElement, Tooltip } from "chart.js";
import type { ChartInfo, ChartMark, LineSamples } from "../../protocol/webview";
import { chartOptions, type Span } from "./chartOptions";
import { dataTable } from "./dataTable";
import { element } from "./elements";
import { Legend } from "./legend";
import { LineData, type Point } from "./lineData";
import { marksPlugin } from "./marks";
import type { Theme } from "./theme";
import { divisor, sayValue, unitName } from "./units";

Chart.register(LineController, LineElement, PointElement, LinearScale, Tooltip);

/** Lowest and highest of a span share a column of the screen. */
const pointsPerPixel = 1.5;

/** What all charts of a page have in common. */
export interface Shared {
  theme: Theme;
  /** Drawn on the time axis of every chart, so that the eye can go from one to the other. */
  span: Span;
  marks: readonly ChartMark[];
}

/** One chart with its title, legend and table. */
export class ChartCard {
  readonly root: HTMLElement;
  readonly #info: ChartInfo;
  readonly #shared: Shared;
  readonly #lines: ReadonlyMap<string, LineData>;
  readonly #canvas = element("canvas", "");
  readonly #plot = element("div", "plot");
  readonly #legend: Legend;
  readonly #chart: Chart<"line", Point[]>;
  #table: HTMLElement | undefined;

  constructor(info: ChartInfo, shared: Shared) {
    this.#info = info;
    this.#shared = shared;
    this.#lines = new Map(info.lines.map(({ key }) => [key, new LineData(divisor(info.unit))]));
    this.root = element("section", "card");
    this.#canvas.setAttribute("role", "img");
    this.#plot.append(this.#canvas);
    this.#legend = new Legend(info, (index, shown) => {
      this.#chart.setDatasetVisibility(index, shown);
      this.#chart.update("none");
    });
    this.root.append(heading(info, this.root), this.#legend.root, this.#plot);
    this.#chart = new Chart(this.#canvas, {
      type: "line",
      data: { datasets: info.lines.map(({ label }) => ({ label, data: [] })) },
      options: chartOptions(info, shared),
      plugins: [
        marksPlugin(
          () => shared.marks,
          () => shared.theme,
        ),
      ],
    });
  }

  /** Whether the line is one of this chart's. */
  has(key: string): boolean {
    return this.#lines.has(key);
  }

  append(samples: LineSamples): void {
    this.#lines.get(samples.key)?.append(samples);
  }

  /** First and last moment of all lines; undefined while there are none. */
  get span(): Span | undefined {
    const times = [...this.#lines.values()].flatMap(({ times: of }) => [of[0] ?? [], of.at(-1) ?? []].flat());
    return times.length === 0 ? undefined : { from: Math.min(...times), to: Math.max(...times) };
  }

  /** Draws what is known now. */
  draw(): void {
    const { theme } = this.#shared;
    const width = this.#plot.clientWidth || 400;
    let lone = false;
    this.#info.lines.forEach(({ key }, index) => {
      const line = this.#lines.get(key);
      const dataset = this.#chart.data.datasets[index];
      if (!line || !dataset) return;
      dataset.data = line.points(width * pointsPerPixel);
      lone ||= dataset.data.length === 1;
      const color = theme.lines[index % theme.lines.length] ?? theme.foreground;
      style(dataset, color, index >= theme.lines.length);
      this.#legend.update(index, color, line.latest === undefined ? "" : sayValue(line.latest, this.#info.unit));
    });
    this.#chart.options = chartOptions(this.#info, this.#shared, lone);
    this.#chart.update("none");
    this.#canvas.setAttribute("aria-label", this.#spoken());
    if (this.#table) this.showTable(true);
  }

  /** Shows the numbers in place of the picture. */
  showTable(shown: boolean): void {
    const scrolled = this.#table?.scrollTop ?? 0;
    this.#table?.remove();
    this.#table = undefined;
    this.#plot.hidden = shown;
    if (!shown) return;
    this.#table = element("div", "table");
    this.#table.tabIndex = 0;
    this.#table.setAttribute("role", "region");
    this.#table.setAttribute("aria-label", `${this.#info.title}, data table`);
    this.#table.append(dataTable(this.#info, this.#lines));
    this.root.append(this.#table);
    this.#table.scrollTop = scrolled;
  }

  #spoken(): string {
    const lines = this.#info.lines.map(({ key, label }) => {
      const latest = this.#lines.get(key)?.latest;
      return `${label} ${latest === undefined ? "no value" : sayValue(latest, this.#info.unit)}`;
    });
    return `${this.#info.about}. Now: ${lines.join(", ")}`;
  }

  dispose(): void {
    this.#chart.destroy();
    this.root.remove();
  }
}

function heading(info: ChartInfo, card: HTMLElement): HTMLElement {
  const title = element("h2", "", info.title);
  title.id = `title-${info.id.replace(/\W+/g, "-")}`;
  title.title = info.about;
  const unit = unitName(info.unit);
  if (unit !== "") title.append(" ", element("span", "unit", unit));
  card.setAttribute("aria-labelledby", title.id);
  return title;
}

function style(dataset: ChartDataset<"line", Point[]>, color: string, dashed: boolean): void {
  dataset.borderColor = dataset.backgroundColor = color;
  dataset.borderDash = dashed ? [4, 3] : [];
}
