import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { chromium, type Page } from "playwright-core";
import { ensureChromium } from "../../scripts/setup.mjs";
import { median, print, setting } from "./figure";

interface Round {
  readonly total: number;
  readonly thin: number;
  readonly send: number;
  readonly paint: number;
  readonly bytes: number;
}

/**
 * A million samples in the store (64 metrics over 12 h), thinned, sent and painted in a real browser, with uPlot drawing
 * the same thinned arrays in the same page. The extension's side runs in the page too, so that one clock tells all: what
 * is not in it is VS Code's own way from the extension host to the page.
 */
export async function measureCharts(): Promise<void> {
  const browser = await chromium.launch({
    executablePath: await ensureChromium(),
    args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    await open(page);
    await measure(page, setting("BENCH_ROUNDS", 9));
  } finally {
    await browser.close();
  }
}

async function open(page: Page): Promise<void> {
  const bundled = async (entry: string): Promise<string> => {
    const options = { bundle: true, write: false, minify: true, platform: "browser", target: "es2022" } as const;
    const { outputFiles } = await build({ ...options, format: "iife", entryPoints: [entry] });
    return outputFiles[0]?.text ?? "";
  };
  const files: Readonly<Record<string, string>> = {
    "/charts.css": await readFile("media/charts.css", "utf8"),
    "/bench.js": await bundled("test/bench/chartsPage.ts"),
    "/webview.js": await bundled("src/webview/main.ts"),
    "/": `<!DOCTYPE html><link rel="stylesheet" href="/charts.css"><body class="vscode-dark"><main id="page"></main>
      <script src="/bench.js"></script><script src="/webview.js"></script>`,
  };
  const types: Readonly<Record<string, string>> = { css: "text/css", js: "text/javascript" };
  await page.route("http://bench.test/**", async (route) => {
    const path = new URL(route.request().url()).pathname;
    const contentType = types[path.split(".")[1] ?? ""] ?? "text/html";
    await route.fulfill({ contentType, body: files[path] ?? "" });
  });
  await page.goto("http://bench.test/");
  await page.evaluate("charts.still()");
}

/** The CPU time of the page's main thread, ms; a busy machine disturbs it less than the clock. */
async function cpuOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
}

async function times<T>(rounds: number, run: (index: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let index = 0; index < rounds; index++) results.push(await run(index));
  return results;
}

async function measure(page: Page, n: number): Promise<void> {
  const ask = <T>(code: string): Promise<T> => page.evaluate<T>(code);
  const samples = await ask<number>("charts.samples()");
  const cpu = await cpuOf(page);
  const [began, shown, ended] = [await cpu(), await times(n, () => ask<Round>("charts.show()")), await cpu()];
  const theirs = median(await times(n, () => ask<number>("charts.rival()")));
  const theirCpu = ((await cpu()) - ended) / n;
  const of = (part: keyof Round, rounds: readonly Round[]): number => median(rounds.map((round) => round[part]));
  const total = of("total", shown);
  const parts = `thin ${of("thin", shown).toFixed(1)}, send ${of("send", shown).toFixed(1)}, paint ${of("paint", shown).toFixed(1)} ms`;
  const [count, inSight] = [await ask<number>("charts.count()"), await ask<number>("charts.inSight()")];
  print({
    name: "charts",
    value: total,
    unit: "ms from showing the page to the frame after its last stroke",
    rival: "uPlot given the same thinned arrays, join and draw only",
    rival_value: theirs,
    ratio: theirs / total,
    bar: "<= 200 ms",
    ok: total <= 200,
    n,
    note: `${samples} samples, ${count} charts, ${inSight} in sight; ${parts}; ${of("bytes", shown)} bytes; by CPU time of the thread ${((ended - began) / n).toFixed(0)} ms, uPlot ${theirCpu.toFixed(0)} ms`,
  });
  const atZoom = await cpu();
  const zoomed = await times(n, (index) => ask<Round>(`charts.zoom(${index % 2 === 0 ? -1 : 1})`));
  const zoomCpu = ((await cpu()) - atZoom) / n;
  const zoom = of("total", zoomed);
  const zoomNote = `wheel to the frame after the last stroke of the window's own samples, ${of("bytes", zoomed)} bytes; by CPU time of the thread ${zoomCpu.toFixed(0)} ms`;
  print({ name: "charts-zoom", value: zoom, unit: "ms", bar: "<= 100 ms", ok: zoom <= 100, n, note: zoomNote });
  await ask("charts.all()");
  const deltas = await times(n, () => ask<{ work: number; longest: number; bytes: number }>("charts.delta()"));
  const each = median(deltas.map(({ work }) => work)) / inSight;
  print({
    name: "charts-delta",
    value: each,
    unit: "ms of the page for each chart in sight",
    bar: "<= 16 ms",
    ok: each <= 16,
    n,
    note: `longest frame ${median(deltas.map(({ longest }) => longest)).toFixed(1)} ms, ${median(deltas.map(({ bytes }) => bytes))} bytes`,
  });
  const hidden = await ask<number>("charts.hidden()");
  print({ name: "charts-hidden", value: hidden, unit: "messages for a change", bar: "0", ok: hidden === 0 });
  const [store, heap] = [await ask<number>("charts.storeBytes"), await ask<number>("charts.heap()")];
  const heapNote = `the heap of store and page together is ${(heap / 1e6).toFixed(0)} MB`;
  print({ name: "charts-memory", value: store / 1e6, unit: "MB of the heap for the samples", note: heapNote });
}
