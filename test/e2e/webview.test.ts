import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { after, test } from "node:test";
import axe from "axe-core";
import { PlayedCharts } from "./playedCharts";
import type { Session } from "../../src/core/session/model";
import { member, stage } from "../unit/sampleSession";
import { nightSession, nightStart, readAnswers, type Night } from "./webviewNight";
import { closeBrowser, type PlayedTheme } from "./webviewPage";

await mkdir("out/screens", { recursive: true });
after(closeBrowser);
const minute = 60_000;
const large = { width: 1280, height: 1000 };

/** A picture of each situation that charts must stand; look at them after a change. */
const pictures: readonly (readonly [
  name: string,
  night: Night,
  theme: PlayedTheme,
  size: { readonly width: number; readonly height: number },
])[] = [
  ["dark", { minutes: 380, gap: [200, 230], lengths: true }, "dark", large],
  ["light", { minutes: 380, gap: [200, 230], lengths: true }, "light", large],
  ["high-contrast", { minutes: 380, gap: [200, 230], lengths: true }, "high-contrast", large],
  ["high-contrast-light", { minutes: 380, gap: [200, 230], lengths: true }, "high-contrast-light", large],
  ["sidebar", { minutes: 380, gap: [200, 230], lengths: true }, "dark", { width: 300, height: 900 }],
  ["panel", { minutes: 380, gap: [200, 230], lengths: true }, "light", { width: 1100, height: 300 }],
  ["64-gpus", { minutes: 120, hosts: 8 }, "dark", large],
  ["one-point", { minutes: 0.5, gpus: 2 }, "dark", { width: 800, height: 700 }],
  ["nan", { minutes: 240, gpus: 1, nanAt: 180 }, "light", large],
  ["members", { minutes: 240, gpus: 2, members: 16 }, "dark", large],
  ["12-h", { minutes: 720, gap: [300, 420] }, "dark", large],
];

for (const [name, night, theme, size] of pictures) {
  test(`a picture: ${name}`, async () => {
    const now = nightStart + night.minutes * minute;
    const charts = await PlayedCharts.open({ theme, size, session: nightSession(night), now });
    try {
      await charts.drawn();
      await charts.screenshot(name);
      assert.deepEqual(charts.view.complaints, []);
    } finally {
      await charts.close();
    }
  });
}

const short: Night = { minutes: 120, gpus: 2 };
const shortEnd = nightStart + short.minutes * minute;

async function withCharts(
  options: Partial<Parameters<typeof PlayedCharts.open>[0]>,
  use: (charts: PlayedCharts, page: PlayedCharts["view"]["page"]) => Promise<void>,
): Promise<void> {
  const charts = await PlayedCharts.open({ size: large, session: nightSession(short), now: shortEnd, ...options });
  try {
    await charts.drawn();
    await use(charts, charts.view.page);
    assert.deepEqual(charts.view.complaints, []);
  } finally {
    await charts.close();
  }
}

/** The spans that all charts show, in minutes of the night; they are one. */
async function shownMinutes({ view }: PlayedCharts): Promise<readonly [number, number] | undefined> {
  const spans: readonly string[] = await view.page.evaluate(
    `[...document.querySelectorAll(".plot")].map((plot) => plot.getAttribute("aria-valuemin") + " " + plot.getAttribute("aria-valuemax"))`,
  );
  if (new Set(spans).size !== 1) return undefined; // they are drawn one after the other
  const [from = 0, to = 0] = (spans[0] ?? "").split(" ").map((at) => (Number(at) - nightStart) / minute);
  return [from, to];
}

