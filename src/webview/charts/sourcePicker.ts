import type { ChartSourceInfo } from "../../protocol/webview";
import { element } from "./elements";

/** Stages, members, services and GPUs to pick among; a group's own box stands for all of it. */
export class SourcePicker {
  readonly button = element("button", "toggle", "Sources");
  readonly panel = element("div", "picker");
  readonly #onPick: (hidden: readonly string[]) => void;
  #sources: readonly ChartSourceInfo[] = [];
  #hidden = new Set<string>();

  constructor(onPick: (hidden: readonly string[]) => void) {
    this.#onPick = onPick;
    this.button.type = "button";
    this.button.title = "Pick stages, members, services and GPUs";
    this.panel.id = "sources";
    this.panel.hidden = true;
    this.panel.setAttribute("role", "group");
    this.panel.setAttribute("aria-label", "Sources");
    this.button.setAttribute("aria-controls", this.panel.id);
    this.button.setAttribute("aria-expanded", "false");
    this.button.addEventListener("click", () => {
      this.#open(this.panel.hidden !== false);
    });
    this.panel.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape") return;
      this.#open(false);
      this.button.focus();
    });
  }

  show(sources: readonly ChartSourceInfo[], hidden: readonly string[]): void {
    const known = JSON.stringify(sources) === JSON.stringify(this.#sources);
    this.#sources = sources;
    this.#hidden = new Set(hidden);
    this.button.hidden = sources.length === 0;
    if (known) this.#tick();
    else this.#list();
  }

  #open(open: boolean): void {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }

  #list(): void {
    const groups = [...new Set(this.#sources.map(({ group }) => group))];
    this.panel.replaceChildren(
      ...groups.map((group) => {
        const own = this.#sources.filter((source) => source.group === group);
        const field = element("fieldset", "");
        const legend = element("legend", "");
        legend.append(this.#box(group, own));
        field.append(legend);
        if (own.length > 1) field.append(...own.map((source) => this.#box(source.label, [source])));
        else legend.replaceChildren(this.#box(own[0]?.label ?? group, own));
        return field;
      }),
    );
    this.#tick();
  }

  #box(label: string, sources: readonly ChartSourceInfo[]): HTMLElement {
    const row = element("label", "");
    const box = element("input", "");
    box.type = "checkbox";
    box.dataset["keys"] = JSON.stringify(sources.map(({ key }) => key));
    box.addEventListener("change", () => {
      for (const { key } of sources) {
        if (box.checked) this.#hidden.delete(key);
        else this.#hidden.add(key);
      }
      this.#tick();
      this.#onPick([...this.#hidden]);
    });
    row.append(box, element("span", "", label));
    return row;
  }

  #tick(): void {
    for (const box of this.panel.querySelectorAll("input")) {
      const keys: unknown = JSON.parse(box.dataset["keys"] ?? "[]");
      const all = Array.isArray(keys) ? keys.map(String) : [];
      const shown = all.filter((key) => !this.#hidden.has(key)).length;
      box.checked = shown > 0;
      box.indeterminate = shown > 0 && shown < all.length;
    }
    const left = this.#sources.filter(({ key }) => this.#hidden.has(key)).length;
    const all = this.#sources.length;
    this.button.textContent = left === 0 ? "Sources" : `Sources ${all - left}/${all}`;
  }
}
