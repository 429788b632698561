import { Chart, type ChartArea } from "chart.js";
import { sharePercent } from "../../core/session/tokenLengths";
import { amount, count } from "../../core/session/words";
import type { LengthInfo } from "../../protocol/webview";
import { addRow, headedTable, TableRegion } from "./dataTable";
import { element } from "./elements";
import { barOptions, barsPlugin } from "./lengthBars";
import type { Theme } from "./theme";

type Bin = LengthInfo["bins"][number];

/** How long the answers of a stage are: bars, with the limit and what it cut off. */
export class LengthCard {
  readonly root = element("section", "card");
  readonly plot = element("div", "plot");
  readonly info: { readonly id: string; readonly title: string; readonly unit: { readonly kind: "number" } };
  /** Nothing is to come before it can be drawn. */
  readonly filled = true;
  size = { width: 0, height: 0 };
  readonly #shared: { readonly theme: Theme };
  readonly #canvas = element("canvas", "");
  readonly #told = element("div", "moment");
  readonly #about = element("p", "about");
  readonly #table: TableRegion;
  #lengths: LengthInfo;
  #chart: Chart<"line"> | undefined;
  #madeFor: Theme | undefined;
  /** A length in the bar that is read off, tokens: bars may become wider meanwhile. */
  #chosen: number | undefined;

