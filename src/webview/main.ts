import { isToPage, type FromPage, type ToPage } from "../protocol/webview";
import { ChartPage } from "./charts/chartPage";

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  setState(state: { readonly target: unknown }): void;
};

const editor = acquireVsCodeApi();
const page = new ChartPage(document.getElementById("page") ?? document.body);

function take(message: ToPage): void {
  if (message.type === "delta") {
    page.add(message);
    return;
  }
  // Kept so that the panel comes back with the same charts.
  editor.setState({ target: message.target });
  page.show(message);
}

window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (isToPage(data)) take(data);
});
editor.postMessage({ type: "ready" });
