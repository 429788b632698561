import type { ChartInfo } from "../../protocol/webview";
import { element } from "./elements";

/** The lines of a chart as buttons that hide and show them, each with a value. */
export class Legend {
  readonly root = element("div", "legend");
  readonly #entries: readonly { readonly button: HTMLButtonElement; readonly value: HTMLElement }[];

  constructor(info: ChartInfo, onToggle: (key: string, shown: boolean) => void) {
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", `Lines of ${info.title}`);
    this.#entries = info.lines.map(({ key, label, look }) => {
      const button = element("button", `line ${look}`);
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const value = element("span", "value");
      button.append(element("span", "swatch"), element("span", "label", label), " ", value);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shown));
        onToggle(key, shown);
      });
      this.root.append(button);
      return { button, value };
    });
  }

  color(index: number, color: string, shown: boolean): void {
    const button = this.#entries[index]?.button;
    // What is written is laid out anew, even if nothing has changed.
    if (button && button.style.getPropertyValue("--line") !== color) button.style.setProperty("--line", color);
    if (button?.getAttribute("aria-pressed") !== String(shown)) button?.setAttribute("aria-pressed", String(shown));
  }

  say(index: number, value: string): void {
    const entry = this.#entries[index];
    if (entry && entry.value.textContent !== value) entry.value.textContent = value;
  }
}