  constructor(lengths: LengthInfo, shared: { readonly theme: Theme }) {
    this.#lengths = lengths;
    this.#shared = shared;
    const { id, title } = lengths;
    this.info = { id, title, unit: { kind: "number" } };
    this.root.dataset["chart"] = id;
    this.#table = new TableRegion(title);
    this.plot.append(this.#canvas, this.#told);
    this.root.append(this.#heading(), this.#about, this.plot, this.#table.root);
    this.#mind();
    this.describe();
  }

  #heading(): HTMLElement {
    const { id, title } = this.info;
    const heading = element("div", "heading");
    const name = element("h2", "", title);
    name.title = title;
    const part = encodeURIComponent(id);
    [name.id, this.#about.id] = [`title-${part}`, `about-${part}`];
    this.root.setAttribute("aria-labelledby", name.id);
    heading.append(name);
    const attributes = {
      role: "slider",
      tabindex: "0",
      "aria-label": title,
      "aria-describedby": this.#about.id,
      "aria-keyshortcuts": "ArrowLeft ArrowRight Home End Escape",
    };
    for (const [key, value] of Object.entries(attributes)) this.plot.setAttribute(key, value);
    return heading;
  }

  /** What is known now. */
  set lengths(lengths: LengthInfo) {
    this.#lengths = lengths;
    this.describe();
  }

  draw(): void {
    if (this.plot.hidden) {
      this.showTable(true);
      return;
    }
    const { theme } = this.#shared;
    const width = this.size.width || this.plot.clientWidth;
    const height = this.size.height || this.plot.clientHeight;
    if (!this.#chart) this.#chart = this.#made(width, height);
    else {
      if (this.#madeFor !== theme) this.#chart.options = this.#options();
      const same = this.#chart.width === width && this.#chart.height === height;
      if (same && this.#chart.currentDevicePixelRatio === devicePixelRatio) this.#chart.update("none");
      else this.#chart.resize(width, height);
    }
    this.#madeFor = theme;
    this.describe();
  }

  #made(width: number, height: number): Chart<"line"> {
    [this.#canvas.width, this.#canvas.height] = [width, height];
    const bars = barsPlugin(() => ({ lengths: this.#lengths, chosen: this.#read, theme: this.#shared.theme }));
    return new Chart(this.#canvas, {
      type: "line",
      data: { datasets: [] },
      options: this.#options(),
      plugins: [bars],
    });
  }

  #options(): ReturnType<typeof barOptions> {
    return barOptions(this.#shared.theme, () => this.#lengths);
  }

  /** Says what the bars are, and which of them is read off. */
  describe(): void {
    const { about, bins } = this.#lengths;
    const bin = this.#read;
    this.#about.textContent = this.#about.title = about;
    const spoken = { min: 0, max: bins.at(-1)?.to ?? 1, now: bin?.from ?? 0 };
    for (const [name, value] of Object.entries(spoken)) this.plot.setAttribute(`aria-value${name}`, String(value));
    this.plot.setAttribute("aria-valuetext", bin ? this.#say(bin) : about);
    this.#told.hidden = !bin;
    if (!bin) return;
    this.#told.textContent = this.#say(bin);
    const { left, right } = this.#area;
    const x = left + (bin.to / Math.max(1, spoken.max)) * (right - left);
    const onRight = x > (left + right) / 2;
    this.#told.style.left = onRight ? "" : `${Math.round(x) + 4}px`;
    this.#told.style.right = onRight ? `${Math.round(this.plot.clientWidth - x) + 4}px` : "";
  }

  /** A moment is read off the charts over time: that is nothing to this one. */
  readOff(): void {
    this.#told.hidden = this.#read === undefined;
  }

  showTable(shown: boolean): void {
    this.plot.hidden = shown;
    this.#table.show(shown ? this.#numbers() : undefined);
  }

  #numbers(): HTMLTableElement {
    const table = headedTable(this.#lengths.about, ["Tokens", "Answers", "Share"]);
    const body = table.createTBody();
    for (const bin of this.#lengths.bins) {
      if (bin.answers > 0) addRow(body, rangeOf(bin), [count(bin.answers), this.#share(bin)]);
    }
    return table;
  }

  get picture(): { readonly canvas: HTMLCanvasElement; readonly lines: readonly { color: string; text: string }[] } {
    const { theme } = this.#shared;
    return { canvas: this.#canvas, lines: [{ color: theme.lines[0] ?? theme.foreground, text: this.#lengths.about }] };
  }

  get #read(): Bin | undefined {
    const at = this.#chosen;
    return at === undefined ? undefined : this.#lengths.bins.find(({ from, to }) => at >= from && at < to);
  }

  get #area(): { readonly left: number; readonly right: number } {
    return areaOf(this.#chart) ?? { left: 0, right: 1 };
  }

  #share({ answers }: Bin): string {
    return sharePercent(answers / this.#lengths.bins.reduce((sum, bin) => sum + bin.answers, 0));
  }

  #say(bin: Bin): string {
    return `${rangeOf(bin)} tokens: ${amount(bin.answers, "answer")}, ${this.#share(bin)}`;
  }

  #choose(tokens: number | undefined): void {
    const last = this.#lengths.bins.at(-1)?.from ?? 0;
    this.#chosen = tokens === undefined ? undefined : Math.min(last, Math.max(0, tokens));
    this.describe();
    this.#chart?.draw();
  }

  #mind(): void {
    this.plot.addEventListener("pointermove", ({ clientX }) => {
      const { left, right } = this.#area;
      const share = (clientX - this.plot.getBoundingClientRect().left - left) / (right - left);
      this.#choose(share < 0 || share > 1 ? undefined : share * (this.#lengths.bins.at(-1)?.to ?? 0));
    });
    this.plot.addEventListener("pointerleave", () => {
      this.#choose(undefined);
    });
    this.plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !this.#act(event.key)) return;
      event.preventDefault();
    });
  }

  /** Does what a key means; false for keys that mean nothing here. */
  #act(key: string): boolean {
    const bin = this.#read;
    const end = this.#lengths.bins.at(-1)?.to ?? 0;
    const meant = new Map([
      ["ArrowRight", bin?.to ?? 0],
      ["ArrowUp", bin?.to ?? 0],
      ["ArrowLeft", (bin?.from ?? end) - 1],
      ["ArrowDown", (bin?.from ?? end) - 1],
      ["Home", 0],
      ["End", end],
      ["Escape", undefined],
    ]);
    if (meant.has(key)) this.#choose(meant.get(key));
    return meant.has(key);
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

function rangeOf({ from, to }: Bin): string {
  return to - from === 1 ? count(from) : `${count(from)} to ${count(to - 1)}`;
}
