// Runs in the browser beside the charts page: the store and the extension's side of charts, and uPlot as the rival.
import uPlot from "uplot";
import { ChartFeed, type FedLine } from "../../src/core/session/chartFeed";
import { chartPlan } from "../../src/core/session/chartPlan";
import type { Session } from "../../src/core/session/model";
import { noSeries, withSamples, type SeriesSet } from "../../src/core/session/series";
import type { ToPage } from "../../src/protocol/webview";
import { ChartSurface } from "../../src/views/charts/chartSurface";
import { host, member, progress, session, stage } from "../unit/sampleSession";

/** What is used of the browser; a Node program's types know none of it. */
interface Browser {
  readonly document: {
    querySelectorAll(
      selector: string,
    ): ArrayLike<{ getBoundingClientRect(): Box; dispatchEvent(event: unknown): void }>;
  };
  readonly WheelEvent: new (type: string, options: object) => unknown;
  readonly performance: { now(): number; readonly memory?: { readonly usedJSHeapSize: number } };
  postMessage(message: unknown, origin: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void, capture: boolean): void;
  requestAnimationFrame(run: (at: number) => void): number;
  readonly CanvasRenderingContext2D: { readonly prototype: { stroke: (...path: unknown[]) => void } };
  acquireVsCodeApi: () => unknown;
  charts: unknown;
}
interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}
const browser = globalThis as unknown as Browser;

const perSeries = 15_625;
const nightMs = 12 * 3_600_000;
const stepMs = nightMs / perSeries;
const start = Date.UTC(2026, 11, 1, 20);
const { performance } = browser;

/**
 * When something was drawn last, when the frame after it began (its pixels had been made by then: without a GPU that is
 * most of the work), and how long the page's own frames took.
 */
let drawnAt = 0;
let shownAt = 0;
let awaited = false;
let frames: number[] = [];
const stroke = browser.CanvasRenderingContext2D.prototype.stroke;
browser.CanvasRenderingContext2D.prototype.stroke = function (this: unknown, ...path: unknown[]) {
  stroke.apply(this, path);
  drawnAt = performance.now();
  if (!awaited) frame(shown);
  awaited = true;
};
const frame = browser.requestAnimationFrame.bind(browser);
function shown(at: number): void {
  awaited = drawnAt > at;
  if (awaited) frame(shown);
  else shownAt = performance.now();
}
browser.requestAnimationFrame = (run) =>
  frame((at) => {
    const began = performance.now();
    run(at);
    frames.push(performance.now() - began);
  });

/** When nothing more was drawn for a while: the moment when the last stroke could be seen. */
function still(): Promise<number> {
  return new Promise((resolve) => {
    let quiet = 0;
    let seen = drawnAt;
    const look = (): void => {
      quiet = seen === drawnAt ? quiet + 1 : 0;
      seen = drawnAt;
      if (quiet > 12) resolve(shownAt);
      else frame(look);
    };
    frame(look);
  });
}

const memory = (): number => performance.memory?.usedJSHeapSize ?? 0;
const before = memory();
const names = ["done", "avg_completion_tokens", "errors", "loss"];
const gpuNames = ["utilisation", "memoryUsedMib", "powerW", "temperatureC"];
const sets: SeriesSet[] = Array.from({ length: 16 }, () => noSeries);

/** A sample more of each of the 64 metrics. */
function sample(index: number): void {
  for (let owner = 0; owner < sets.length; owner++) {
    const wave = Math.sin(index / 300 + owner) + Math.sin(index * 12.9898 + owner) / 4;
    const values =
      owner < 8
        ? [index * 8, 400 + 60 * wave, Math.floor(index / 4000), 2 + wave]
        : [90 + 6 * wave, 131_000 + 900 * wave, 600 + 40 * wave, 68 + 4 * wave];
    const named = (owner < 8 ? names : gpuNames).map((name, at) => [name, values[at] ?? 0] as const);
    sets[owner] = withSamples(sets[owner] ?? noSeries, start + index * stepMs, Object.fromEntries(named));
  }
}

function open(): Session {
  const members = sets
    .slice(0, 8)
    .map((series, index) =>
      member(
        { kind: "running" },
        { name: String(index), series, progress: progress({ unit: "req", rate_unit: "req/s" }) },
      ),
    );
  const gpus = sets.slice(8).map((series, index) => {
    const name = "NVIDIA H200";
    return { index, name, usedBy: [], series, sample: { index, uuid: `GPU-${index}`, name, at: start } };
  });
  return session([stage("inference", members)], { hosts: new Map([["gpu8", host({ gpus })]]) });
}

for (let index = 0; index < perSeries; index++) sample(index);
let next = perSeries;
const filled = memory();