test("wheel, drag and keys zoom and move all charts at once, and following goes on with what is new", async () => {
  await withCharts({}, async (charts, page) => {
    const plot = page.locator(".plot").first();
    const box = await plot.boundingBox();
    assert.ok(box);
    const shows = async (test: (from: number, to: number) => boolean): Promise<void> => {
      for (let left = 600; ; left--) {
        const shown = await shownMinutes(charts);
        if (shown && test(...shown)) return;
        if (left === 0) assert.fail(`shows ${String(shown)}`);
        await charts.frames(6);
      }
    };
    await shows((from, to) => from === 0 && to === 120);
    const [left, right] = [box.x + 48, box.x + box.width - 16];
    const at = (share: number): number => left + share * (right - left);
    await page.mouse.move(at(0.25), box.y + 60);
    await page.mouse.down();
    await page.mouse.move(at(0.5), box.y + 60, { steps: 4 });
    await charts.screenshot("drag");
    await page.mouse.up();
    await shows((from, to) => Math.abs(from - 30) < 1 && Math.abs(to - 60) < 1);
    await page.getByText("paused").waitFor();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 300);
    await page.keyboard.up("Control");
    await shows((from, to) => to - from > 50 && to - from < 60);
    await plot.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await shows((from, to) => from > 25 && to < 90);
    await page.keyboard.press("+");
    await shows((from, to) => to - from < 30);
    await page.keyboard.press("ArrowLeft");
    await page.locator(".plot .cursor:visible").first().waitFor();
    const values = (await plot.getAttribute("aria-valuetext")) ?? "";
    assert.match(values, /^(Tue|Wed) \d\d:\d\d:\d\d: inference \d.* req\/s, inference mean \d/);
    await charts.screenshot("crosshair");
    await page.keyboard.press("Home");
    await shows((from, to) => from === 0 && to === 120);
    await page.getByRole("button", { name: "10 min" }).click();
    await shows((from, to) => from === 110 && to === 120);
    charts.change(nightSession({ ...short, minutes: 123 }), shortEnd + 3 * minute);
    await shows((from, to) => from === 113 && to === 123);
    await page.getByRole("button", { name: "Pause" }).click();
    charts.change(nightSession({ ...short, minutes: 130 }), shortEnd + 10 * minute);
    await charts.frames(30);
    await shows((from, to) => from === 113 && to === 123);
    await page.getByRole("button", { name: "Follow" }).click();
    await shows((from, to) => from === 120 && to === 130);
  });
});

