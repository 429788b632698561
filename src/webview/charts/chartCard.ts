import {
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  type ChartArea,
  type ChartDataset,
  type ChartOptions,
} from "chart.js";
import type { ChartInfo, ChartLineInfo, ChartMark, Span } from "../../protocol/webview";
import { chartOptions, mayBeLog, pixelOf, type TimeScale } from "./chartOptions";
import { dataTable, type ShownLine } from "./dataTable";
import { element } from "./elements";
import { Legend } from "./legend";
import { LineData, type Point } from "./lineData";
import { marksPlugin } from "./marks";
import { mindPlot, type TimeActions } from "./plotGestures";
import { summary } from "./summary";
import { blend, faint, type Theme } from "./theme";
import { momentLabel } from "./timeAxis";
import { divisor, sayValue, unitName } from "./units";

Chart.register(LineController, LineElement, PointElement, LinearScale, LogarithmicScale, Filler);

/** What all charts of a page have in common. */
export interface Shared {
  theme: Theme;
  /** Drawn on the time axis of every chart, so that the eye can go from one to the other. */
  span: Span;
  marks: readonly ChartMark[];
  /** The moment that is read off all charts. */
  cursor: number | undefined;
  /** Keys of lines that are switched off, and ids of charts with a logarithmic axis. */
  readonly off: Set<string>;
  readonly log: Set<string>;
  readonly actions: TimeActions;
  /** The look of this chart was changed by its own buttons. */
  readonly onLook: () => void;
}

/** One chart with its title, legend and table. */
export class ChartCard {
  readonly root: HTMLElement;
  readonly info: ChartInfo;
  readonly #shared: Shared;
  readonly #lines: ReadonlyMap<string, LineData>;
  readonly #canvas = element("canvas", "");
  readonly #plot = element("div", "plot");
  readonly #cursor = element("div", "cursor");
  readonly #moment = element("div", "moment");
  readonly #summary = element("p", "spoken");
  readonly #logButton = element("button", "small", "log");
  readonly #legend: Legend;
  readonly #datasets: ChartDataset<"line", Point[]>[];
  /** Made when it is drawn first: a chart that nobody has scrolled to costs nothing. */
  #chart: Chart<"line", Point[]> | undefined;
  #table: HTMLElement | undefined;

