import { isChartLook, isToPage, type ChartLook, type FromPage } from "../protocol/webview";
import { ChartPage } from "./charts/chartPage";

/** Kept so that the page comes back with the same charts, as they were looked at. */
interface Kept {
  readonly target: unknown;
  readonly look: ChartLook;
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  setState(state: Kept): void;
  getState(): unknown;
};

const editor = acquireVsCodeApi();
let target: unknown;
const page = new ChartPage(
  document.getElementById("page") ?? document.body,
  (message) => {
    editor.postMessage(message);
  },
  (look) => {
    editor.setState({ target, look });
  },
);

window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (!isToPage(data)) return;
  switch (data.type) {
    case "snapshot":
      target = data.target;
      editor.setState({ target, look: data.look });
      page.show(data);
      break;
    case "samples":
      page.fill(data);
      break;
    case "lengths":
      page.measure(data);
      break;
    case "delta":
      page.add(data);
      break;
  }
});
const kept = editor.getState();
const look = typeof kept === "object" && kept !== null && "look" in kept ? kept.look : undefined;
editor.postMessage({ type: "ready", ...(isChartLook(look) && { look }) });
