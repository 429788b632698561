import type { ChartInfo } from "../../protocol/webview";
import { element } from "./elements";

/** The lines of a chart as buttons that hide and show them, each with its latest value. */
export class Legend {
  readonly root = element("div", "legend");
  readonly #entries: readonly { readonly button: HTMLButtonElement; readonly value: HTMLElement }[];

  constructor(info: ChartInfo, onToggle: (index: number, shown: boolean) => void) {
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", `Lines of ${info.title}`);
    this.#entries = info.lines.map(({ label }, index) => {
      const button = element("button", "line");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const value = element("span", "value");
      button.append(element("span", "swatch"), element("span", "label", label), value);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        onToggle(index, shown);
      });
      this.root.append(button);
      return { button, value };
    });
  }

  update(index: number, color: string, value: string): void {
    const entry = this.#entries[index];
    if (!entry) return;
    entry.button.style.setProperty("--line", color);
    if (entry.value.textContent !== value) entry.value.textContent = value;
  }
}
