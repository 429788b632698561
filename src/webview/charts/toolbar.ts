import type { ChartRange } from "../../protocol/webview";
import { element } from "./elements";

const minute = 60_000;
const ranges: readonly (readonly [label: string, title: string, range: ChartRange])[] = [
  ["10 min", "Show the last 10 minutes", { kind: "last", ms: 10 * minute }],
  ["1 h", "Show the last hour", { kind: "last", ms: 60 * minute }],
  ["All", "Show all that is known, the whole night", { kind: "all" }],
];

/** What the toolbar does. */
interface ToolbarActions {
  readonly range: (range: ChartRange) => void;
  readonly follow: (follow: boolean) => void;
  readonly zoom: (factor: number) => void;
  readonly table: () => void;
  readonly png: () => void;
  readonly csv: () => void;
}

/** Title, how old the picture is, and buttons for what the charts show. */
export class Toolbar {
  readonly root = element("header", "bar");
  readonly #title = element("h1", "");
  readonly #standing = element("span", "standing");
  readonly #follow = button("Pause", "Stop following what is new");
  readonly #table = button("Table", "Show the numbers in place of the pictures");
  readonly #ranges: readonly HTMLButtonElement[];
  readonly #tools = element("div", "tools");
  /** What is for charts over time alone. */
  readonly #ofTime: readonly HTMLElement[];
  #timeless = false;

  constructor(actions: ToolbarActions, picker: HTMLElement) {
    const name = element("div", "name");
    name.append(this.#title, this.#standing);
    this.#ranges = ranges.map(([label, title, range]) => {
      const made = button(label, title);
      made.addEventListener("click", () => {
        actions.range(range);
      });
      return made;
    });
    this.#follow.addEventListener("click", () => {
      actions.follow(this.#follow.textContent === "Follow");
    });
    this.#ofTime = [
      group("Range", [...this.#ranges, this.#follow]),
      group("Zoom", [
        onClick(button("−", "Zoom out"), () => {
          actions.zoom(2);
        }),
        onClick(button("+", "Zoom in"), () => {
          actions.zoom(0.5);
        }),
      ]),
    ];
    this.#tools.append(
      ...this.#ofTime,
      picker,
      onClick(this.#table, actions.table),
      group("Save", [
        onClick(button("PNG", "Save a picture of the charts"), actions.png),
        onClick(button("CSV", "Save all samples of the lines and the span that are shown"), actions.csv),
      ]),
    );
    this.root.append(name, this.#tools);
  }

  /** @param has what there is on the page, or can be picked */
  show(title: string, has: { readonly anything: boolean; readonly times: boolean }): void {
    this.#title.textContent = title;
    this.#title.title = title;
    this.#tools.hidden = !has.anything;
    this.#timeless = has.anything && !has.times;
    for (const part of this.#ofTime) part.hidden = this.#timeless;
  }

  /** @param standing how old the picture is, where it is not live */
  state(range: ChartRange, table: boolean, standing: string): void {
    const paused = range.kind === "fixed" && !this.#timeless;
    this.#standing.textContent = standing !== "" ? standing : paused ? "paused" : "live";
    this.#standing.classList.toggle("live", standing === "" && !paused);
    this.#standing.classList.toggle("old", standing !== "");
    this.#follow.textContent = paused ? "Follow" : "Pause";
    this.#follow.title = paused ? "Follow what is new" : "Stop following what is new";
    this.#table.setAttribute("aria-pressed", String(table));
    for (const [index, made] of this.#ranges.entries()) {
      made.setAttribute("aria-pressed", String(JSON.stringify(ranges[index]?.[2]) === JSON.stringify(range)));
    }
  }
}

function button(label: string, title: string): HTMLButtonElement {
  const made = element("button", "toggle", label);
  made.type = "button";
  made.title = title;
  if (/^\W$/.test(label)) made.setAttribute("aria-label", title);
  return made;
}

function onClick(made: HTMLButtonElement, run: () => void): HTMLButtonElement {
  made.addEventListener("click", run);
  return made;
}

function group(label: string, parts: readonly HTMLElement[]): HTMLElement {
  const made = element("div", "group");
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", label);
  made.append(...parts);
  return made;
}
