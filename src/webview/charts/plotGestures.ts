import type { Span } from "../../protocol/webview";
import { momentAt, type TimeScale } from "./chartOptions";
import { element } from "./elements";

/** What a person does with time on a chart. */
export interface TimeActions {
  /** A moment to read off; undefined: none. */
  readonly point: (at: number | undefined) => void;
  readonly show: (span: Span) => void;
  /** @param factor below 1 shows less, above 1 more; around a moment */
  readonly zoom: (factor: number, around: number | undefined) => void;
  /** @param share of the span, negative to earlier */
  readonly pan: (share: number) => void;
  readonly step: (share: number) => void;
  readonly all: () => void;
  readonly follow: () => void;
}

/** A drag of fewer pixels is a click. */
const leastDrag = 4;
/** A notch of a wheel makes this much. */
const wheelStep = 0.002;

/** Minds wheel, drag, double click and keys on a plot. */
export function mindPlot(plot: HTMLElement, scale: () => TimeScale, actions: TimeActions): void {
  const xOf = (event: MouseEvent): number => event.clientX - plot.getBoundingClientRect().left;
  plot.addEventListener(
    "wheel",
    (event) => {
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const zooms = event.ctrlKey || event.metaKey;
      // A plain wheel scrolls the page.
      if (!zooms && !sideways) return;
      event.preventDefault();
      if (zooms) actions.zoom(Math.exp(event.deltaY * wheelStep), momentAt(scale(), xOf(event)));
      else actions.pan(((event.deltaX || event.deltaY) * wheelStep) / 2);
    },
    { passive: false },
  );
  plot.addEventListener("dblclick", actions.all);
  plot.addEventListener("pointerleave", () => {
    actions.point(undefined);
  });
  mindDrag(plot, xOf, scale, actions);
  plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event, actions)) return;
    event.preventDefault();
  });
}

/** A drag marks a span to show; with Shift it moves the picture. */
function mindDrag(
  plot: HTMLElement,
  xOf: (event: MouseEvent) => number,
  scale: () => TimeScale,
  actions: TimeActions,
): void {
  const band = element("div", "selection");
  band.hidden = true;
  plot.append(band);
  let from: number | undefined;
  let last = 0;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    from = last = xOf(event);
  });
  plot.addEventListener("pointermove", (event) => {
    const x = xOf(event);
    const { left, right, span } = scale();
    actions.point(x < left || x > right ? undefined : momentAt({ left, right, span }, x));
    if (from === undefined) return;
    if (event.shiftKey) {
      actions.pan((last - x) / Math.max(1, right - left));
      last = from = x;
    }
    const [a, b] = [Math.max(left, Math.min(from, x)), Math.min(right, Math.max(from, x))];
    band.hidden = b - a < leastDrag;
    band.style.left = `${a}px`;
    band.style.width = `${b - a}px`;
  });
  const end = (event: PointerEvent, taken: boolean): void => {
    const began = from;
    from = undefined;
    band.hidden = true;
    if (began === undefined || !taken) return;
    const { left, right, span } = scale();
    const [a, b] = [began, xOf(event)].map((x) => Math.max(left, Math.min(right, x))).sort((one, other) => one - other);
    if (a === undefined || b === undefined || b - a < leastDrag) return;
    actions.show({ from: momentAt({ left, right, span }, a), to: momentAt({ left, right, span }, b) });
  };
  plot.addEventListener("pointerup", (event) => {
    end(event, true);
  });
  plot.addEventListener("pointercancel", (event) => {
    end(event, false);
  });
}

/** Does what a key means; false for keys that mean nothing here. */
function act({ key, shiftKey }: KeyboardEvent, actions: TimeActions): boolean {
  const backwards = key === "ArrowLeft" || key === "ArrowDown";
  if (backwards || key === "ArrowRight" || key === "ArrowUp") {
    const direction = backwards ? -1 : 1;
    if (shiftKey) actions.pan(direction / 4);
    else actions.step(direction / 50);
    return true;
  }
  const meaning = keys.get(key);
  meaning?.(actions);
  return meaning !== undefined;
}

const keys: ReadonlyMap<string, (actions: TimeActions) => void> = new Map([
  [
    "+",
    (actions) => {
      actions.zoom(0.5, undefined);
    },
  ],
  [
    "=",
    (actions) => {
      actions.zoom(0.5, undefined);
    },
  ],
  [
    "-",
    (actions) => {
      actions.zoom(2, undefined);
    },
  ],
  [
    "PageUp",
    (actions) => {
      actions.pan(-1);
    },
  ],
  [
    "PageDown",
    (actions) => {
      actions.pan(1);
    },
  ],
  [
    "Home",
    (actions) => {
      actions.all();
    },
  ],
  [
    "End",
    (actions) => {
      actions.follow();
    },
  ],
  [
    "Escape",
    (actions) => {
      actions.point(undefined);
    },
  ],
]);