/** Times of the messages of a round. */
const told = { asked: 0, posted: 0, arrived: 0, bytes: 0, messages: 0 };
const sessions = new Map<string, Session>([[open().id, open()]]);
let hear: (message: unknown) => void = () => undefined;
const surface = new ChartSurface(
  {
    postMessage: (message) => {
      told.posted = performance.now();
      told.messages++;
      const { type } = message as ToPage;
      const data = type === "snapshot" ? undefined : (message as Extract<ToPage, { type: "delta" }>).samples;
      told.bytes = (data?.times.byteLength ?? 0) + (data?.values.byteLength ?? 0);
      browser.postMessage(message, "*");
      return Promise.resolve(true);
    },
    onDidReceiveMessage: (listener) => {
      hear = listener;
      return { dispose: () => undefined };
    },
  },
  {
    sessions: { sessions, onDidChange: () => ({ dispose: () => undefined }) },
    clock: { now: () => start + next * stepMs, sleep: () => Promise.resolve() },
    keptOf: () => new Map(),
    save: () => Promise.resolve(),
  },
  {},
  () => undefined,
);
browser.addEventListener("message", () => (told.arrived = performance.now()), true);
browser.acquireVsCodeApi = () => ({
  // As far as a page can tell: cloned, and on another task.
  postMessage: (message: unknown) => {
    const copy = structuredClone(message);
    setTimeout(() => {
      told.asked = performance.now();
      hear(copy);
    });
  },
  setState: () => undefined,
  getState: () => undefined,
});

interface Round {
  readonly total: number;
  readonly thin: number;
  readonly send: number;
  readonly paint: number;
  readonly bytes: number;
}

async function round(act: () => void): Promise<Round> {
  const began = performance.now();
  act();
  const end = await still();
  const { asked, posted, arrived, bytes } = told;
  return { total: end - began, thin: posted - asked, send: arrived - posted, paint: end - arrived, bytes };
}

const plots = (): ReturnType<Browser["document"]["querySelectorAll"]> => browser.document.querySelectorAll(".plot");

/** Begins anew, as a page that is shown again does. */
function show(): Promise<Round> {
  return round(() => {
    hear({ type: "ready" });
  });
}

function zoom(factor: number): Promise<Round> {
  const plot = plots()[0];
  const box = plot?.getBoundingClientRect() ?? { left: 0, top: 0, width: 0, height: 0 };
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
  return round(() => {
    const wheel = { deltaY: factor * 500, ctrlKey: true, cancelable: true, bubbles: true, ...at };
    plot?.dispatchEvent(new browser.WheelEvent("wheel", wheel));
  });
}

/** Follows again, and shows all. */
function all(): Promise<Round> {
  return round(() => {
    plots()[0]?.dispatchEvent(new browser.WheelEvent("dblclick", {}));
  });
}

/** One sample more of everything. Returns the page's work in ms: all of it, its longest frame, and the bytes. */
async function delta(): Promise<{ readonly work: number; readonly longest: number; readonly bytes: number }> {
  sample(next++);
  frames = [];
  sessions.set(open().id, open());
  surface.update();
  await still();
  return { work: frames.reduce((sum, ms) => sum + ms, 0), longest: Math.max(0, ...frames), bytes: told.bytes };
}

/** What is sent for a change while the page is hidden. */
function hidden(): number {
  surface.hide();
  const messages = told.messages;
  sample(next++);
  sessions.set(open().id, open());
  surface.update();
  return told.messages - messages;
}

/** The same thinned arrays, drawn by uPlot in as many charts of the same size. */
async function rival(): Promise<number> {
  const now = open();
  const plan = chartPlan(now, { kind: "session", session: now.id });
  const feed = new ChartFeed();
  feed.begin(plan);
  const { width, height } = plots()[0]?.getBoundingClientRect() ?? { width: 390, height: 150 };
  const window = { from: start, to: start + next * stepMs, columns: Math.round(width - 64) };
  const fed = new Map(feed.window(new Set(plan.charts.map(({ id }) => id)), window).map((line) => [line.key, line]));
  const body = (globalThis as unknown as { document: { body: { append(node: unknown): void } } }).document.body;
  const began = performance.now();
  const made = plan.charts.map(({ title, lines }) => {
    const tables = lines.flatMap(({ key }) => fed.get(key) ?? []).map(table);
    const series = [{}, ...lines.map(({ label }) => ({ label, stroke: "#3794ff", width: 1, points: { show: false } }))];
    const data = uPlot.join(tables);
    const chart = new uPlot({ width, height, title, series, legend: { show: false } }, data);
    body.append(chart.root);
    return chart;
  });
  const end = await still();
  for (const chart of made) chart.destroy();
  return end - began;
}

function table({ times, values }: FedLine): uPlot.AlignedData {
  const is = [...times.keys()].filter((index) => !Number.isNaN(times[index]));
  return [is.map((index) => (times[index] ?? 0) / 1000), is.map((index) => values[index] ?? null)];
}

browser.charts = {
  show,
  zoom,
  all,
  delta,
  hidden,
  rival,
  still,
  count: () => plots().length,
  inSight: () => Array.from(plots()).filter((plot) => plot.getBoundingClientRect().top < 1120).length,
  samples: () =>
    sets.reduce((sum, { byName }) => sum + [...byName.values()].reduce((all, { length }) => all + length, 0), 0),
  storeBytes: filled - before,
  heap: memory,
};