  constructor(info: ChartInfo, shared: Shared) {
    this.info = info;
    this.#shared = shared;
    this.#lines = new Map(info.lines.map(({ key }) => [key, new LineData(divisor(info.unit))]));
    this.root = element("section", "card");
    this.root.dataset["chart"] = info.id;
    this.#legend = new Legend(info, (key, shown) => {
      if (shown) shared.off.delete(key);
      else shared.off.add(key);
      shared.onLook();
      this.draw();
    });
    this.#plot.append(this.#canvas, this.#cursor, this.#moment);
    this.#describe();
    this.root.append(this.#heading(), this.#legend.root, this.#plot, this.#summary);
    this.#datasets = info.lines.map((line) => ({ label: line.label, data: [], ...filling(line) }));
    mindPlot(this.#plot, () => this.#scale(), shared.actions);
  }

  #heading(): HTMLElement {
    const { info } = this;
    const row = element("div", "heading");
    const title = element("h2", "", info.title);
    title.id = `title-${info.id.replace(/\W+/g, "-")}`;
    title.title = info.about;
    const unit = unitName(info.unit);
    if (unit !== "") title.append(" ", element("span", "unit", unit));
    this.root.setAttribute("aria-labelledby", title.id);
    row.append(title);
    if (!mayBeLog(info)) return row;
    this.#logButton.type = "button";
    this.#logButton.title = "Logarithmic value axis";
    this.#logButton.setAttribute("aria-label", `log axis of ${info.title}`);
    this.#logButton.addEventListener("click", () => {
      const { log } = this.#shared;
      if (!log.delete(info.id)) log.add(info.id);
      this.#shared.onLook();
      this.draw();
    });
    row.append(this.#logButton);
    return row;
  }

  /** The plot is a slider over time for keys and screen readers. */
  #describe(): void {
    this.#summary.id = `summary-${this.info.id.replace(/\W+/g, "-")}`;
    this.#cursor.hidden = this.#moment.hidden = true;
    const attributes = {
      role: "slider",
      tabindex: "0",
      "aria-label": `${this.info.title} over time`,
      "aria-describedby": this.#summary.id,
      "aria-keyshortcuts": "ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight + - Home End Escape",
    };
    for (const [name, value] of Object.entries(attributes)) this.#plot.setAttribute(name, value);
  }

  /** The samples of a line of this chart; undefined for others. */
  data(key: string): LineData | undefined {
    return this.#lines.get(key);
  }

  /** Draws what is known now. */
  draw(): void {
    const { theme, span } = this.#shared;
    const log = this.#shared.log.has(this.info.id) && mayBeLog(this.info);
    this.#logButton.setAttribute("aria-pressed", String(log));
    this.info.lines.forEach((line, index) => {
      this.#fill(line, index, log);
    });
    if (!this.#plot.hidden) this.#paint(chartOptions(this.info, { theme, span, log }));
    this.#summary.textContent = summary(this.info, this.#shown(), span, this.#shared.marks);
    this.readOff();
    if (this.#table) this.showTable(true);
  }

  #paint(options: ChartOptions<"line">): void {
    const shared = this.#shared;
    if (this.#chart) {
      this.#chart.options = options;
      this.#chart.update("none");
      return;
    }
    const marks = marksPlugin(() => ({ marks: shared.marks, nans: this.#nans(), theme: shared.theme }));
    const data = { datasets: this.#datasets };
    this.#chart = new Chart(this.#canvas, { type: "line", data, options, plugins: [marks] });
  }

  #fill(line: ChartLineInfo, index: number, log: boolean): void {
    const data = this.#lines.get(line.key);
    const dataset = this.#datasets[index];
    if (!data || !dataset) return;
    const { theme, off } = this.#shared;
    const shown = !off.has(line.key);
    const points = log ? data.points.map(({ x, y }) => ({ x, y: y > 0 ? y : NaN })) : [...data.points];
    const own = theme.lines[line.color % theme.lines.length] ?? theme.foreground;
    const color = line.look === "thin" ? blend(own, theme.foreground) : own;
    // Where a line fills its pixels, a width of one is clearer, and much faster to paint.
    const width = points.length > this.#canvas.clientWidth ? theme.denseWidth : theme.lineWidth;
    style(dataset, line, { color, width, again: line.color >= theme.lines.length });
    dataset.data = points;
    dataset.hidden = !shown;
    dataset.pointRadius = lonePoints(points);
    this.#legend.color(index, color, shown);
  }

  /** Says what the lines are at the cursor, or at last. */
  readOff(): void {
    const { cursor, span } = this.#shared;
    const values = this.info.lines.map(({ key }, index) => {
      const data = this.#lines.get(key);
      const value = cursor === undefined ? data?.latest : data?.at(cursor);
      const said = value === undefined ? (cursor === undefined ? "" : "–") : sayValue(value, this.info.unit);
      this.#legend.say(index, said);
      return said;
    });
    const told = this.info.lines.flatMap(({ label, key }, index) =>
      this.#shared.off.has(key) ? [] : `${label} ${values[index] ?? ""}`,
    );
    const at = cursor ?? span.to;
    const spoken = { min: span.from, max: span.to, now: Math.min(span.to, Math.max(span.from, at)) };
    for (const [name, value] of Object.entries(spoken)) this.#plot.setAttribute(`aria-value${name}`, String(value));
    this.#plot.setAttribute("aria-valuetext", `${momentLabel(at)}: ${told.join(", ")}`);
    this.#place(cursor);
  }

  #place(cursor: number | undefined): void {
    const scale = this.#scale();
    const x = cursor === undefined ? -1 : pixelOf(scale, cursor);
    const inside = cursor !== undefined && x >= scale.left && x <= scale.right;
    this.#cursor.hidden = this.#moment.hidden = !inside;
    if (!inside) return;
    this.#cursor.style.transform = `translateX(${Math.round(x)}px)`;
    const width = scale.right - scale.left;
    const near = this.#shared.marks.filter(({ at }) => Math.abs(pixelOf(scale, at) - x) < 5).map(({ label }) => label);
    const more = near.length > 2 ? ` +${near.length - 2}` : "";
    this.#moment.textContent = [momentLabel(cursor), ...near.slice(0, 2)].join(" · ") + more;
    const right = x > scale.left + width / 2;
    this.#moment.style.left = right ? "" : `${Math.round(x) + 4}px`;
    this.#moment.style.right = right ? `${Math.round(this.#plot.clientWidth - x) + 4}px` : "";
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
    this.#table.setAttribute("aria-label", `${this.info.title}, data table`);
    this.#table.append(dataTable(this.info, this.#shown(), this.#shared.span));
    this.root.append(this.#table);
    this.#table.scrollTop = scrolled;
  }

  /** The picture as it stands, and what its legend says, for an image of the page. */
  get picture(): { readonly canvas: HTMLCanvasElement; readonly lines: readonly { color: string; text: string }[] } {
    const { theme } = this.#shared;
    const lines = this.#shown().map(({ line, data }) => ({
      color: theme.lines[line.color % theme.lines.length] ?? theme.foreground,
      text: `${line.label} ${data.latest === undefined ? "" : sayValue(data.latest, this.info.unit)}`,
    }));
    return { canvas: this.#canvas, lines };
  }

  /** How many pixels there are for time. */
  get columns(): number {
    const { left, right } = this.#scale();
    return Math.round(right - left);
  }

  #scale(): TimeScale {
    const { left, right } = areaOf(this.#chart) ?? { left: 48, right: this.#plot.clientWidth - 16 };
    return { left, right, span: this.#shared.span };
  }

  #shown(): readonly ShownLine[] {
    return this.info.lines.flatMap((line) => {
      const data = this.#lines.get(line.key);
      return data && !this.#shared.off.has(line.key) ? { line, data } : [];
    });
  }

  #nans(): readonly number[] {
    return this.#shown().flatMap(({ data }) => data.nans);
  }

  dispose(): void {
    this.#chart?.destroy();
    this.root.remove();
  }
}

