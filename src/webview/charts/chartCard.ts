import { Chart, LinearScale, LogarithmicScale, type ChartArea } from "chart.js";
import type { ChartInfo, ChartMark, Span } from "../../protocol/webview";
import { chartOptions, mayBeLog, pixelOf, type TimeScale } from "./chartOptions";
import { dataTable, TableRegion } from "./dataTable";
import { element } from "./elements";
import { Legend } from "./legend";
import { LineData } from "./lineData";
import { lineColor, linesPlugin, valueRange, type DrawnLine } from "./linesPlugin";
import { marksPlugin } from "./marks";
import { mindPlot, type TimeActions } from "./plotGestures";
import { summary } from "./summary";
import type { Theme } from "./theme";
import { momentLabel } from "./timeAxis";
import { divisor, sayValue, unitName } from "./units";

// No controller and no element: what is drawn between the axes is drawn by the page's own plugins.
Chart.register(LinearScale, LogarithmicScale);

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
  readonly plot = element("div", "plot");
  readonly #cursor = element("div", "cursor");
  readonly #moment = element("div", "moment");
  readonly #summary = element("p", "spoken");
  readonly #logButton = element("button", "small", "log");
  readonly #legend: Legend;
  /** Made when it is drawn first: a chart that nobody has scrolled to costs nothing. */
  #chart: Chart<"line"> | undefined;
  /** For which theme and kind of value axis its options were made. */
  #madeFor: { readonly theme: Theme; readonly log: boolean } | undefined;
  #size = { width: 0, height: 0 };
  readonly #table: TableRegion;

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
      this.#redraw();
    });
    this.plot.append(this.#canvas, this.#cursor, this.#moment);
    this.#describe();
    this.#table = new TableRegion(info.title);
    this.root.append(this.#heading(), this.#legend.root, this.plot, this.#summary, this.#table.root);
    mindPlot(this.plot, () => this.#scale(), shared.actions);
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
      this.#redraw();
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
    for (const [name, value] of Object.entries(attributes)) this.plot.setAttribute(name, value);
  }

  /** Whether marks are told in words on it: once on a page is enough. */
  tellsMarks = false;
  /** Whether its samples have come: before, there is nothing to draw. */
  filled = false;

  /** The samples of a line of this chart; undefined for others. */
  data(key: string): LineData | undefined {
    return this.#lines.get(key);
  }

  /** Draws what is known now. */
  draw(): void {
    const { theme, off } = this.#shared;
    this.#logButton.setAttribute("aria-pressed", String(this.#isLog));
    for (const [index, line] of this.info.lines.entries()) {
      this.#legend.color(index, lineColor(line, theme), !off.has(line.key));
    }
    if (this.plot.hidden) this.showTable(true);
    else this.#paint();
    this.readOff();
  }

  #redraw(): void {
    this.draw();
    this.describe();
  }

  /** Tells those who do not see it what was drawn. */
  describe(): void {
    this.#summary.textContent = summary(this.info, this.#shown(), this.#shared.span, this.#shared.marks);
  }

  get #isLog(): boolean {
    return this.#shared.log.has(this.info.id) && mayBeLog(this.info);
  }

  /** @param size of the plot in CSS pixels, told by who watches all of them: to ask here would lay out the page anew */
  set size(size: { readonly width: number; readonly height: number }) {
    this.#size = size;
  }

  #paint(): void {
    const { theme } = this.#shared;
    const log = this.#isLog;
    const { width, height } = this.#size.width > 0 ? this.#size : this.#measured();
    if (!this.#chart) this.#chart = this.#made(width, height);
    else {
      if (this.#madeFor?.theme !== theme || this.#madeFor.log !== log) this.#chart.options = this.#options();
      const { width: was, height: high, currentDevicePixelRatio: ratio } = this.#chart;
      if (was === width && high === height && ratio === devicePixelRatio) this.#chart.update("none");
      else this.#chart.resize(width, height);
    }
    this.#madeFor = { theme, log };
  }

  #measured(): { readonly width: number; readonly height: number } {
    return { width: this.plot.clientWidth, height: this.plot.clientHeight };
  }

  #made(width: number, height: number): Chart<"line"> {
    const shared = this.#shared;
    [this.#canvas.width, this.#canvas.height] = [width, height];
    const marks = marksPlugin(() => ({
      marks: shared.marks,
      nans: this.#nans(),
      theme: shared.theme,
      words: this.tellsMarks,
    }));
    const lines = linesPlugin(() => ({ lines: this.#shown(), theme: shared.theme, span: shared.span }));
    const data = { datasets: [] };
    return new Chart(this.#canvas, { type: "line", data, options: this.#options(), plugins: [marks, lines] });
  }

  #options(): ReturnType<typeof chartOptions> {
    const shared = this.#shared;
    const log = this.#isLog;
    const values = (): ReturnType<typeof valueRange> => valueRange(this.#shown(), shared.span, log);
    return chartOptions(this.info, { theme: shared.theme, log, axes: { span: () => shared.span, values } });
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
    for (const [name, value] of Object.entries(spoken)) this.plot.setAttribute(`aria-value${name}`, String(value));
    this.plot.setAttribute("aria-valuetext", `${momentLabel(at)}: ${told.join(", ")}`);
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
    this.#moment.style.right = right ? `${Math.round(this.plot.clientWidth - x) + 4}px` : "";
  }

  /** Shows the numbers in place of the picture. */
  showTable(shown: boolean): void {
    this.plot.hidden = shown;
    this.#table.show(shown ? dataTable(this.info, this.#shown(), this.#shared.span) : undefined);
  }

  /** The picture as it stands, and what its legend says, for an image of the page. */
  get picture(): { readonly canvas: HTMLCanvasElement; readonly lines: readonly { color: string; text: string }[] } {
    const { theme } = this.#shared;
    const lines = this.#shown().map(({ line, data }) => ({
      color: lineColor(line, theme),
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
    const { left, right } = areaOf(this.#chart) ?? {
      left: 48,
      right: (this.#size.width || this.plot.clientWidth) - 16,
    };
    return { left, right, span: this.#shared.span };
  }

  #shown(): readonly DrawnLine[] {
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