test("the table says what was seen, and the summary too", async () => {
  const session = nightSession(short);
  await withCharts({ session }, async (charts, page) => {
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator("table").first().waitFor();
    await charts.screenshot("table");
    const series = session.hosts.get("gpu8")?.gpus[1]?.series.byName.get("powerW");
    const rows: readonly (readonly [string, string])[] = await page.evaluate(
      `[...document.querySelectorAll('[data-chart="power"] tbody tr')].map((row) => [row.dataset.at, row.cells[2].textContent])`,
    );
    assert.ok(rows.length > 20 && rows.length <= 24, `${rows.length} rows`);
    // Lines have two samples for each pixel, so what a line says is from the moment or from the pixel beside it.
    const columnMs = 50_000;
    for (const [at, said] of rows) {
      const values = series?.values.filter((_, index) => Math.abs((series.times[index] ?? 0) - Number(at)) <= columnMs);
      assert.ok(
        [...(values ?? [])].some((value) => said === `${Math.round(value)} W`),
        `${said} at ${at}`,
      );
    }
    const told = /^Power drawn by each GPU\. From .* to .*\. GPU 0: now \d+ W, between \d+ W and \d+ W\./;
    await page.locator('[data-chart="power"] .spoken', { hasText: told }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator(".plot").first().waitFor();
  });
});

const lengthsCard = '[data-chart="lengths inference"]';

/** Nothing but how long the answers of one stage are. */
function onlyLengths(counts: ReadonlyMap<number, number>, ended = 0): Session {
  const session = nightSession({ ...short, gpus: 0 });
  const one = stage("inference", [member({ kind: "running" }, readAnswers(counts, ended, shortEnd))]);
  return { ...session, stages: new Map([["inference", one]]) };
}

/** How high the bars of a colour are that stand on the canvas, in pixels, from left to right: they are told apart by gaps. */
async function drawnBars({ view }: PlayedCharts, color = "#3794ff"): Promise<readonly number[]> {
  return view.page.evaluate(`(() => {
    const canvas = document.querySelector('${lengthsCard} canvas');
    const { width, height, data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const wanted = Number("0x${color.slice(1)}ff");
    const pixels = new DataView(data.buffer);
    const columns = Array.from({ length: width }, (_, x) =>
      Array.from({ length: height }, (_, y) => pixels.getUint32(4 * (y * width + x))).filter((pixel) => pixel === wanted).length);
    return columns.filter((high, x) => high > 0 && !(columns[x - 1] > 0));
  })()`);
}

test("how long answers are is told by bars, by pointer and keys, as a table and in both files", async () => {
  const session = nightSession({ ...short, lengths: true });
  await withCharts({ session, size: { width: 1280, height: 1400 } }, async (charts, page) => {
    const titles = await page.locator("h2").allTextContents();
    assert.deepEqual(titles.slice(0, 3), ["Throughput req/s", "Completion tokens", "Token lengths of inference"]);
    const card = page.locator(lengthsCard);
    const about = /^median 488, .*; 1.7 % cut off at 2,048 \(of 17,902 answers\) · read 00:00$/;
    await card.locator(".about", { hasText: about }).waitFor();
    const plot = card.locator(".plot");
    assert.match((await plot.getAttribute("aria-valuetext")) ?? "", about);
    const bars = await drawnBars(charts);
    await page.getByRole("button", { name: "Table" }).click();
    await card.locator("caption", { hasText: about }).waitFor();
    const rows: readonly (readonly string[])[] = await page.evaluate(
      `[...document.querySelectorAll('${lengthsCard} tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
    );
    const answers = rows.map(([, told = ""]) => Number(told.replaceAll(",", "")));
    assert.equal(
      answers.reduce((sum, one) => sum + one, 0),
      17_902,
    );
    assert.deepEqual(rows.at(-1), ["2,000 to 2,049", "310", "1.7 %"]);
    // Each row is a bar, as high as it says.
    assert.equal(bars.length, rows.length);
    const scale = Math.max(...bars) / Math.max(...answers);
    for (const [index, high] of bars.entries()) {
      assert.ok(Math.abs(high - Math.max(1, scale * (answers[index] ?? 0))) <= 2, `bar ${index}: ${high} pixels`);
    }
    await page.getByRole("button", { name: "Table" }).click();
    await plot.press("End");
    await card.locator(".moment", { hasText: "2,000 to 2,049 tokens: 310 answers, 1.7 %" }).waitFor();
    assert.equal(await plot.getAttribute("aria-valuetext"), "2,000 to 2,049 tokens: 310 answers, 1.7 %");
    await plot.press("ArrowLeft");
    await card.locator(".moment", { hasText: "1,950 to 1,999 tokens: 0 answers, 0 %" }).waitFor();
    await plot.press("Home");
    await plot.press("ArrowRight");
    await card.locator(".moment", { hasText: "50 to 99 tokens: " }).waitFor();
    await plot.press("Escape");
    await card.locator(".moment").waitFor({ state: "hidden" });
    const box = await plot.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 48 + (box.width - 64) * (425 / 2050), box.y + 80);
    await card.locator(".moment", { hasText: "400 to 449 tokens: " }).waitFor();
    await charts.screenshot("lengths-read");
    await page.mouse.move(0, 0);
    await charts.view.setTheme("light");
    let light: readonly number[] = [];
    for (let left = 600; light.length < bars.length && left > 0; left--) {
      await charts.frames(6);
      light = await drawnBars(charts, "#0063d3");
    }
    assert.deepEqual(light, bars);
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByRole("button", { name: "PNG" }).click();
    for (let left = 600; charts.saved.length < 2 && left > 0; left--) await charts.frames(6);
    const csv = Buffer.from(charts.saved.find(({ kind }) => kind === "csv")?.bytes ?? []).toString();
    assert.match(csv, /\r\n2026-12-02T00:00:00.000Z,Token lengths of inference,2000 to 2049 tokens,answers,310\r\n/);
    const png = charts.saved.find(({ kind }) => kind === "png");
    await writeFile("out/screens/charts-lengths-saved.png", png?.bytes ?? "");
  });
});

test("bars grow with what is counted, and who reads a table or a bar keeps the place", async () => {
  const counts = new Map(Array.from({ length: 40 }, (_, index) => [index * 10, 5] as const));
  await withCharts({ session: onlyLengths(counts) }, async (charts, page) => {
    const card = page.locator(lengthsCard);
    await card.locator(".plot").press("End");
    await card.locator(".moment", { hasText: "390 to 399 tokens: 5 answers, 2.5 %" }).waitFor();
    // Longer ones: the bars are wider now, and the same length is read off.
    const more = new Map([...counts, [390, 25], [900, 10]]); // prettier-ignore
    charts.change(onlyLengths(more), shortEnd + minute);
    await card.locator(".about", { hasText: "longest 900; 0 % cut off at 2,048 (of 230 answers)" }).waitFor();
    await card.locator(".moment", { hasText: "350 to 399 tokens: 45 answers, 19.6 %" }).waitFor();
    await page.getByRole("button", { name: "Table" }).click();
    const table = card.getByRole("region", { name: "Token lengths of inference, data table" });
    await table.focus();
    await table.press("End");
    const scrolled = "document.activeElement.scrollTop";
    for (let left = 600; Number(await page.evaluate(scrolled)) === 0 && left > 0; left--) await charts.frames(6);
    charts.change(onlyLengths(new Map([...more, [901, 70]])), shortEnd + 2 * minute);
    await table.locator("tr", { hasText: "900 to 949" }).getByText("80", { exact: true }).waitFor();
    assert.equal(await page.evaluate(`document.activeElement.className`), "table");
    assert.ok(Number(await page.evaluate(scrolled)) > 0);
  });
});

test("a page of nothing but lengths has no tools for time; they are picked, and come back as they were", async () => {
  let state: unknown;
  const session = onlyLengths(new Map([[2048, 31], [100, 969]]), 31); // prettier-ignore
  const isShown = async (page: PlayedCharts["view"]["page"], names: readonly string[]): Promise<readonly boolean[]> =>
    Promise.all(names.map((name) => page.getByRole("button", { name, exact: true }).isVisible()));
  const [always, ofTime] = [
    ["Table", "PNG", "CSV"],
    ["10 min", "1 h", "All", "Pause", "+"],
  ];
  await withCharts({ session, size: { width: 640, height: 420 } }, async (charts, page) => {
    assert.equal(await page.locator("p.empty").isVisible(), false);
    assert.equal(await page.locator("p.hint").isVisible(), false);
    assert.deepEqual(new Set(await isShown(page, always)), new Set([true]));
    assert.deepEqual(new Set(await isShown(page, ofTime)), new Set([false]));
    await charts.screenshot("lengths-alone");
    await page.getByRole("button", { name: "PNG" }).click();
    for (let left = 600; charts.saved.length === 0 && left > 0; left--) await charts.frames(6);
    assert.ok((charts.saved[0]?.bytes.length ?? 0) > 3000);
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("button", { name: "Sources" }).click();
    await page.getByRole("checkbox", { name: "inference" }).uncheck();
    await page.getByText("Nothing is picked.").waitFor();
    assert.equal(await page.locator(lengthsCard).count(), 0);
    state = await page.evaluate("state");
  });
  await withCharts({ session, state }, async (charts, page) => {
    await page.getByText("Nothing is picked.").waitFor();
    await page.getByRole("button", { name: "Sources 0/1" }).click();
    await page.getByRole("checkbox", { name: "inference" }).check();
    await page.locator(`${lengthsCard} td`, { hasText: "3.1 %" }).waitFor();
    // A log tells something over time: what is for that comes.
    const [series] = [...nightSession(short).stages.values()].map(({ members }) => members[0]?.series);
    const [one] = [...session.stages.values()];
    const [first] = one?.members ?? [];
    assert.ok(series && one && first);
    const stages = new Map([["inference", { ...one, members: [{ ...first, series }] }]]);
    charts.change({ ...session, stages }, shortEnd + minute);
    await page.getByRole("button", { name: "10 min" }).waitFor();
  });
});

test("odd lengths are drawn as well as they can be", async () => {
  const odd: readonly (readonly [ReadonlyMap<number, number>, RegExp | undefined])[] = [
    [new Map([[0, 1]]), /^median 0, 95 % up to 0, longest 0; 0 % cut off at 2,048 \(of 1 answer\)/],
    [new Map([[512, 40]]), /^median 512, 95 % up to 512, longest 512; /],
    [new Map([[400, 9], [2_000_000_000, 1]]), /longest 2,000,000,000; 10 % cut off at 2,048 \(of 10 answers\)/], // prettier-ignore
    [new Map([[2048, 3]]), /; 100 % cut off at 2,048 \(of 3 answers\)/],
    [new Map(), undefined],
  ];
  const [[first] = [new Map<number, number>()], ...others] = odd;
  await withCharts({ session: onlyLengths(first), size: { width: 420, height: 320 } }, async (charts, page) => {
    for (const [counts, about] of [[first, odd[0]?.[1]] as const, ...others]) {
      charts.change(onlyLengths(counts), shortEnd + minute);
      if (about) await page.locator(".about", { hasText: about }).waitFor();
      else await page.getByText("Nothing to draw yet.").waitFor();
      await charts.frames(12);
      const bars = about ? await drawnBars(charts) : [];
      assert.equal(bars.length, counts.size, `${bars.length} bars of ${counts.size} lengths`);
      await charts.screenshot(`lengths-odd-${[...counts.keys()].join("-")}`);
    }
  });
});

test("sources are picked, lines switched off and axes made logarithmic, and a page that comes back shows the same", async () => {
  let state: unknown;
  await withCharts({}, async (charts, page) => {
    const titles = (): Promise<string[]> => page.locator("h2").allTextContents();
    assert.ok((await titles()).includes("KV cache %"));
    await page.getByRole("button", { name: "Sources" }).click();
    await page.getByRole("checkbox", { name: "vllm" }).uncheck();
    await page.getByRole("button", { name: "Sources 4/5" }).waitFor();
    await page.locator("h2", { hasText: "KV cache" }).waitFor({ state: "detached" });
    await charts.screenshot("picker");
    await page.getByRole("button", { name: "GPU 1" }).first().click();
    await page.getByRole("button", { name: "log axis of Throughput" }).click();
    await page.locator('[data-chart="throughput req/s"] button[aria-pressed="true"].small').waitFor();
    await charts.frames(6);
    await charts.screenshot("log");
    state = await page.evaluate("state");
  });
  await withCharts({ state }, async (_charts, page) => {
    await page.getByRole("button", { name: "Sources 4/5" }).waitFor();
    assert.equal(await page.locator("h2", { hasText: "KV cache" }).count(), 0);
    await page.locator('[data-chart="throughput req/s"] button[aria-pressed="true"].small').waitFor();
    await page.locator('button.line[aria-pressed="false"]', { hasText: "GPU 1" }).waitFor();
  });
});

test(
  "charts that come twice in a moment are drawn, whichever question of theirs is answered",
  { timeout: 120_000 },
  async () => {
    await withCharts({}, async (charts, page) => {
      const { view, surface } = charts;
      const asked = async (): Promise<string> => {
        for (;;) {
          const message = view.waiting.toEditor?.shift();
          if (message !== undefined) return message;
          await charts.frames(1);
        }
      };
      view.waiting.toEditor = [];
      surface.show(surface.target, undefined);
      const first = await asked();
      view.waiting.toPage = [];
      surface.show(surface.target, undefined);
      view.hear(first);
      const [again, late, ...more] = view.waiting.toPage.splice(0);
      assert.deepEqual(more, []);
      await view.post(again);
      const second = await asked();
      await view.post(late);
      view.waiting.toPage = view.waiting.toEditor = undefined;
      view.hear(second);
      await page.locator(".plot[aria-valuetext]").first().waitFor({ timeout: 10_000 });
      assert.deepEqual(view.complaints, []);
    });
  },
);

test("charts out of sight, and a hidden page, are sent nothing", async () => {
  await withCharts({ size: { width: 500, height: 420 } }, async (charts, page) => {
    charts.view.posted.length = 0;
    charts.change(nightSession({ ...short, minutes: 121 }), shortEnd + minute);
    await page
      .locator(`.plot[aria-valuemax="${shortEnd + minute}"]`)
      .first()
      .waitFor();
    const keys = charts.view.posted.flatMap((text) =>
      [...text.matchAll(/"key":"([^"]+)","count"/g)].map(([, key]) => key),
    );
    assert.ok(keys.some((key) => key?.startsWith("throughput")));
    assert.equal(
      keys.some((key) => key?.startsWith("temperature")),
      false,
    );
    charts.surface.hide();
    charts.view.posted.length = 0;
    charts.change(nightSession({ ...short, minutes: 122 }), shortEnd + 2 * minute);
    await charts.frames(30);
    assert.deepEqual(charts.view.posted, []);
  });
});

test("a picture and the samples of what is shown are saved", async () => {
  await withCharts({ size: { width: 700, height: 400 } }, async (charts, page) => {
    await page.getByRole("button", { name: "10 min" }).click();
    await page.locator('button[aria-pressed="true"]', { hasText: "10 min" }).waitFor();
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByRole("button", { name: "PNG" }).click();
    for (let left = 600; charts.saved.length < 2 && left > 0; left--) await charts.frames(6);
    const csv = charts.saved.find(({ kind }) => kind === "csv");
    const png = charts.saved.find(({ kind }) => kind === "png");
    assert.match(csv?.name ?? "", /^charts hero 2026-12-02T0000$/);
    const rows = Buffer.from(csv?.bytes ?? [])
      .toString()
      .trimEnd()
      .split("\r\n");
    assert.equal(rows[0], "time,chart,line,unit,value");
    assert.equal(rows.filter((row) => row.includes(",GPU power,GPU 1,W,")).length, 60);
    const bytes = Buffer.from(png?.bytes ?? []);
    await mkdir("out/screens", { recursive: true });
    await writeFile("out/screens/charts-saved.png", bytes);
    // All charts, also those that were never scrolled to: ten in three columns.
    assert.ok(bytes.readUInt32BE(16) > 900 && bytes.readUInt32BE(20) > 700, "width and height of the PNG");
    assert.ok(bytes.length > 30_000);
  });
});

for (const theme of ["dark", "light", "high-contrast", "high-contrast-light"] as const) {
  test(`axe finds nothing in the ${theme} theme`, async () => {
    await withCharts({ theme, session: nightSession({ ...short, lengths: true }) }, async (_charts, page) => {
      const check = async (what: string): Promise<void> => {
        const found: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[] =
          await page.evaluate(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
          );
        assert.deepEqual(
          found.map(({ id, nodes }) => `${what}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`),
          [],
        );
      };
      await page.evaluate(axe.source);
      await check("charts");
      await page.getByRole("button", { name: "Sources" }).click();
      await page.getByRole("button", { name: "Table" }).click();
      await page.locator("table").first().waitFor();
      await check("table and sources");
    });
  });
}

test("keys alone reach everything, and the theme changes while it is shown", async () => {
  await withCharts({ session: nightSession({ ...short, lengths: true }) }, async (charts, page) => {
    await page.getByRole("button", { name: "Sources" }).click();
    await page.evaluate(`(() => {
      globalThis.reached = new Set();
      document.addEventListener("focusin", ({ target }) => reached.add(target));
      document.activeElement.blur();
    })()`);
    const wanted = "[...document.querySelectorAll('button, input, [tabindex]')].filter((one) => one.checkVisibility())";
    const count: number = await page.evaluate(`${wanted}.length`);
    assert.ok(count > 40);
    for (let presses = 0; presses < count + 2; presses++) await page.keyboard.press("Tab");
    const missed: readonly string[] = await page.evaluate(
      `${wanted}.filter((one) => !reached.has(one)).map((one) => one.outerHTML)`,
    );
    assert.deepEqual(missed, []);
    await page.getByRole("checkbox", { name: "vllm" }).focus();
    await page.keyboard.press("Escape");
    await page.locator(".picker").waitFor({ state: "hidden" });
    await page.locator("button.line[style*='#3794ff']").first().waitFor();
    await charts.view.setTheme("light");
    await page.locator("button.line[style*='#0063d3']").first().waitFor();
  });
});

test("an empty page says why, and text of a host stays text", async () => {
  const session = nightSession({ ...short, lengths: true });
  const evil = '<img src=x onerror="sent.push(1)">';
  const [inference] = [...session.stages.values()];
  assert.ok(inference);
  const stages = new Map([[evil, { ...inference, definition: { ...inference.definition, name: evil } }]]);
  await withCharts({ session: { ...session, hosts: new Map(), stages: new Map() } }, async (charts, page) => {
    await page.getByText("Not connected, and nothing was seen before.").waitFor();
    await charts.screenshot("empty");
    const named = { ...session, definition: { ...session.definition, name: evil }, stages };
    charts.change(named, shortEnd);
    await page.locator("button.line", { hasText: evil }).first().waitFor();
    assert.equal(await page.locator("h1").textContent(), evil);
    await page.getByRole("heading", { name: `Token lengths of ${evil}` }).waitFor();
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.evaluate("sent.includes(1)"), false);
  });
});

test("a host that is away makes the picture say how old it is", async () => {
  const connection = { kind: "lost", since: shortEnd, message: "" } as const;
  const session = nightSession({ ...short, connection });
  await withCharts({ session, now: shortEnd + 60 * minute }, async (charts, page) => {
    await page.getByText(/^gpu8 not connected · as of \d\d:\d\d$/).waitFor();
    const shown = await shownMinutes(charts);
    assert.ok(shown && shown[1] <= 120);
    await charts.screenshot("away");
  });
});