/** Before the first layout there is none, whatever the library's types say. */
function areaOf(chart: { readonly chartArea?: ChartArea } | undefined): ChartArea | undefined {
  return chart?.chartArea;
}

function filling({ look }: ChartLineInfo): Partial<ChartDataset<"line", Point[]>> {
  // What lies between the lowest and the highest: `low` comes just before `high`.
  return look === "high" ? { fill: "-1" } : {};
}

function style(
  dataset: ChartDataset<"line", Point[]>,
  { look }: ChartLineInfo,
  { color, width, again }: { readonly color: string; readonly width: number; readonly again: boolean },
): void {
  const edge = look === "low" || look === "high";
  dataset.borderColor = edge ? faint(color, 45) : color;
  // A mean lies over the line that it is of.
  dataset.order = look === "thin" ? -1 : 0;
  dataset.backgroundColor = look === "high" ? faint(color, 22) : color;
  dataset.borderWidth = look === "line" ? width : width * 0.6;
  dataset.borderDash = again ? [4, 3] : look === "thin" ? [2, 2] : [];
}

/** Samples with no neighbour have no line to be seen by. */
function lonePoints(points: readonly Point[]): number | number[] {
  const breaks = (index: number): boolean => Number.isNaN(points[index]?.y ?? NaN);
  const sizes = points.map((_, index) => (breaks(index - 1) && breaks(index + 1) ? 2 : 0));
  return sizes.some((size) => size > 0) ? sizes : 0;
}
